# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
import yaml
from described import urdf_of

from robodyn_ros.control.effort.declaration import EffortDeclaration, missing_declaration
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.recording.bags.bag_metadata import EFFORT_KEY
from robodyn_ros.robot_file import load_robot

ROOT = Path(__file__).resolve().parents[3]
SI = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
DRIVE = {
    'joints': ['a', 'b'],
    'unit': ['permille_rated_current', 'Nm'],
    'side': ['motor', 'joint'],
    'gravity': 'included',
    'rated_current': [4000.0, 0.0],
    'torque_constant': [0.5, 0.0],
    'gear_ratio': [100, 0],
    'direction': [-1, 1],
}


def test_one_value_serves_whatever_joints():
    found = EffortDeclaration.from_mapping(SI).for_joints(['x', 'y', 'z'])
    assert found.joints == ('x', 'y', 'z') and found.feedback_is_si
    assert not found.gravity_excluded.any()


def test_lists_are_matched_by_name():
    found = EffortDeclaration.from_mapping(DRIVE).for_joints(['b', 'a'])
    np.testing.assert_allclose(found.scale, [1.0, -1e-6 * 0.5 * 4000.0 * 100.0])
    assert found.unit == ('Nm', 'permille_rated_current')
    with pytest.raises(ConfigError, match="effort of joint 'c' is missing, there are a, b"):
        EffortDeclaration.from_mapping(DRIVE).for_joints(['a', 'c'])


def test_a_list_of_one_is_for_all_joints():
    found = EffortDeclaration.from_mapping({**DRIVE, 'gravity': ['excluded']})
    assert found.for_joints(['a', 'b']).gravity_excluded.all()
    for joints in ({}, {'joints': ['a']}):
        alone = EffortDeclaration.from_mapping({**SI, **joints, 'direction': [-1]})
        assert alone.for_joints(['a']).direction.tolist() == [-1.0]


def test_commands_may_have_a_unit_of_their_own():
    found = EffortDeclaration.from_mapping({**SI, 'command_unit': 'SI'}).for_joints(['a'])
    assert (found.unit, found.command_unit) == (('Nm',), ('SI',))


def test_commands_may_have_another_gravity_than_joint_states(tmp_path):
    found = EffortDeclaration.from_mapping({**SI, 'command_gravity': 'excluded'})
    both = found.for_joints(['a'])
    assert both.command_gravity_excluded.all() and not both.gravity_excluded.any()
    same = EffortDeclaration.from_mapping({**SI, 'gravity': 'excluded'}).for_joints(['a'])
    assert same.command_gravity_excluded.all() and same.gravity_excluded.all()
    read = EffortDeclaration.from_metadata(found.metadata(), source='a bag')
    assert read.for_joints(['a']).command_gravity == ('excluded',)
    with pytest.raises(ConfigError, match=r'effort.command_gravity must be one of included, ex'):
        EffortDeclaration.from_mapping({**SI, 'command_gravity': 'no'})


def test_a_bare_n_that_yaml_has_made_no_of_is_newton():
    found = EffortDeclaration.from_mapping({**SI, 'unit': False}).for_joints(['a'])
    assert found.unit == found.command_unit == ('N',)


def test_metadata_carry_it():
    for mapping in (SI, DRIVE):
        first = EffortDeclaration.from_mapping(mapping)
        again = EffortDeclaration.from_metadata(first.metadata(), source='the bag')
        assert (again.joints, again.values) == (first.joints, first.values)
        assert again.source == 'the bag'
    assert EffortDeclaration.from_metadata({}, source='the bag') is None
    for text in ('{', '[1]', '{"unit": "Nmm", "side": "joint", "gravity": "included"}'):
        with pytest.raises(ConfigError, match='the bag'):
            EffortDeclaration.from_metadata({EFFORT_KEY: text}, source='the bag')


