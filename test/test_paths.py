# SPDX-License-Identifier: Apache-2.0
"""File names as users give them."""

from pathlib import Path

import pytest

from robodyn_ros.errors import ConfigError
from robodyn_ros.paths import expand, resource


def test_a_home_that_there_is_not():
    assert expand('~').is_absolute()
    with pytest.raises(ConfigError, match='~no_such_user/here: '):
        expand('~no_such_user/here')


def test_files_of_packages():
    pytest.importorskip('std_msgs')
    assert resource('some/file.yaml') == Path('some/file.yaml')
    assert resource('~/file.yaml') == Path.home() / 'file.yaml'
    found = resource('package://std_msgs/package.xml')
    assert found.is_file() and found.parent.name == 'std_msgs'
    with pytest.raises(ConfigError, match="there is no ROS package 'no_such_package'"):
        resource('package://no_such_package/file.yaml')


def test_files_of_a_package_that_pip_installed(tmp_path, monkeypatch):
    """They are below the prefix of the environment, where ROS 2 does not look."""
    (tmp_path / 'share/only_by_pip').mkdir(parents=True)
    monkeypatch.setattr('sysconfig.get_path', lambda name, scheme: str(tmp_path))
    expected = tmp_path / 'share/only_by_pip/config/robot.yaml'
    assert resource('package://only_by_pip/config/robot.yaml') == expected
