# SPDX-License-Identifier: Apache-2.0
"""Profiles of the drives."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cells import sine
from robots import SIX_AXIS

from robodyn_ros.cell.config import CellConfig, JointConfig
from robodyn_ros.cell.profiles import DEFAULT, over_profile, profiles
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.errors import CellError

ROBOTS = Path(__file__).resolve().parents[2] / 'config' / 'robots'
DEMO = ('six_axis', 'axis', 'scara3', 'scara', 'delta3', 'delta', 'puma')


def made(**content):
    return CellConfig.from_mapping({'urdf': str(SIX_AXIS), **content})


def test_a_profile_holds_where_the_file_says_nothing():
    config = made(
        profile='cobot',
        defaults={'velocity_bandwidth': 33.0},
        joints={'joint1': {'deflection': 2e-3}},
        cycle_jitter=0.02,
    )
    cobot = profiles()['cobot']['defaults']
    one, other = config.joints['joint1'], config.defaults
    assert (one.deflection, other.deflection) == (2e-3, cobot['deflection'])
    assert one.velocity_bandwidth == other.velocity_bandwidth == 33.0
    assert one.position_bandwidth == cobot['position_bandwidth']
    assert config.cycle_jitter == 0.02 and made(profile='cobot').cycle_jitter == 0.05


def test_industrial_is_the_default_and_ideal_is_the_defaults_of_the_keys():
    assert made() == made(profile=DEFAULT) and DEFAULT == 'industrial'
    assert made(profile='ideal').defaults == JointConfig()
    assert made(profile='ideal').cycle_jitter == 0.0


def test_a_profile_is_chosen_over_that_of_the_file(tmp_path):
    file = tmp_path / 'cell.yaml'
    file.write_text(f'urdf: {SIX_AXIS}\nprofile: cobot\n')
    assert CellConfig.from_yaml(file).profile == 'cobot'
    assert CellConfig.from_yaml(file, profile='ideal') == replace(made(profile='ideal'))


def test_a_profile_that_does_not_exist_is_refused():
    with pytest.raises(CellError, match=r"no profile 'perfect', there are: ideal, industrial, c"):
        made(profile='perfect')
    with pytest.raises(CellError, match='x: there is no profile'):
        over_profile({'profile': ['ideal']}, 'x')


def test_the_velocity_loops_of_real_cells_have_20_to_60_hz():
    for name in ('industrial', 'cobot'):
        assert 20.0 <= made(profile=name).defaults.velocity_bandwidth <= 60.0


@pytest.mark.parametrize('profile', ['industrial', 'cobot'])
@pytest.mark.parametrize('robot', DEMO)
def test_tracking_errors_without_torque_are_those_of_real_cells(robot, profile):
    """0.5 to 5 mrad, or some 0.1 mm of linear joints, in motions of 1.5 to 3 rad/s."""
    cell = RobotCell(CellConfig.from_yaml(ROBOTS / f'{robot}.yaml', profile=profile))
    errors = []
    for cycle in range(1500):
        state = cell.step(sine(cell, cycle * cell.period, 1.0)[0], np.zeros(len(cell.joints)))
        setpoint = 0.5 * (cell.drives._commands[1] + cell.drives._commands[2])
        errors.append(setpoint - state.position)
    largest = np.abs(errors).max(axis=0).max()
    assert 0.5e-3 < largest < 20e-3
