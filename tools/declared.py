# SPDX-License-Identifier: Apache-2.0
"""Compare package.xml with the packages that the files of this checkout use.

    python -m tools.declared

prints one line for each package that is used and not declared, or declared and not used, and
returns exit code 1 if there is one. Part of `make lint`.
"""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

if not __package__:  # run as a file: the parent of the package `tools` is not on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from tools.common import ROOT

PATTERNS = {
    'launch/*.py': r'\bpackage=\'(\w+)\'',
    'robodyn_ros/nodes/launching/*.py': r'\bpackage=\'(\w+)\'|\'plugin\'\)\.text = \'(\w+)/',
    'robodyn_ros/xacro_file.py': r'which\(\'(\w+)\'\)',
    'config/**/*.yaml': r'\btype: (\w+)/\w+',
    'config/**/*.xml': r'<plugin>(\w+)/\w+',
    'config/rqt/*.perspective': r'\'(\w+)/\w+\': \[',
    'rviz/*.rviz': r'Class: (\w+)/\w+',
    '*/*.action': r'^(\w+)/\w+ ',
    '*/*.msg': r'^(\w+)/\w+ ',
    '*/*.srv': r'^(\w+)/\w+ ',
    'docs/**/*.md': r'ros2 run (\w+)',
    'CMakeLists.txt': r'find_package\(([\w-]+)',
    'cmake/*.cmake': r'find_package\(([\w-]+)|foreach\(package ([^)]+)\)',
    'robodyn_controller.xml': r'base_class_type="(\w+)::',
}
"""How files name a package: a pattern of their text, in any of its groups one or several names."""

KEYS = {
    'coal': 'pinocchio',
    'h5py': 'python3-h5py',
    'hppfcl': 'pinocchio',
    'hypothesis': 'python3-hypothesis',
    'jinja2': 'python3-jinja2',
    'markupsafe': 'python3-jinja2',
    'matplotlib': 'python3-matplotlib',
    'mock_components': 'hardware_interface',
    'mujoco': 'python3-mujoco-pip',
    'numpy': 'python3-numpy',
    'pandas': 'python3-pandas',
    'pytest': 'python3-pytest',
    'rosbags': 'python3-rosbags-pip',
    'lz4': 'python3-rosbags-pip',
    'rviz_common': 'rviz2',
    'scipy': 'python3-scipy',
    'tqdm': 'python3-tqdm',
    'urdfdom': 'liburdfdom-dev',
    'yaml': 'python3-yaml',
    'yaml-cpp': 'yaml_cpp_vendor',
}
"""Keys of rosdep that differ from the name in the files."""

WITHOUT_KEY = (
    'clarabel', 'mcap', 'msgspec', 'pyarrow', 'threadpoolctl', 'websockets', 'zstandard',
)  # fmt: skip
"""Python packages that package.xml cannot declare; it says why in a comment."""

BY_COMMAND = (
    'ament_cmake_lint_cmake',
    'ament_cmake_xmllint',
    'python3-pytest-timeout',
    'ros2launch',
    'rosidl_default_runtime',
    'rqt_gui',
)
"""Packages that no file names: those of ament_lint_auto, generated code, `ros2 launch`, `rqt` and
pytest."""

OF_TESTS = ('test/', 'cmake/tests.cmake')
"""Files whose packages a `test_depend` declares."""

HELPERS = ('test/support', 'bench')
"""Folders whose modules tests import by their name."""

ELSEWHERE = ('robodyn_ros', 'ethercat_driver', 'ethercat_generic_plugins', 'moveit_msgs')
"""This package, and drivers of robots and messages of MoveIt, which their users install."""


def main() -> int:
    """Print the differences, and return the exit code."""
    problems = differences(ROOT)
    for line in problems:
        print(f'package.xml: {line}', file=sys.stderr)
    return 1 if problems else 0


def differences(root: Path) -> list[str]:
    """Return one sentence for each package that is not declared, or not used."""
    used = packages_in_use(root)
    at_run_time, in_tests = read_declared(root)
    missing = [
        f'{key} is used in {file} but not declared'
        for key, file in sorted(used.items())
        if key not in at_run_time | (in_tests if file.startswith(OF_TESTS) else set())
    ]
    idle = sorted((at_run_time | in_tests) - used.keys() - {*BY_COMMAND})
    return missing + [f'{key} is declared but no file uses it' for key in idle]


def read_declared(root: Path) -> tuple[set[str], set[str]]:
    """Return the packages that package.xml declares, and those that it declares for tests only."""
    at_run_time: set[str] = set()
    in_tests: set[str] = set()
    for item in ET.parse(root / 'package.xml').getroot():
        if item.tag.endswith('depend'):
            (in_tests if item.tag == 'test_depend' else at_run_time).add((item.text or '').strip())
    return at_run_time, in_tests


def packages_in_use(root: Path) -> dict[str, str]:
    """Return the packages that files use, as keys of rosdep, each with one of these files."""
    used: dict[str, str] = {}
    for path, name in (*_find_named(root), *_find_imported(root)):
        if name not in (*WITHOUT_KEY, *ELSEWHERE):
            used.setdefault(KEYS.get(name, name), path.relative_to(root).as_posix())
    return used


def _find_named(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the packages that patterns find."""
    for files, pattern in PATTERNS.items():
        for path in sorted(root.glob(files)):
            for match in re.finditer(pattern, path.read_text(), re.MULTILINE):
                for names in filter(None, match.groups()):
                    yield from ((path, name) for name in names.split())


def _find_imported(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the packages that Python sources import, except those of Python and of this checkout.

    Tests come last, so that a package is only one of tests if nothing else uses it.
    """
    local = {path.stem for folder in HELPERS for path in (root / folder).rglob('*')}
    local |= {'bench', 'faults', 'tools', *sys.stdlib_module_names}
    for folder in ('scripts', 'launch', 'robodyn_ros', 'test'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix == '.py' or (folder == 'scripts' and path.is_file()):
                names = imports(path.read_text())
                yield from ((path, name) for name in sorted(names - local))


def imports(text: str) -> set[str]:
    """Return the first names of the modules that a Python source imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition('.')[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition('.')[0])
    return names


if __name__ == '__main__':
    sys.exit(main())
