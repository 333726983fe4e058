# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
from additive_torque import AdditiveTorque
from control_arm import CELL, completed
from settling import settling

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.models.catalog import robot_model

CONFIG = CELL.parents[1]


def test_friction_stays_where_it_was_until_the_motion_turns():
    held = StandstillFriction(window=[0.1])
    qd = np.array([[0.0], [0.05], [0.2], [0.05], [0.0], [-0.05], [-0.2], [0.0], [0.1], [0.0]])
    expected = [0.0, 0.05, 0.2, 0.1, 0.1, 0.1, -0.2, -0.1, 0.1, 0.1]
    np.testing.assert_array_equal(held.velocities(qd)[:, 0], expected)
    held.clear()
    assert held.velocity(np.array([-0.05])) == -0.05


def test_without_a_window_the_sign_of_the_last_motion_is_kept():
    held = StandstillFriction(window=[0.0, 0.0])
    held.velocity(np.array([2.0, -1e-9]))
    zero = np.zeros(2)
    kept = held.velocity(zero)
    assert not zero.any(), 'the reference of the caller stays as it is'
    np.testing.assert_array_equal(np.sign(kept), [1.0, -1.0])
    assert np.abs(kept).max() < 1e-300


def test_friction_stays_for_half_of_the_fade_time_and_is_gone_at_its_end():
    held = StandstillFriction(window=[0.1, 0.1], fade_time=0.04, period=0.002)
    qd = np.array([[0.3, -0.3], *[[0.0, 0.05]] * 25])
    taken = held.velocities(qd)
    rest = 0.002 * np.arange(1, 26)
    share = np.interp(rest, [0.02, 0.04], [1.0, 0.0])
    np.testing.assert_allclose(taken[1:, 0], 0.1 * share, atol=1e-15)
    # A joint that creeps goes over to the friction of its velocity.
    np.testing.assert_allclose(taken[1:, 1], -0.1 * share + 0.05 * (1.0 - share), atol=1e-15)
    assert held.velocity(np.array([0.0, 0.05])).tolist() == [0.0, 0.05]
    assert held.velocities(np.array([[-0.3, 0.0], [0.0, 0.0]]))[-1].tolist() == [-0.1, 0.0]


def test_without_a_window_friction_fades_out_too():
    model = robot_model(CONFIG.parent / 'urdf' / 'single_axis.urdf', friction=['coulomb'])
    values = np.append(np.zeros(len(model.parameters) - 1), 8.0)
    torque = ModelTorque(model, values)
    held = StandstillFriction(window=[0.0], fade_time=0.04, period=0.002)
    held.velocity(np.array([1.0]))
    found = [torque.friction(held.velocity(np.zeros(1)))[0] for _ in range(20)]
    np.testing.assert_allclose(found[:10], 8.0)
    assert found[-1] == 0.0


def test_no_samples_give_none():
    assert StandstillFriction(window=[0.1, 0.0]).velocities(np.zeros((0, 2))).shape == (0, 2)


def stopped(dropped):
    """Settling within 1 um of a linear axis that moves with the model of its own cell."""
    config = CellConfig.from_yaml(CONFIG / 'robots' / 'single_axis.yaml', profile='ideal')
    joint = replace(
        config.joints['joint1'], coulomb_friction=40.0, static_friction=55.0,
        stribeck_velocity=0.02, encoder_resolution=1e-8,
    )  # fmt: skip
    cell = RobotCell(replace(config, joints={'joint1': joint}))
    model = robot_model(CONFIG.parent / 'urdf' / 'single_axis.urdf')
    names = ('rotor_inertia', 'coulomb_friction', 'viscous_friction')
    values = completed(model, {name: cell.axes[name] for name in names})
    torque = ModelTorque(model, values, velocity_window=0.001)
    if dropped:
        torque.velocity_window = np.array([np.inf])
    settings = FeedforwardSettings(
        joints=model.joint_names, max_torque=500.0, ramp_up_time=0.002, max_torque_rate=1e5
    )
    law = AdditiveTorque(torque=torque, settings=settings)
    move = PointToPoint(joints=model.joint_names, start=[0.0], target=[0.1], duration=0.5)
    motion = move.sample(cell.period * np.arange(400))
    error = []
    for row in zip(motion.position, motion.velocity, motion.acceleration, strict=True):
        error.append(abs(0.1 - cell.state.position[0]))
        cell.step(row[0], law.update(*row))
    time = cell.period * np.arange(len(error))
    return settling(time, np.array(error), end=0.5, tolerance=1e-6, duration=0.02).entered


def test_an_axis_settles_sooner_when_its_friction_torque_stays():
    kept, dropped = stopped(dropped=False), stopped(dropped=True)
    assert kept < 0.08
    assert dropped > 2.0 * kept
