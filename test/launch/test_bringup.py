# SPDX-License-Identifier: Apache-2.0
"""Nodes that are started together: cell or robot, viewers, controllers, feed-forward."""

from pathlib import Path
from xml.etree import ElementTree

from launch_files import EVERYTHING, ROBOTS, ROOT, LaunchContext, Node, parameters

from robodyn_ros.nodes.launching import viewers
from robodyn_ros.nodes.launching.dds_profiles import PROFILE


def test_a_real_robot_in_place_of_the_cell(nodes):
    assert 'cell' not in nodes('bringup.launch.py', cell='false')


def test_rviz_comes_with_its_markers_and_missing_viewers_are_a_sentence(nodes, monkeypatch):
    assert 'watch' not in nodes('bringup.launch.py')
    assert 'watch' in nodes('bringup.launch.py', rviz='true')
    assert 'watch' not in nodes('bringup.launch.py', rviz='true', watch='false')

    def started(**given):
        context = LaunchContext()
        names = ('namespace', 'robot', 'variant', 'urdf', 'robot_state_publisher', 'rviz')
        context.launch_configurations.update({**dict.fromkeys(names, ''), **given})
        return viewers.viewers(context), context

    both = {'robot_state_publisher': 'true', 'rviz': 'true', 'namespace': 'cell1'}
    monkeypatch.setattr(viewers, 'missing', lambda package: f'package {package} is missing')
    for action, text in zip(started(**both)[0], ('robot_state_pub', 'RViz'), strict=True):
        (said,) = action.msg
        assert said.text.startswith(f'[robodyn] {text}') and 'is missing' in said.text
    assert started(robot_state_publisher='false', rviz='false')[0] == []
    monkeypatch.setattr(viewers, 'missing', lambda package: '')
    assert [type(action) for action in started(**both)[0]] == [Node, Node]
    (why,) = started(robot_state_publisher='true', urdf='none.urdf')[0]
    assert 'none.urdf' in why.msg[0].text and 'robot_state_publisher:=false' in why.msg[0].text


def test_unchecked_motions_run_only_in_the_simulated_cell_unless_asked_for(nodes):
    def allowed(name, **arguments):
        return parameters(nodes(name, **arguments)['excitation']).get('allow_unchecked')

    for robot in ROBOTS:
        assert allowed('bringup.launch.py', robot=robot) is True
        assert allowed('bringup.launch.py', robot=robot, cell='false') is False
    assert allowed('bringup.launch.py', cell='false', allow_unchecked='true') is True
    assert allowed('identification.launch.py') is None
    for robot in ROBOTS:
        assert 'allow_unchecked' not in (ROOT / 'config' / 'robots' / f'{robot}.yaml').read_text()


def test_excitation_through_the_feedforward(nodes):
    topic = 'feedforward/joint_trajectory'
    found = nodes('bringup.launch.py', command_topic=topic, **EVERYTHING)
    assert parameters(found['excitation'])['command_topic'] == topic
    assert 'command_topic' not in parameters(nodes('bringup.launch.py')['excitation'])


def test_large_trajectories_fit_into_the_senders_shared_memory(nodes, monkeypatch):
    for variable in PROFILE:
        monkeypatch.delenv(variable, raising=False)
    sets = {name: node['additional_env'] for name, node in nodes('bringup.launch.py').items()}
    assert {name for name, variables in sets.items() if variables} == {'excitation'}
    profile = Path(sets['excitation'][PROFILE[1]])
    size = ElementTree.parse(profile).findtext('.//{*}segment_size')
    assert int(size) > 60_000 * 216  # points of six joints with effort
    monkeypatch.setenv('FASTRTPS_DEFAULT_PROFILES_FILE', 'mine.xml')
    assert nodes('bringup.launch.py')['excitation']['additional_env'] == {}


def test_another_controller_is_moved_fed_forward_and_stopped(nodes):
    name = 'scaled_joint_trajectory_controller'
    found = nodes('bringup.launch.py', controller=name, **EVERYTHING)
    assert parameters(found['excitation'])['command_topic'] == f'{name}/joint_trajectory'
    assert 'controller' not in parameters(found['excitation'])
    for node in ('feedforward', 'collision_monitor'):
        assert parameters(found[node])['controller'] == name
    both = nodes('identification.launch.py', controller=name, command_topic='a/b')
    assert parameters(both['excitation'])['command_topic'] == 'a/b'
    assert 'command_topic' not in parameters(nodes('identification.launch.py')['excitation'])


def test_nodes_beside_the_simulated_cell_take_its_time(nodes):
    simulated = nodes('bringup.launch.py')
    assert parameters(simulated['excitation'])['use_sim_time'] is True
    assert parameters(simulated['cell'])['use_sim_time'] is False  # it publishes /clock
    robot = nodes('bringup.launch.py', cell='false')
    assert parameters(robot['excitation'])['use_sim_time'] is False
