# SPDX-License-Identifier: Apache-2.0
"""The law in the controller's loop, as the plugin runs it, against effort in trajectories.

Both on the simulated six-axis cell with the same joint_trajectory_controller (JTC): the plugin's
law is evaluated at the reference that the JTC samples in a cycle; the Python node's trajectory
mode writes the torque into the trajectory before.
"""

import numpy as np
import pytest
from additive_torque import AdditiveTorque
from control_arm import six_axis_cell

from robodyn_ros.cell.controllers import Controllers
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.trajectory_effort import trajectory_effort
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints

PERIOD = 0.002
MOVING = 3.0
BEFORE = 0.5
"""The plugin is active before a motion begins, and goes on after it, in [s]."""
LAG = 3.5
"""Cycles from a command to the middle of the set-points that the drive makes of it."""


def motion(joints):
    """Three seconds there and back, in points every 20 ms."""
    time = np.linspace(0.0, MOVING, 151)
    x = 2.0 * np.pi * time[:, None] / MOVING
    size = np.array([0.5, 0.3, -0.4, 0.5, 0.4, 0.6])
    rate = 2.0 * np.pi / MOVING
    # (1 - cos)^2 / 2 starts and ends with neither velocity nor acceleration
    position = size * (1.0 - np.cos(x)) ** 2 / 2.0
    velocity = size * rate * (1.0 - np.cos(x)) * np.sin(x)
    acceleration = size * rate**2 * (np.sin(x) ** 2 + (1.0 - np.cos(x)) * np.cos(x))
    velocity[-1] = 0.0
    return TrajectoryPoints(joints, time, position, velocity, acceleration)


def with_effort(points, torque, settings):
    """The same trajectory as the Python node passes it on."""
    plan = trajectory_effort(SplineTrajectory(points=points), torque, settings)
    return TrajectoryPoints(
        plan.joints, plan.time, plan.position, plan.velocity, plan.acceleration, plan.effort
    )


def tracking_error(way: str):
    """RMS of the following error of each joint while it moves, shape (6,), in [rad]."""
    cell, torque = six_axis_cell()
    settings = FeedforwardSettings(
        joints=torque.joints, max_torque=cell.axes['max_torque'], ramp_up_time=0.25
    )
    law = AdditiveTorque(torque=torque, settings=settings)
    controllers = Controllers(joints=cell.joints, position=cell.plant.initial)
    points = motion(cell.joints)
    points = with_effort(points, torque, settings) if way == 'trajectory' else points
    commanded, reached = [], []
    for cycle in range(round((BEFORE + MOVING + 0.2) / PERIOD)):
        now = cycle * PERIOD
        if cycle == round(BEFORE / PERIOD):
            controllers.accept_trajectory(points, now=now)
        reference = controllers.update(now)
        effort = reference.effort
        if way == 'plugin':
            effort = law.update(reference.position, reference.velocity, reference.acceleration)
        reached.append(cell.state.plant_position)
        commanded.append(reference.position)
        cell.step(reference.position, effort)
    at = np.arange(len(commanded)) - LAG
    wanted = np.array(commanded)
    drive = np.array([np.interp(at, np.arange(len(wanted)), column) for column in wanted.T]).T
    rows = slice(round(BEFORE / PERIOD), round((BEFORE + MOVING) / PERIOD))
    return np.sqrt(np.square(np.array(reached) - drive)[rows].mean(axis=0))


@pytest.fixture(scope='module')
def errors():
    return {way: tracking_error(way) for way in ('none', 'trajectory', 'plugin')}


def test_tracking_error_with_the_plugins_law_is_no_worse_than_in_trajectory_mode(errors):
    plugin, trajectory, none = (
        float(np.sqrt(np.square(errors[way]).sum())) for way in ('plugin', 'trajectory', 'none')
    )
    assert plugin <= trajectory
    assert trajectory < 0.4 * none


def test_every_joint_follows_better_than_without(errors):
    assert (errors['plugin'] < errors['none']).all()
