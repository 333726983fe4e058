# SPDX-License-Identifier: Apache-2.0
"""The decision to run colcon again, and its environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools import build


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in {
        'ROOT': tmp_path,
        'VENV': tmp_path / '.venv',
        'BUILD': tmp_path / 'build',
        'INSTALL': tmp_path / 'install',
        'STAMP': tmp_path / 'install' / 'complete',
    }.items():
        monkeypatch.setattr(build, name, value)
    for file in ('.venv/complete', 'msg/A.msg', 'robodyn_ros/a.py', 'scripts/cell', 'install/x'):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file)
    return tmp_path


@pytest.mark.parametrize('file', ['msg/A.msg', 'msg/B.msg', 'CMakeLists.txt', '.venv/complete'])
def test_changed_interface_or_environment_builds_again(checkout: Path, file: str) -> None:
    before = build.fingerprint()
    assert build.fingerprint() == before
    (checkout / file).write_text('other')
    assert build.fingerprint() != before


def test_edited_source_needs_no_build_but_a_new_one_does(checkout: Path) -> None:
    before = build.fingerprint()
    (checkout / 'robodyn_ros' / 'a.py').write_text('edited')
    (checkout / 'robodyn_ros' / '__pycache__').mkdir()
    (checkout / 'robodyn_ros' / '__pycache__' / 'a.pyc').touch()
    assert build.fingerprint() == before
    (checkout / 'robodyn_ros' / 'b.py').touch()
    assert build.fingerprint() != before


def test_links_to_removed_files_go_and_the_rest_stays(checkout: Path) -> None:
    build.clean_up()
    assert not (checkout / 'install').exists(), 'a build of another environment'
    (checkout / 'install').mkdir()
    for name in ('a', 'gone'):
        (checkout / 'install' / name).symlink_to(checkout / 'robodyn_ros' / f'{name}.py')
    build.clean_up()
    assert [path.name for path in (checkout / 'install').iterdir()] == ['a']


def test_environment_is_without_an_earlier_build(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [f'{checkout}/install/robodyn_ros', f'{checkout}/.venv', '/opt/ros/jazzy']
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(entries))
    assert build.environment()['AMENT_PREFIX_PATH'] == os.pathsep.join(entries[1:])


def test_the_plugin_is_built_where_ros2_control_is_found(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ros, controller = checkout / 'ros', checkout / 'src' / 'law.cpp'
    controller.parent.mkdir()
    controller.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere{os.pathsep}{os.pathsep}{ros}')
    without = build.fingerprint()
    controller.write_text('edited: nothing is built of it')
    assert build.fingerprint() == without
    assert '-DROBODYN_CPP_INTERFACES=OFF' in build.command()
    (ros / build.ROS2_CONTROL).parent.mkdir(parents=True)
    (ros / build.ROS2_CONTROL).touch()
    assert '-DROBODYN_CPP_INTERFACES=ON' in build.command()
    first = build.fingerprint()
    controller.write_text('edited again')
    assert len({without, first, build.fingerprint()}) == 3
