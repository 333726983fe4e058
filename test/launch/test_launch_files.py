# SPDX-License-Identifier: Apache-2.0
"""Every launch file as `ros2 launch` runs it, up to the nodes that it would start."""

import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchService
from launch.action import Action
from launch.actions import (
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching import descriptions, viewers
from robodyn_ros.nodes.launching.large_messages import PROFILE
from robodyn_ros.robot_file import load_robot

ROOT = Path(__file__).resolve().parents[2]
NODES = {
    'cell.launch.py': ['cell'],
    'identification.launch.py': ['excitation', 'identification', 'recorder'],
    'feedforward.launch.py': ['feedforward'],
    'collision_monitor.launch.py': ['collision_monitor'],
    'watch.launch.py': ['watch'],
    'bringup.launch.py': ['cell', 'excitation', 'identification', 'recorder'],
}
MOCK = 'mock_control.launch.py'
"""Controllers on mock hardware: no nodes of this package."""
EVERYTHING = {'feedforward': 'true', 'collision_monitor': 'true', 'result_file': 'r/result.yaml'}
ROBOTS = sorted(path.stem for path in (ROOT / 'config' / 'robots').glob('*.yaml'))
EXAMPLE = ROOT / 'config' / 'example_robot.yaml'


@pytest.fixture(scope='module')
def prefix():
    try:
        return Path(get_package_prefix('robodyn_ros'))
    except PackageNotFoundError:
        pytest.skip('robodyn_ros is not installed: source the install folder')


def source(name):
    return PythonLaunchDescriptionSource(str(ROOT / 'launch' / name))


@pytest.fixture
def nodes(prefix, monkeypatch):
    """Run a launch file with arguments; gives what each node would be started with, by name."""
    found = {}

    class Recorded(Action):
        def __init__(self, **options):
            super().__init__()
            found[options['name']] = options

    def run(entity, context):
        for inner in entity.visit(context) or ():
            run(inner, context)

    def launched(name, **arguments):
        found.clear()
        run(IncludeLaunchDescription(source(name), launch_arguments=arguments.items()),
            LaunchContext())  # fmt: skip
        return dict(found)

    monkeypatch.setattr(descriptions, 'Node', Recorded)
    return launched


def parameters(node):
    """Parameters given one by one, as a node sees them at last."""
    merged = {}
    for group in node['parameters']:
        merged.update(group if isinstance(group, dict) else {})
    return merged


def files(node):
    return [group for group in node['parameters'] if isinstance(group, str)]


def test_every_launch_file_is_known_and_installed(prefix):
    known = [*NODES, MOCK]
    assert sorted(path.name for path in (ROOT / 'launch').glob('*.py')) == sorted(known)
    assert all((prefix / 'share/robodyn_ros/launch' / name).is_file() for name in known)


@pytest.mark.parametrize('name', NODES)
def test_arguments_have_descriptions_and_defaults(name):
    declared = source(name).get_launch_description(LaunchContext()).get_launch_arguments()
    assert {argument.name for argument in declared} >= set(descriptions.BASIC)
    for argument in declared:
        assert len(argument.description) > 10
        assert argument.default_value is not None


@pytest.mark.parametrize('name', NODES)
def test_nodes_exist_and_lie_in_the_namespace(name, nodes, prefix):
    found = nodes(name, namespace='robot1', log_level='warn')
    assert sorted(found) == NODES[name]
    for node in found.values():
        assert (prefix / 'lib/robodyn_ros' / node['executable']).is_file()
        assert node['namespace'] == 'robot1'
        assert node['arguments'][-1] == 'warn'


@pytest.mark.parametrize('robot', [*ROBOTS, str(EXAMPLE)])
def test_every_node_gets_the_robot_file(robot, nodes, prefix):
    found = nodes('bringup.launch.py', robot=robot, **EVERYTHING)
    assert sorted(found) == sorted(
        [*NODES['bringup.launch.py'], 'collision_monitor', 'feedforward']
    )
    file = prefix / 'share/robodyn_ros/config/robots' / f'{robot}.yaml'
    for node in found.values():
        assert parameters(node)['robot'] == (robot if '/' in robot else str(file))
        assert files(node) == [] and 'urdf' not in parameters(node)
    assert parameters(found['feedforward'])['result_file'] == 'r/result.yaml'
    assert parameters(found['feedforward'])['autostart'] is True


def test_a_path_is_meant_from_where_the_launch_was_started(nodes, monkeypatch):
    monkeypatch.chdir(EXAMPLE.parent)
    for robot in (EXAMPLE.name, f'./{EXAMPLE.name}'):
        given = parameters(nodes('cell.launch.py', robot=robot)['cell'])
        assert Path(given['robot']) == EXAMPLE and Path(given['robot']).is_absolute()


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
    profile = Path(sets['excitation']['FASTDDS_DEFAULT_PROFILES_FILE'])
    size = ElementTree.parse(profile).findtext('.//{*}segment_size')
    assert int(size) > 60_000 * 216  # points of six joints with effort
    monkeypatch.setenv('FASTRTPS_DEFAULT_PROFILES_FILE', 'mine.xml')
    assert nodes('bringup.launch.py')['excitation']['additional_env'] == {}


def test_parameters_of_the_user_come_last(nodes, tmp_path):
    mine, urdf = tmp_path / 'mine.yaml', tmp_path / 'mine.urdf'
    mine.write_text('{}')
    urdf.write_text('<robot/>')
    found = nodes('feedforward.launch.py', urdf=str(urdf), params_file=str(mine))
    assert found['feedforward']['parameters'][-1] == str(mine)
    assert parameters(found['feedforward'])['urdf'] == str(urdf)


def test_a_robot_of_ones_own_gets_no_limits_of_the_arm_of_this_package(nodes, tmp_path):
    urdf = tmp_path / 'mine.urdf'
    urdf.write_text('<robot/>')
    found = nodes('bringup.launch.py', urdf=str(urdf), cell='false', **EVERYTHING)
    assert not any(files(node) or 'robot' in parameters(node) for node in found.values())
    assert {parameters(node)['urdf'] for node in found.values()} == {str(urdf)}


@pytest.mark.parametrize('name', NODES)
@pytest.mark.parametrize(
    ('argument', 'value', 'sentence'),
    [
        ('robot', 'ur11', "there is no robot 'ur11' in this package, only .*six_axis, ur10"),
        ('params_file', 'none.yaml', 'params_file: there is no file none.yaml'),
        ('urdf', 'none.urdf', 'urdf: there is no file none.urdf'),
        ('urdf', 'package://robodyn_ros/urdf/no.urdf', 'urdf: there is no file package://'),
        ('robot', './none.yaml', 'the robot file .*none.yaml cannot be read'),
        ('variant', 'fast', "six_axis.yaml: there is no variant 'fast', there are: optimised"),
    ],
)
def test_a_wrong_name_gives_one_sentence(name, argument, value, sentence, nodes):
    with pytest.raises(ConfigError, match=sentence) as caught:
        nodes(name, **{argument: value})
    assert '\n' not in str(caught.value)


def test_a_wrong_choice_is_refused(nodes):
    with pytest.raises(RuntimeError, match='alid options'):
        nodes('bringup.launch.py', cell='maybe')


def test_a_declaration_of_effort_replaces_that_of_the_robot(nodes, tmp_path):
    mine = tmp_path / 'my_drives.yaml'
    mine.write_text('{}')
    found = nodes('bringup.launch.py', robot='six_axis', effort=str(mine), **EVERYTHING)
    for node, options in found.items():
        assert files(options) == ([] if node == 'cell' else [str(mine)])
        assert 'effort' not in parameters(options)


def test_model_and_number_of_ones_own(nodes, tmp_path):
    mine = tmp_path / 'model.yaml'
    mine.write_text('{}')
    arguments = {'robot': 'six_axis', 'model_file': str(mine), 'dynamic_model': '2'}
    found = parameters(nodes('bringup.launch.py', **arguments)['identification'])
    assert (found['model_file'], found['dynamic_model']) == (str(mine), 2)
    assert 'dynamic_model' not in parameters(nodes('bringup.launch.py')['identification'])
    with pytest.raises(ConfigError, match=r"dynamic_model: expected a number .*got 'two'"):
        nodes('identification.launch.py', dynamic_model='two')
    with pytest.raises(ConfigError, match=r'model_file: there is no file none\.yaml'):
        nodes('identification.launch.py', model_file='none.yaml')


@pytest.mark.parametrize('argument', ['params_file', 'effort'])
def test_a_parameter_file_that_is_no_yaml_is_one_sentence(nodes, tmp_path, argument):
    bad = tmp_path / 'bad.yaml'
    bad.write_text('/**:\n  ros__parameters: {a: [1, 2}\n')
    with pytest.raises(
        ConfigError, match=r'bad\.yaml cannot be read: it is no YAML: line 2, '
    ) as why:
        nodes('identification.launch.py', **{argument: str(bad)})
    assert '\n' not in str(why.value)


def test_files_may_be_named_by_their_package(nodes, prefix):
    name = 'package://robodyn_ros/urdf/six_axis.urdf'
    found = parameters(nodes('feedforward.launch.py', urdf=name)['feedforward'])
    assert found['urdf'] == str(prefix / 'share/robodyn_ros/urdf/six_axis.urdf')


@pytest.mark.parametrize(
    ('end', 'respawn', 'starts'),
    [('os.kill(os.getpid(), 9)', True, 3), ('sys.exit(1)', True, 3), ('sys.exit(2)', True, 1),
     ('sys.exit(0)', True, 1), ('sys.exit(1)', False, 1)],
)  # fmt: skip
def test_a_node_that_dies_is_started_again_and_one_that_ends_is_not(
    end, respawn, starts, tmp_path, monkeypatch
):
    """With processes that end so twice, under the real launch service."""
    monkeypatch.setattr(descriptions, 'RESPAWN_DELAY', 0.05)
    marker = tmp_path / 'starts'
    code = (
        'import os, sys, time\n'
        'with open(sys.argv[1], "a") as file: file.write("started\\n")\n'
        f'if len(open(sys.argv[1]).readlines()) < 3: {end}\n'
        'time.sleep(60)\n'
    )

    def create():
        return ExecuteProcess(cmd=[sys.executable, '-c', code, str(marker)])

    def end_with_the_last():
        deadline = time.monotonic() + 30.0
        while len(marker.read_text().splitlines()) < starts and time.monotonic() < deadline:
            time.sleep(0.05)
        service.shutdown()

    marker.touch()
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription(descriptions.kept_alive(create, respawn)))
    if starts == 3:  # else the service ends by itself, as nothing is left to start
        threading.Thread(target=end_with_the_last, daemon=True).start()
    service.run()
    assert len(marker.read_text().splitlines()) == starts


