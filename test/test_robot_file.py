# SPDX-License-Identifier: Apache-2.0
"""Robot files: sections, variants, parameters of nodes, and what is wrong in one sentence."""

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import yaml
from described import urdf_of

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.cli.demo.facts import read_facts
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import CellError, ConfigError, ModelError
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.robot_file import Sections, load_robot, read_part

CONFIG = Path(__file__).resolve().parents[1] / 'config'
EXAMPLE = CONFIG / 'example_robot.yaml'
ROBOT = {
    'urdf': 'arm.urdf',
    'limits': {'a': {'max_velocity': 2.0}},
    'effort': {'unit': 'N', 'side': 'joint', 'gravity': 'included'},
    'excitation': {'motion': {'kind': 'sine', 'duration': 20.0}, 'motion_file': 'm.yaml'},
    'variants': {'slow': {'excitation': {'motion': {'duration': 60.0}}, 'effort': {'unit': 'A'}}},
}


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / 'arm.yaml'
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def test_a_node_gets_its_section_the_effort_and_where_the_others_are(file, tmp_path):
    path = file(ROBOT)
    found = load_robot(path).parameters('excitation')
    assert found == {
        'urdf': (str(tmp_path / 'arm.urdf'), f'{path}, section urdf'),
        'joint_limits': (str(path), f'{path}, section limits'),
        'effort.unit': ('N', f'{path}, section effort'),
        'effort.side': ('joint', f'{path}, section effort'),
        'effort.gravity': ('included', f'{path}, section effort'),
        'motion.kind': ('sine', f'{path}, section excitation'),
        'motion.duration': (20.0, f'{path}, section excitation'),
        'motion_file': (str(tmp_path / 'm.yaml'), f'{path}, section excitation'),
    }
    assert set(load_robot(path).parameters('recorder', effort=False)) == {'urdf', 'joint_limits'}


def test_a_typo_in_the_section_of_any_node_is_refused_by_every_reader(file):
    typo = {'collision_monitor': {'max_torque_eror': [1.0]}}
    for content, section in (
        (ROBOT | typo, 'collision_monitor'),
        (ROBOT | {'variants': {'slow': typo}}, 'variants.slow.collision_monitor'),
    ):
        path = file(content)
        words = rf"{path}, section {section}: .* 'max_torque_eror'; .* max_torque_error\?"
        for read in (load_robot, EffortDeclaration.from_file):
            with pytest.raises(ConfigError, match=words):
                read(path)


def test_keys_of_a_variant_win_and_are_named_by_it(file):
    path = file(ROBOT)
    robot = load_robot(f'{path}#slow')
    found = robot.parameters('excitation')
    assert found['motion.duration'] == (60.0, f'{path}#slow, section excitation')
    assert found['motion.kind'] == ('sine', f'{path}#slow, section excitation')
    assert found['effort.unit'] == ('A', f'{path}#slow, section effort')
    assert found['joint_limits'][0] == robot.reference == f'{path}#slow'
    assert robot.content['excitation']['motion'] == {'kind': 'sine', 'duration': 60.0}
    assert EffortDeclaration.from_file(EXAMPLE).values['side'] == 'motor'
    assert EffortDeclaration.from_file(f'{EXAMPLE}#simulated').values['side'] == 'joint'


def test_angles_in_degrees_are_radians_for_rcl(file):
    path = file('urdf: a.urdf\nexcitation: {motion: {start: [!degrees 180, 0.5]}}\n')
    assert load_robot(path).parameters('excitation')['motion.start'][0] == [math.pi, 0.5]


@pytest.mark.parametrize('file', sorted((CONFIG / 'robots').glob('*.yaml')), ids=lambda f: f.stem)
def test_all_nodes_of_a_robot_have_the_same_controller(file):
    usual = 'joint_trajectory_controller'
    content = {name: section or {} for name, section in load_robot(file).content.items()}
    topic = content.get('excitation', {}).get('command_topic', f'{usual}/joint_trajectory')
    nodes = ['recorder', 'collision_monitor', *{'feedforward'} & content.keys()]
    named = {content.get(node, {}).get('controller', usual) for node in nodes}
    assert {f'{name}/joint_trajectory' for name in named} == {topic}
    assert topic.startswith({'fr3': 'fr3_arm', 'ur10e': 'scaled_joint'}.get(file.stem, 'joint'))


