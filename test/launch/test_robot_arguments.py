# SPDX-License-Identifier: Apache-2.0
"""Arguments about the robot: its file, URDF, effort, model, mounting and limits."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from launch_files import EVERYTHING, EXAMPLE, NODES, ROBOTS, ROOT, files, parameters

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching import descriptions
from robodyn_ros.robot_file import load_robot


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


def test_parameters_of_the_user_come_last(nodes, tmp_path):
    mine, urdf = tmp_path / 'mine.yaml', tmp_path / 'mine.urdf'
    mine.write_text('{}')
    urdf.write_text('<robot/>')
    found = nodes('cell.launch.py', urdf=str(urdf), params_file=str(mine))
    assert found['cell']['parameters'][-1] == str(mine)
    assert parameters(found['cell'])['urdf'] == str(urdf)


def test_a_robot_of_ones_own_gets_no_limits_of_the_arm_of_this_package(nodes, tmp_path):
    urdf = tmp_path / 'mine.urdf'
    urdf.write_text('<robot/>')
    found = nodes('bringup.launch.py', urdf=str(urdf), cell='false', **EVERYTHING)
    assert not any(files(node) or 'robot' in parameters(node) for node in found.values())
    given = {name for name, node in found.items() if parameters(node).get('urdf') == str(urdf)}
    assert given == {'excitation', 'identification'}, 'the others have no such parameter'


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


def test_files_may_be_named_by_their_package(nodes, prefix):
    name = 'package://robodyn_ros/urdf/six_axis.urdf'
    found = parameters(nodes('watch.launch.py', urdf=name)['watch'])
    assert found['urdf'] == str(prefix / 'share/robodyn_ros/urdf/six_axis.urdf')


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


def test_a_slip_in_the_name_of_an_argument_is_a_warning(monkeypatch):
    said = []
    logger = SimpleNamespace(warning=said.append)
    monkeypatch.setattr(descriptions, 'get_logger', lambda name: logger)
    for name in ('result_fil', 'result_fil', 'result_file', 'my_own_argument'):
        descriptions._warn_of_slip(name)
    text = (
        "there is no launch argument 'result_fil', its value is ignored; did you mean result_file?"
    )
    assert said == [text]
