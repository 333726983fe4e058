# SPDX-License-Identifier: Apache-2.0
"""What counts as the use of a package, and the differences to package.xml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import declared

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    'launch/a.launch.py': "from launch_ros.actions import Node\nNode(\n    package='started')\n",
    'robodyn_ros/nodes/launching/b.py': "import numpy\nelement('plugin').text = 'mock/System'",
    'robodyn_ros/xacro_file.py': "import shutil\nshutil.which('xacro')",
    'config/robots/c.yaml': 'broadcaster: {type: states/Broadcaster}\nchannels: {type: uint16}\n',
    'config/ros2_control/d.xml': '<plugin>system/Hardware</plugin>',
    'config/rqt/e.perspective': "{'rqt_plot/Plot': [1, 2], 'rqt_topic/Topic': [1]}",
    'rviz/f.rviz': '  - Class: rviz_plugins/Grid\n  - Class: ""\n',
    'msg/G.msg': 'std_msgs/Header header  # of no_package/H\nint32 number\n',
    'CMakeLists.txt': 'find_package(ament_cmake REQUIRED)\n',
    'cmake/h.cmake': 'foreach(package first\n    second)\n  find_package(${package} QUIET)\n',
    'cmake/tests.cmake': 'find_package(ament_cmake_pytest QUIET)',
    'test/test_i.py': 'import pytest, own_helper, scipy.linalg',
    'test/support/own_helper.py': '',
}
USED = {
    'launch_ros', 'started', 'python3-numpy', 'mock', 'xacro', 'states', 'system', 'rqt_plot',
    'rqt_topic', 'rviz_plugins', 'std_msgs', 'ament_cmake', 'first', 'second', 'python3-pytest',
    'python3-scipy', 'ament_cmake_pytest',
}  # fmt: skip
IN_TESTS = {'ament_cmake_pytest', 'python3-pytest', 'python3-scipy'}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def declare(root: Path, packages: set[str], tests: set[str] = IN_TESTS) -> None:
    lines = [f'<exec_depend>{name}</exec_depend>' for name in sorted(packages - tests)]
    lines += [f'<test_depend>{name}</test_depend>' for name in sorted(tests)]
    (root / 'package.xml').write_text(f'<package><name>x</name>{"".join(lines)}</package>')


def test_every_kind_of_file_is_read(checkout: Path) -> None:
    assert declared.packages_in_use(checkout).keys() == USED
    assert declared.packages_in_use(checkout)['second'] == 'cmake/h.cmake'


@pytest.mark.parametrize('package', sorted(USED - IN_TESTS))
def test_a_missing_package_is_named_with_its_file(checkout: Path, package: str) -> None:
    declare(checkout, USED - {package})
    (line,) = declared.differences(checkout)
    assert line.startswith(f'{package} is used in ')
    assert (checkout / line.split()[4]).is_file()


def test_a_package_of_tests_alone_does_not_serve_the_rest(checkout: Path) -> None:
    declare(checkout, USED, {*IN_TESTS, 'xacro'})
    assert declared.differences(checkout) == [
        'xacro is used in robodyn_ros/xacro_file.py but not declared'
    ]


def test_a_package_without_a_use_is_named(checkout: Path) -> None:
    declare(checkout, {*USED, 'rclpy', 'ros2launch'})
    assert declared.differences(checkout) == ['rclpy is declared but no file uses it']


def test_patterns_find_something_in_this_checkout() -> None:
    empty = [
        files
        for files, pattern in declared.PATTERNS.items()
        if not any(re.search(pattern, p.read_text(), re.MULTILINE) for p in ROOT.glob(files))
    ]
    assert empty == []