def test_robots_of_the_package_have_names():
    pytest.importorskip('robodyn_ros.msg', reason='the share folder is that of the built package')
    assert load_robot('puma#semi_static').content['model']['dynamic_model'] == 2
    for name in ('six', 'six_axis.urdf', 'six_axis#'):
        if name.endswith('#'):
            assert load_robot(name).variant == ''
            continue
        with pytest.raises(
            ConfigError, match=r'there is no robot .* only .*six_axis, ur10, ur10e: give'
        ):
            load_robot(name)


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ('urdf: [', 'the robot file .* cannot be read'),
        ([], r'arm\.yaml: expected a mapping of names to values, got \[\]'),
        ({}, r'arm\.yaml: section urdf .* is missing, or section model'),
        ({'urdf': 3}, r'arm\.yaml: urdf must be a text, got 3'),
        (
            {**ROBOT, 'limts': {}},
            r"unknown entry 'limts', expected some of .'urdf', 'model', ",
        ),
        ({**ROBOT, 'limits': [1]}, r'limits must be a mapping of names to values, got \[1\]'),
        ({**ROBOT, 'variants': {'v': {'cel': {}}}}, "section variants.v: unknown entry 'cel'"),
        (
            {**ROBOT, 'variants': {'v': 1}},
            'section variants.v: expected a mapping of names',
        ),
        ({**ROBOT, 'variants': [1]}, r'variants must be a mapping of names to values, got \[1\]'),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(file, content, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        load_robot(file(content))
    assert '\n' not in str(caught.value)


def test_an_unknown_variant_and_a_missing_file_are_refused(file, tmp_path):
    with pytest.raises(ConfigError, match="no variant 'fast', there are: slow"):
        load_robot(f'{file(ROBOT)}#fast')
    with pytest.raises(ConfigError, match=r'the robot file .*none\.yaml cannot be read'):
        load_robot(tmp_path / 'none.yaml')


@pytest.mark.parametrize('value', ['', '[1, true]', '[[1.0]]', '2020-01-01', '[]'])
def test_a_value_that_no_parameter_can_have_is_refused_with_its_section(file, value):
    robot = load_robot(file(f'urdf: a.urdf\nfeedforward:\n  max_torque: {value}\n'))
    sentence = r'arm\.yaml, section feedforward: max_torque must be true or false, an integer'
    with pytest.raises(ConfigError, match=sentence):
        robot.parameters('feedforward')


def test_readers_of_one_purpose_say_which_section_is_missing_or_wrong(file):
    path = file({'urdf': 'a.urdf', 'demo': {}})
    base = JointLimits.from_urdf(read_urdf(load_robot(EXAMPLE).urdf))
    for read, error, section in (
        (lambda: load_limits(path, base), ConfigError, 'limits'),
        (lambda: EffortDeclaration.from_file(path), ConfigError, 'effort'),
        (lambda: load_model(path), ModelError, 'model'),
        (lambda: CellConfig.from_yaml(path), CellError, 'cell'),
    ):
        with pytest.raises(error, match=rf'arm\.yaml: section {section} is missing'):
            read()
    path = file(
        {
            'urdf': 'a.urdf',
            'limits': {'joint1': {'max_velocity': 'fast'}},
            'effort': {'unit': 'Nm', 'sid': 'joint'},
            'model': {'kind': 'scara'},
            'cell': {'speed': 1},
        }
    )
    for read, error, sentence in (
        (
            lambda: load_limits(path, base),
            ConfigError,
            "limits: joint 'joint1': max_velocity .*'f",
        ),
        (lambda: EffortDeclaration.from_file(path), ConfigError, 'effort: there is no effort.sid'),
        (
            lambda: load_model(path),
            ModelError,
            'model: a model of kind scara: entry .dynamic_model. is missing',
        ),
        (lambda: CellConfig.from_yaml(path), CellError, "cell: unknown entry 'speed'"),
    ):
        with pytest.raises(error, match=rf'arm\.yaml, section {sentence}'):
            read()


@pytest.mark.parametrize(
    'content',
    [
        {'urdf': 'a.urdf', 'joints': {}},
        {'kind': 'urdf', 'urdf': 'a.urdf'},
        {'joint_limits': {'a': {}}},
        {'effort': {'unit': 'Nm'}},
        {'excitation': {'ros__parameters': {'effort.unit': 'Nm'}}},
    ],
)
def test_files_with_one_purpose_are_read_as_before(file, content):
    part = read_part(file(content), 'effort', 'the file')
    assert (part.content, part.robot) == (content, None)


@pytest.mark.parametrize('path', [EXAMPLE, *sorted(CONFIG.glob('robots/*.yaml'))], ids=str)
def test_every_section_of_our_robots_can_be_used(path, tmp_path):
    robot = load_robot(path)
    limits = load_limits(path, JointLimits.from_urdf(read_urdf(urdf_of(path, tmp_path))))
    motion = robot.section('excitation', 'this test')['motion']
    check_motion(build_motion({'joints': list(limits.joints), **motion}), limits)
    EffortDeclaration.from_file(path).for_joints(limits.joints)
    if 'model' in robot.content:
        assert set(load_model(path).joint_names) <= set(limits.joints)
    if 'cell' in robot.content:
        assert set(RobotCell(CellConfig.from_yaml(path)).joints) == set(limits.joints)
    if 'demo' in robot.content:
        read_facts(robot)


def test_the_example_shows_every_section_and_its_simulation():
    assert set(yaml.safe_load(EXAMPLE.read_text())) == {field.name for field in fields(Sections)}
    joints = [f'joint{number}' for number in range(1, 5)]
    effort = EffortDeclaration.from_file(f'{EXAMPLE}#simulated').for_joints(joints)
    assert effort.feedback_is_si and effort.command_is_si
    np.testing.assert_array_equal(effort.scale, 1.0)
