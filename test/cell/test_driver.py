# SPDX-License-Identifier: Apache-2.0
"""Drivers with another meaning of efforts, and the feed-forward on them."""

import numpy as np
import pytest
from cells import IDEAL, LENGTH, MASS, pendulum
from control_arm import six_axis_cell
from robots import SIX_AXIS

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.errors import CellError

WEIGHT = MASS * 9.81 * LENGTH


def cell_of(urdf, driver, **axis):
    content = {'urdf': urdf, 'profile': 'ideal', 'defaults': axis, 'driver': driver}
    return RobotCell(CellConfig.from_mapping(content))


def pendulum_cell(driver):
    return cell_of(pendulum(), driver, initial_position=0.7, encoder_bits=30, **IDEAL)


def held(cell, command):
    for _ in range(600):
        state = cell.step(cell.plant.initial, command)
    return state


def test_a_driver_reports_effort_without_gravity_and_in_its_unit():
    state = held(pendulum_cell({'gravity': 'excluded', 'effort_per_torque': -0.5}), [0.0])
    assert state.plant_torque[0] == pytest.approx(WEIGHT * np.sin(0.7), rel=1e-4)
    assert abs(state.torque[0]) < 1e-3
    state = held(pendulum_cell({'effort_per_torque': -0.5}), [0.0])
    assert state.torque[0] == pytest.approx(-0.5 * WEIGHT * np.sin(0.7), rel=1e-4)


def test_a_robot_adds_its_gravity_to_commands_in_the_unit_of_the_driver():
    cell = pendulum_cell({'command_gravity': 'excluded', 'command_per_torque': [4.0]})
    cell.drives.velocity_gain *= 0.0  # only the offset moves the joint
    cell.drives._integral_gain *= 0.0
    weight = WEIGHT * np.sin(0.7)
    state = cell.step(cell.plant.initial, [8.0])
    assert state.plant_torque[0] == pytest.approx(2.0 + weight, rel=1e-4)


def test_gravity_of_the_plant_is_that_of_inverse_dynamics():
    cell = cell_of(str(SIX_AXIS), {})
    q = np.array([0.3, -0.4, 0.7, 0.2, -0.9, 0.1])
    still = np.zeros((1, 6))
    expected = six_axis_cell()[1].body(q[None], still, still)[0]
    np.testing.assert_allclose(cell.plant.gravity(q), expected, atol=1e-6)
    assert np.abs(expected).max() > 50.0


@pytest.mark.parametrize(
    ('driver', 'sentence'),
    [
        ({'gravty': 'included'}, "driver: unknown entry 'gravty', expected some of"),
        ({'gravity': 'yes'}, "driver: gravity must be one of .* got 'yes'"),
        ({'effort_per_torque': 0.0}, 'effort_per_torque must not be 0, got 0.0'),
        ({'command_per_torque': [1.0, 2.0]}, 'needs one number, or one for each of the 1 joints'),
        ({'controllers': ['a']}, 'controllers must be a mapping of names to values'),
    ],
)
def test_a_driver_that_cannot_be_is_refused(driver, sentence):
    with pytest.raises(CellError, match=sentence):
        pendulum_cell(driver)
