# SPDX-License-Identifier: Apache-2.0
"""Drivers with another meaning of efforts, and the feed-forward on them."""

import numpy as np
import pytest
from additive_torque import AdditiveTorque
from cells import IDEAL, LENGTH, MASS, pendulum
from control_arm import six_axis_cell
from robots import SIX_AXIS

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
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


@pytest.mark.parametrize(('word', 'error'), [(None, (30.0, 1e4)), ('excluded', (0.0, 1.0))])
def test_the_feedforward_leaves_gravity_to_a_robot_that_adds_it(word, error):
    """As Franka's: joint states with gravity, commands without. None: what doubling it costs."""
    driver = {'gravity': 'included', 'command_gravity': 'excluded'}
    cell = cell_of(str(SIX_AXIS), driver)
    declared = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included', 'command_gravity': word}
    effort = EffortDeclaration.from_mapping(declared).for_joints(cell.joints)
    torque = six_axis_cell()[1]
    torque.exclude_gravity(effort.command_gravity_excluded)
    settings = FeedforwardSettings(joints=cell.joints, max_torque=cell.axes['max_torque'])
    law = AdditiveTorque(torque=torque, settings=settings)
    still, differences = np.zeros(len(cell.joints)), []
    for q in np.random.default_rng(3).uniform(-1.0, 1.0, (5, len(cell.joints))):
        for _ in range(400):  # all ramps and limits of the rate have passed
            command = effort.command(law.update(q, still, still))
        needed = cell.plant.gravity(q)
        acting = cell._driver.torque(command, q)
        differences.append(acting - needed)
    rms = np.sqrt(np.mean(np.square(differences)))
    assert error[0] <= rms < error[1]


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
        ({'effort_per_torque': 0.0}, 'effort_per_torque must be a number other than 0'),
        ({'command_per_torque': [1.0, 2.0]}, 'needs one number, or one for each of the 1 joints'),
        ({'controllers': ['a']}, 'controllers must be a mapping of names to names'),
    ],
)
def test_a_driver_that_cannot_be_is_refused(driver, sentence):
    with pytest.raises(CellError, match=sentence):
        pendulum_cell(driver)
