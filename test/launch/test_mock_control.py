# SPDX-License-Identifier: Apache-2.0
"""Controllers on mock hardware, and the files of the user."""

from pathlib import Path

import pytest
import yaml
from launch_files import EXAMPLE, LaunchContext, mock_control

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching import viewers


@pytest.fixture
def installed(monkeypatch):
    """Packages that mock_control.launch.py finds missing: none at first."""
    absent = set()
    monkeypatch.setattr(viewers, 'missing', lambda name: f'no {name}' if name in absent else '')
    return absent


def test_the_file_of_the_user_is_read_after_that_of_the_controllers(prefix, installed, tmp_path):
    """The latter has keys with the names of nodes, so that any key of the former comes later."""
    mine = tmp_path / 'mine.yaml'
    mine.write_text('/**: {ros__parameters: {command_interfaces: [position]}}')
    manager = mock_control(way='trajectory_effort', params_file=str(mine))[1]
    manager._perform_substitutions(LaunchContext())
    given = [
        Path(file) for file, is_file in manager._Node__expanded_parameter_arguments if is_file
    ]
    assert given[0].name == 'trajectory_effort.yaml' and given[-1] == mine
    for way in ('plugin', 'trajectory_effort'):
        keys = yaml.safe_load((given[0].parent / f'{way}.yaml').read_text())
        assert all(key.startswith('/**/') for key in keys)


def test_mock_control_starts_what_a_way_needs(prefix, installed):
    way = 'trajectory_effort'
    started = [node.node_executable for node in mock_control(way=way)]
    assert started == ['robot_state_publisher', 'ros2_control_node', 'spawner']
    assert mock_control(way=way, robot=str(EXAMPLE))[0].node_executable == started[0]
    own = mock_control(way=way, robot_state_publisher='false')
    assert [node.node_executable for node in own] == ['ros2_control_node', 'spawner']


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        ({}, 'launch argument result_file: the plugin needs a result.yaml'),
        (
            {'result_file': '/no/r.yaml'},
            'launch argument result_file: there is no file /no/r.yaml',
        ),
        (
            {'way': 'trajectory_effort', 'params_file': '/no/p.yaml'},
            'params_file: there is no file',
        ),
    ],
)
def test_mock_control_says_what_it_lacks(prefix, installed, arguments, sentence):
    with pytest.raises(ConfigError, match=sentence):
        mock_control(**arguments)


def test_mock_control_names_the_packages_that_are_not_installed(prefix, installed):
    installed |= {'controller_manager', 'robot_state_publisher'}
    with pytest.raises(ConfigError, match='started: no controller_manager; no robot_state_pub'):
        mock_control(way='trajectory_effort')
    installed.remove('controller_manager')
    assert mock_control(way='trajectory_effort', robot_state_publisher='false')
    with pytest.raises(ConfigError, match='cannot be started: no robot_state_publisher'):
        mock_control(way='trajectory_effort')