def test_a_misspelt_robot_is_refused_even_beside_a_urdf(nodes, tmp_path):
    urdf = tmp_path / 'mine.urdf'
    urdf.write_text('<robot/>')
    with pytest.raises(ConfigError, match=r"no robot 'six_axes' .*six_axis.*path of a robot file"):
        nodes('bringup.launch.py', robot='six_axes', urdf=str(urdf))


def test_a_variant_is_named_behind_the_robot(nodes):
    found = nodes('identification.launch.py', robot='puma', variant='semi_static')
    for node in found.values():
        assert parameters(node)['robot'].endswith('/config/robots/puma.yaml#semi_static')
        assert load_robot(parameters(node)['robot']).content['model']['dynamic_model'] == 2
    with pytest.raises(ConfigError, match='variant: it needs the argument robot'):
        nodes('identification.launch.py', urdf=f'{ROOT}/urdf/puma.urdf', variant='semi_static')


@pytest.fixture
def installed(monkeypatch):
    """Packages that mock_control.launch.py finds missing: none at first."""
    absent = set()
    monkeypatch.setattr(viewers, 'missing', lambda name: f'no {name}' if name in absent else '')
    return absent


def mock_control(**arguments):
    """Nodes that mock_control.launch.py starts at once, and what they run."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    description = source(MOCK).get_launch_description(context)
    for argument in description.get_launch_arguments():
        if argument.default_value is not None:
            context.launch_configurations.setdefault(
                argument.name, ''.join(part.perform(context) for part in argument.default_value)
            )
    (create,) = [entity for entity in description.entities if isinstance(entity, OpaqueFunction)]
    return [node for node in create.execute(context) if isinstance(node, Node)]


FORMS = {
    'any node': '/**',
    'a name': '{}',
    'a name in any namespace': '/**/{}',
    'a name with namespace': '/cell1/{}',
    'a namespace': '/cell1/**',
}


@pytest.mark.parametrize('form', FORMS)
def test_the_users_file_wins_over_the_controllers_in_any_form(prefix, installed, tmp_path, form):
    key = FORMS[form].format('joint_trajectory_controller')
    mine = tmp_path / 'mine.yaml'
    content = {key: {'ros__parameters': {'command_interfaces': ['position']}}}
    mine.write_text(yaml.safe_dump(content))
    namespace = '' if form == 'a name' else 'cell1'
    arguments = {'way': 'trajectory_effort', 'params_file': str(mine), 'namespace': namespace}
    manager = mock_control(**arguments)[1]
    context = LaunchContext()
    manager._perform_substitutions(context)
    given = [str(file) for file, is_file in manager._Node__expanded_parameter_arguments if is_file]
    assert Path(given[0]).name == 'trajectory_effort.yaml' and given[1] == str(mine)
    node = '/'.join(filter(None, ('', namespace, 'joint_trajectory_controller'))).strip('/')
    last = yaml.safe_load(Path(given[-1]).read_text())
    parameters = last[f'/{node}']['ros__parameters']
    assert parameters['command_interfaces'] == ['position']
    assert parameters['joints'] == [f'joint{number}' for number in range(1, 7)], 'of the package'


@pytest.mark.parametrize('way', ['streaming', 'trajectory_effort'])
def test_mock_control_starts_what_a_way_needs(prefix, installed, way):
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
        ({'way': 'streaming', 'params_file': '/no/p.yaml'}, 'params_file: there is no file'),
    ],
)
def test_mock_control_says_what_it_lacks(prefix, installed, arguments, sentence):
    with pytest.raises(ConfigError, match=sentence):
        mock_control(**arguments)


def test_mock_control_names_the_packages_that_are_not_installed(prefix, installed):
    installed |= {'controller_manager', 'robot_state_publisher'}
    with pytest.raises(ConfigError, match='started: no controller_manager; no robot_state_pub'):
        mock_control(way='streaming')
    installed.remove('controller_manager')
    assert mock_control(way='streaming', robot_state_publisher='false')
    with pytest.raises(ConfigError, match='cannot be started: no robot_state_publisher'):
        mock_control(way='streaming')


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


def test_mounting_and_limits_are_arguments(nodes, tmp_path):
    limits = str(tmp_path / 'joint_limits.yaml')
    Path(limits).write_text('joint_limits: {}\n')
    given = {'gravity': '0, 0 9.81', 'joint_limits': limits}
    found = parameters(nodes('identification.launch.py', **given)['identification'])
    assert list(found['gravity']) == [0.0, 0.0, 9.81] and found['joint_limits'] == limits
    # the folder of a MoveIt configuration
    found = nodes('bringup.launch.py', **EVERYTHING, joint_limits=str(tmp_path))
    for name in ('excitation', 'identification', 'collision_monitor'):
        assert parameters(found[name])['joint_limits'] == str(tmp_path), (
            'of a MoveIt configuration'
        )
    for bad in ('down', '0 0', '0 0 0 1'):
        with pytest.raises(ConfigError, match='gravity: expected three numbers such as'):
            nodes('identification.launch.py', gravity=bad)
    with pytest.raises(ConfigError, match='joint_limits: there is no file none'):
        nodes('identification.launch.py', joint_limits='none')
