# SPDX-License-Identifier: Apache-2.0
"""Configuration of the cell."""

import math
from pathlib import Path

import pytest

from robodyn_ros.cell.config import CellConfig, JointConfig
from robodyn_ros.errors import CellError
from robodyn_ros.robot_file import load_robot

FOLDER = Path(__file__).resolve().parents[2] / 'config' / 'robots'
CONFIGS = sorted(path for path in FOLDER.glob('*.yaml') if 'cell' in load_robot(path).content)


def test_what_is_not_given_follows_from_the_limits():
    numbers = JointConfig().fill_defaults(effort=200.0, velocity=2.0, prismatic=False)
    assert numbers['max_torque'] == 200.0 and numbers['rated_torque'] == 100.0
    assert numbers['coulomb_friction'] == 4.0 and numbers['static_friction'] == 4.8
    assert numbers['viscous_friction'] == pytest.approx(3.0)
    assert numbers['encoder_resolution'] == 2 * math.pi / 2**19 / 100
    assert JointConfig().fill_defaults(effort=1, velocity=1, prismatic=True)[
        'encoder_resolution'
    ] == pytest.approx(1e-6)


def test_what_is_given_is_kept():
    joint = JointConfig(max_torque=50.0, coulomb_friction=0.0, encoder_side='joint')
    numbers = joint.fill_defaults(effort=200.0, velocity=2.0, prismatic=False)
    assert numbers['rated_torque'] == 25.0 and numbers['static_friction'] == 0.0
    assert numbers['encoder_resolution'] == 2 * math.pi / 2**19
    with pytest.raises(CellError, match='neither max_torque nor an effort limit'):
        JointConfig().fill_defaults(effort=0.0, velocity=1.0, prismatic=False)


def test_defaults_are_overlaid_by_the_joints_own_values(tmp_path):
    file = tmp_path / 'cell.yaml'
    file.write_text(
        'urdf: robot.urdf\ngravity: [0, 0, -1.6]\ndefaults: {gear_ratio: 50, torque_noise: 0}\n'
        'joints: {a: {gear_ratio: 80}}\n'
    )
    config = CellConfig.from_yaml(file)
    assert config.urdf == str(tmp_path / 'robot.urdf')
    assert config.gravity == (0.0, 0.0, -1.6)
    assert config.joints['a'].gear_ratio == 80 and config.joints['a'].torque_noise == 0
    assert config.defaults.gear_ratio == 50
    assert CellConfig.from_yaml(file, urdf='/other.urdf').urdf == '/other.urdf'


@pytest.mark.parametrize('path', CONFIGS, ids=lambda path: path.stem)
def test_every_configuration_of_ours_names_an_existing_robot(path):
    assert Path(CellConfig.from_yaml(path).urdf).exists()


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        ({}, 'a cell needs a urdf'),
        ({'urdf': 'x', 'speed': 1}, "unknown entry 'speed'"),
        ({'urdf': 'x', 'defaults': {'fricton': 1}}, "defaults: unknown entry 'fricton'"),
        (
            {'urdf': 'x', 'joints': {'a': {'gear_ratio': 0}}},
            'gear_ratio must be a finite number > 0',
        ),
        (
            {'urdf': 'x', 'joints': {'a': {'rotor_inertia': -1}}},
            'must be a finite number >= 0.*, got -1',
        ),
        ({'urdf': 'x', 'joints': {'a': {'rotor_inertia': 'big'}}}, "a finite number, got 'big'"),
        ({'urdf': 'x', 'joints': ['a']}, 'joints: expected names with values'),
        (
            {'urdf': 'x', 'defaults': {'encoder_bits': 99}},
            'an integer <= 48, got 99',
        ),
        (
            {'urdf': 'x', 'defaults': {'encoder_side': 'tool'}},
            "one of motor, joint, got 'tool'",
        ),
        ({'urdf': 'x', 'command_delay': 0}, 'must be an integer >= 1, got 0'),
        ({'urdf': 'x', 'substeps': 1.5}, 'substeps must be an integer, got 1.5'),
        (
            {'urdf': 'x', 'servo_period': 2.0},
            'a finite number <= 0.1, got 2.0',
        ),
        ({'urdf': 'x', 'gravity': [0, 0]}, 'gravity must be a list of length 3'),
    ],
)
def test_entries_that_cannot_be_used_are_named(content, sentence):
    with pytest.raises(CellError, match=sentence):
        CellConfig.from_mapping(content)


def test_files_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(CellError, match=r'absent\.yaml cannot be read'):
        CellConfig.from_yaml(tmp_path / 'absent.yaml')
    file = tmp_path / 'cell.yaml'
    for text, sentence in (('a: [', 'cannot be read'), ('- 1', 'must be a mapping')):
        file.write_text(text)
        with pytest.raises(CellError, match=sentence):
            CellConfig.from_yaml(file)
