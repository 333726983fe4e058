# SPDX-License-Identifier: Apache-2.0
"""The package's facts: versions, interfaces, executables, dependencies, and what was built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import robodyn_ros
from tools import declared, packages
from tools.common import RCLPY

ROOT = Path(__file__).resolve().parents[2]
CMAKE = (ROOT / 'CMakeLists.txt').read_text()
PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()
SCRIPTS = sorted((ROOT / 'scripts').iterdir())
INTERFACES = sorted(
    f'{kind}/{file.name}' for kind in ('msg', 'srv', 'action') for file in (ROOT / kind).iterdir()
)
PIP_NAMES = {'pinocchio': 'pin', 'yaml': 'pyyaml', 'coal': 'pin', 'hppfcl': 'pin'}


def imports(files: list[Path]) -> set[str]:
    """Top-level modules that files import, without the standard library and the package."""
    found = {name for file in files for name in declared.imports(file.read_text())}
    return found - sys.stdlib_module_names - {'robodyn_ros'}


def in_bash(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {'PATH': '/usr/bin:/bin', 'HOME': os.environ.get('HOME', '/')} | environment
    return subprocess.run(
        ['bash', '-c', script], capture_output=True, text=True, env=clean, check=False, timeout=60
    )


def test_version_is_the_same_everywhere() -> None:
    version = PACKAGE.findtext('version')
    setup = subprocess.run(
        [sys.executable, 'setup.py', '--version'], cwd=ROOT, capture_output=True, text=True
    )
    assert version == robodyn_ros.__version__
    assert f'project(robodyn_ros VERSION {version})' in CMAKE
    assert setup.stdout.split()[-1] == version


def test_every_interface_is_generated() -> None:
    listed = re.findall(r'\b((?:msg|srv|action)/\w+\.\w+)', CMAKE)
    assert sorted(listed) == INTERFACES


@pytest.mark.parametrize('script', SCRIPTS, ids=lambda path: path.name)
def test_script_runs_a_main_that_exists(script: Path) -> None:
    module = re.search(r'from robodyn_ros\.([\w.]+) import main', script.read_text())
    assert module, 'a script only calls the main of its module'
    source = (ROOT / 'robodyn_ros' / module[1].replace('.', '/')).with_suffix('.py')
    assert re.search(r'^def main\(', source.read_text(), re.MULTILINE)
    assert os.access(script, os.X_OK), 'without it, ros2 run fails after --symlink-install'
    assert f'scripts/{script.name}\n' in CMAKE


def test_pip_installs_what_the_core_imports() -> None:
    outside_ros = [
        file
        for file in (ROOT / 'robodyn_ros').rglob('*.py')
        if not {'nodes', 'demo'} & set(file.parts)
        and file.name != 'paths.py'  # says so where ament_index_python is missing
    ]
    used = {PIP_NAMES.get(module, module) for module in imports(outside_ros)}
    assert used <= {packages.name(line) for line in packages.lines('core.in')}


def test_pip_installs_every_data_file_of_the_package() -> None:
    text = (ROOT / 'setup.py').read_text()
    patterns = re.findall(r"'([^']+)'", text[text.index("'robodyn_ros': [") :].partition(']')[0])
    package = ROOT / 'robodyn_ros'
    listed = {path for pattern in patterns[1:] for path in package.glob(pattern)}
    data = {
        path for path in package.rglob('*')
        if path.is_file() and path.suffix not in ('.py', '.pyc')
    }  # fmt: skip
    assert data and data <= listed, data - listed


@pytest.mark.parametrize('file', ['core.in', 'dev.in', 'build.in', 'ros.in'])
def test_lock_pins_every_requirement(file: str) -> None:
    pins = [line for line in packages.lines('lock.txt') if '==' in line]
    assert len(pins) == len(packages.lines('lock.txt'))
    wanted = {packages.name(line) for line in packages.lines(file)}
    assert wanted <= {packages.name(line) for line in pins}


@pytest.mark.parametrize('shell', ['bash', 'zsh'])
def test_env_can_be_entered_twice_from_anywhere(shell: str) -> None:
    if subprocess.run(['which', shell], capture_output=True).returncode:
        pytest.skip(f'{shell} is not installed')
    if not (ROOT / '.venv' / 'complete').exists():
        pytest.skip('make build has not been run')
    paths = '$PATH|$PYTHONPATH|$LD_LIBRARY_PATH|$AMENT_PREFIX_PATH|$CMAKE_PREFIX_PATH'
    enter = f'. {ROOT}/env.sh && echo "{paths}"'
    import_it = 'cd / && python3 -c "import robodyn_ros; print(robodyn_ros.__file__)"'
    done = in_bash(f"{shell} -c '{enter}; {enter}; {import_it}; set | grep ^_robodyn'")
    first, second, module = done.stdout.splitlines()
    assert first == second
    assert module == str(ROOT / 'robodyn_ros' / '__init__.py')
    assert done.stderr == ''


def test_env_refuses_an_unfinished_environment(tmp_path: Path) -> None:
    (tmp_path / '.venv' / 'bin').mkdir(parents=True)
    (tmp_path / 'env.sh').write_text((ROOT / 'env.sh').read_text())
    done = in_bash(f'. {tmp_path}/env.sh; echo "$? $VIRTUAL_ENV"')
    assert done.stdout == '1 \n'
    assert 'run make build' in done.stderr


def test_env_refuses_to_mix_wheels_with_a_sourced_ros(tmp_path: Path) -> None:
    checkout, ros = tmp_path / 'checkout', tmp_path / 'ros'
    (ros / RCLPY).mkdir(parents=True)
    (checkout / '.venv').mkdir(parents=True)
    (checkout / '.venv' / 'complete').touch()
    (checkout / 'env.sh').write_text((ROOT / 'env.sh').read_text())
    done = in_bash(f'. {checkout}/env.sh; echo $?', AMENT_PREFIX_PATH=f'/none:{ros}')
    assert done.stdout == '1\n'
    assert f'{ros} is sourced' in done.stderr


@pytest.mark.ros
def test_built_interfaces_and_sources_are_one_module() -> None:
    pytest.importorskip('robodyn_ros.msg', reason='make build has not been run')
    assert len(robodyn_ros.__path__) == 2
    for name in INTERFACES:
        kind, _, file = name.partition('/')
        module = __import__(f'robodyn_ros.{kind}', fromlist=['*'])
        assert hasattr(module, file.partition('.')[0]), name


@pytest.mark.ros
def test_installed_executables_are_the_scripts() -> None:
    pytest.importorskip('robodyn_ros.msg', reason='make build has not been run')
    prefix = next(Path(path) for path in os.environ['AMENT_PREFIX_PATH'].split(':'))
    plugin = {'law_check', 'libupdate_probe.so'}  # come with the controller plugin
    folder = prefix / 'lib' / 'robodyn_ros'
    found = sorted(path for path in folder.iterdir() if path.name not in plugin)
    assert [path.name for path in found] == [path.name for path in SCRIPTS]
    assert all(os.access(path, os.X_OK) for path in found)
    for folder in ('launch', 'config', 'urdf'):
        assert any((prefix / 'share' / 'robodyn_ros' / folder).iterdir())