@pytest.mark.parametrize(
    'document',
    [
        SI,
        {'effort': SI},
        {'/**': {'ros__parameters': {'other': 1, 'effort': SI}}},
        {'/**/recorder': {'ros__parameters': {f'effort.{k}': v for k, v in SI.items()}}},
    ],
)
def test_files_of_parameters_and_of_keys(tmp_path, document):
    file = tmp_path / 'effort.yaml'
    file.write_text(yaml.safe_dump(document))
    assert EffortDeclaration.from_file(file).for_joints(['a']).feedback_is_si


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        ({'unitt': 'Nm'}, 'there is no effort.unitt, there are: joints, unit'),
        ({'unit': 'Nmm'}, "effort.unit must be one of Nm, N, A, .*, got 'Nmm'"),
        ({'side': 'gear'}, "effort.side must be one of joint, motor, got 'gear'"),
        ({'gravity': True}, 'effort.gravity must be one of included, excluded, got True'),
        ({'gravity': None}, 'effort.gravity is missing: declare its meaning'),
        ({'direction': 0.5}, 'effort.direction must be 1 or -1, got 0.5'),
        ({'gear_ratio': 'fifty'}, "effort.gear_ratio must be a number, got 'fifty'"),
        ({'unit': ['Nm', 'N']}, 'effort.unit has 2 values: name their joints in effort.joints'),
        (
            {'joints': ['a', 'b'], 'gear_ratio': [1.0] * 3},
            'effort.gear_ratio .* got 3',
        ),
        ({'joints': ['a', 'a']}, 'effort.joints must be different names'),
    ],
)
def test_what_cannot_be_used(changes, sentence):
    with pytest.raises(ConfigError, match=f'^my file: {sentence}'):
        EffortDeclaration.from_mapping({**SI, **changes}, source='my file')


def test_nothing_declared_says_what_to_declare():
    with pytest.raises(ConfigError, match='is not declared: declare its meaning') as caught:
        EffortDeclaration.from_mapping({}, source='the parameters')
    for word in ('effort.unit', 'effort.side', 'effort.gravity', 'permille_rated_current'):
        assert word in str(caught.value)
    assert str(missing_declaration('x')).startswith('the effort of x is not declared')


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [('effort: [', 'is no YAML'), ('- 1', 'must be a mapping'), ('effort: Nm', 'must be a mapp')],
)
def test_files_that_cannot_be_read(tmp_path, text, sentence):
    file = tmp_path / 'effort.yaml'
    with pytest.raises(ConfigError, match='cannot be read'):
        EffortDeclaration.from_file(file)
    file.write_text(text)
    with pytest.raises(ConfigError, match=sentence):
        EffortDeclaration.from_file(file)


@pytest.mark.parametrize('file', sorted((ROOT / 'config' / 'robots').glob('*')), ids=str)
def test_our_robots_are_declared_as_their_simulated_cell_is(file, tmp_path):
    joints = [
        Joint(item.name, item.type)
        for item in read_urdf(urdf_of(file, tmp_path)).joints
        if item.type in ('revolute', 'continuous', 'prismatic')
    ]
    found = EffortDeclaration.from_file(file).for_joints(joints)
    assert found.feedback_is_si and found.command_is_si
    if load_robot(file).urdf:  # that of a driver may have another gravity
        assert not found.gravity_excluded.any()


def test_the_worked_example_of_drives():
    declared = EffortDeclaration.from_file(ROOT / 'config' / 'example_robot.yaml')
    types = ['revolute', 'revolute', 'prismatic', 'revolute']
    found = declared.for_joints([Joint(f'joint{i + 1}', t) for i, t in enumerate(types)])
    np.testing.assert_allclose(1000.0 * found.scale[0], 257.92)
    np.testing.assert_allclose(1000.0 * found.scale[2], 250.7, rtol=1e-4)
    np.testing.assert_allclose(found.drives.torque_factor()[[0, 2]], [3.877, 3.989], rtol=1e-3)
    # the torque offset that holds what the rated torque does: 1000, whatever the gear
    rated = np.array([3.2 * 80.0, -3.2 * 50.0, 0.8 * 2.0 * np.pi / 0.02, 0.4 * 30.0])
    np.testing.assert_allclose(found.commands(rated), 1000.0)
