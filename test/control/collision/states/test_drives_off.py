# SPDX-License-Identifier: Apache-2.0
"""Drives that go off are a state, and contacts are found as if there were no such state."""

from __future__ import annotations

import numpy as np
import pytest
from control_arm import six_axis_cell, small_arm

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.drives_off import DrivesOff
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array

PERIOD = 0.004
TORQUE = six_axis_cell()[1]
THRESHOLDS = np.array([40.0, 60.0, 30.0, 5.0, 5.0, 3.0])
OFF = 1.0
"""Time at which the drives go off, in [s]."""


def motion(seed: int, moves: bool, brakes: float = 0.1) -> tuple[Array, Array, Array, Array]:
    """Time (N,), position, velocity and torque (N, 6); from `OFF` on brakes stop the robot."""
    random = np.random.default_rng(seed)
    time = PERIOD * np.arange(round(2.5 / PERIOD))
    middle = random.uniform(-1.0, 1.0, 6)
    middle[1:3] = [random.uniform(0.5, 1.0), random.uniform(-0.5, 0.0)]  # two joints feel weight
    rate, size = random.uniform(1.0, 2.0, (2, 6)) * [[1.0], [0.5 * moves]]
    slow = np.clip((OFF + brakes - time) / brakes, 0.0, 1.0)[:, None]
    angle = PERIOD * np.cumsum(slow, axis=0) * rate
    q, qd = middle + size * np.sin(angle), size * rate * np.cos(angle) * slow
    torque = TORQUE.torque(q, qd, -(rate**2) * size * np.sin(angle) * slow)
    return time, q, qd, torque


def run(time: Array, q: Array, qd: Array, torque: Array) -> tuple[list[int], TorqueErrorDetector]:
    settings = CollisionSettings(
        TORQUE.joints, THRESHOLDS, period=PERIOD, low_velocity_torque=0.2 * THRESHOLDS
    )
    detector, worst = TorqueErrorDetector(torque=TORQUE, settings=settings), []
    torque = torque + np.random.default_rng(9).normal(size=q.shape) * 0.02 * THRESHOLDS
    for sample in zip(time.tolist(), q, qd, torque, strict=True):
        worst.append(int(detector.update(*sample).max()))
    return worst, detector


@pytest.mark.parametrize('moves', [False, True])
@pytest.mark.parametrize('decay', [0.0, 0.02, 0.06])
def test_drives_that_go_off_are_unknown_and_no_collision(moves: bool, decay: float) -> None:
    for seed in range(5):
        time, q, qd, torque = motion(seed, moves)
        torque[time >= OFF] = torque[time < OFF][-1]  # brakes have the rest
        torque *= np.exp(-np.maximum(time - OFF, 0.0) / max(decay, 1e-9))[:, None]
        worst, detector = run(time, q, qd, torque)
        assert max(worst) < Level.COLLISION, seed
        assert worst[-1] == Level.UNKNOWN
        assert detector.message == (
            'the torques of all joints fell to zero: the drives are off'
        ), seed


def test_drives_that_are_on_again_are_monitored_again() -> None:
    time, q, qd, torque = motion(1, False)
    torque *= np.interp(time, [OFF, OFF + 0.1, OFF + 0.6, OFF + 0.8], [1.0, 0.0, 0.0, 1.0])[
        :, None
    ]
    worst, _ = run(time, q, qd, torque)
    assert max(worst) < Level.COLLISION and worst[round(1.4 / PERIOD)] == Level.UNKNOWN
    assert worst[-1] == Level.OK


def test_drives_that_are_on_again_with_less_torque_are_monitored_again() -> None:
    """Static friction holds the remainder, or something carries the robot."""
    time, q, qd, torque = motion(1, False)
    share = np.interp(time, [OFF, OFF + 0.1, OFF + 0.6, OFF + 0.8], [1.0, 0.0, 0.0, 0.6])
    worst, _ = run(time, q, qd, torque * share[:, None])
    assert worst[round(1.4 / PERIOD)] == Level.UNKNOWN and worst[-1] == Level.COLLISION


def test_torque_that_returns_in_part_says_what_to_do_and_a_motion_ends_it() -> None:
    """A brake carries most of the robot until it opens."""
    time, q, qd, torque = motion(1, False)
    share = np.interp(time, [OFF, OFF + 0.1, OFF + 0.3, OFF + 0.4], [1.0, 0.0, 0.0, 0.3])
    worst, detector = run(time, q, qd, torque * share[:, None])
    assert worst[-1] == Level.UNKNOWN and 'move the robot' in detector.message
    x = np.clip((time - 2.0) / 0.4, 0.0, 1.0)[:, None]
    q = q + 0.2 * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    qd = np.gradient(q, PERIOD, axis=0)
    moved = TORQUE.torque(q, qd, np.gradient(qd, PERIOD, axis=0))
    opens = (time < 2.15)[:, None]  # the brake, while the robot moves
    worst, _ = run(time, q, qd, np.where(opens, share[:, None] * torque, moved))
    assert worst[round(1.9 / PERIOD)] == Level.UNKNOWN and worst[-1] == Level.OK
    assert max(worst) < Level.COLLISION


def test_a_single_loaded_joint_that_loses_its_torque_is_no_state() -> None:
    drives = DrivesOff(1, PERIOD)
    for _ in range(100):
        drives.push(np.full(1, 20.0), np.zeros(1))
    one = np.ones(1)
    assert not drives.falls(0.0 * one, 0.0 * one, 5.0 * one, 0.1 * one, 20.0 * one)


@pytest.mark.parametrize('seed', [142, 162, 218, 280])
def test_a_contact_that_takes_the_torque_of_one_of_two_joints_is_no_state(seed: int) -> None:
    """The other one has little torque, or loses it by its motion at the same time."""
    random, time = np.random.default_rng(seed), 0.002 * np.arange(280)
    phase, rate = random.uniform(0.0, 6.28, 2), random.uniform(1.0, 4.0, 2)
    angle = rate * time[:, None] + phase
    q, qd = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle)
    model, values = small_arm()
    torque = model.torque(q, qd, -(rate**2) * q, values)
    torque[250:, 1] = 0.0
    thresholds = np.array([10.0, 5.0])
    settings = CollisionSettings(
        model.joint_names, thresholds, period=0.002, low_velocity_torque=0.2 * thresholds
    )
    detector = TorqueErrorDetector(torque=ModelTorque(model, values), settings=settings)
    levels = [int(detector.update(*row).max()) for row in zip(time, q, qd, torque, strict=True)]
    assert max(levels[:250]) == Level.OK and Level.COLLISION in levels[250:]


@pytest.mark.parametrize('moves', [False, True])
def test_a_push_is_found_as_soon_as_without_this_state(
    moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, found = np.random.default_rng(3), []
    pushed = []
    for seed in range(12):
        time, q, qd, torque = motion(seed, moves, brakes=10.0)
        joint, size = int(random.integers(6)), random.uniform(1.5, 4.0) * random.choice([-1, 1])
        torque[time >= 1.2, joint] += size * THRESHOLDS[joint]
        pushed.append((time, q, qd, torque))
    for falls in (DrivesOff.falls, lambda *_: False):
        monkeypatch.setattr(DrivesOff, 'falls', falls)
        found.append([run(*each)[0].index(Level.COLLISION) for each in pushed])
    assert found[0] == found[1]


def test_a_slow_fall_of_all_torques_is_a_collision_in_the_end() -> None:
    """Something carries the robot."""
    time, q, qd, torque = motion(2, False)
    torque *= np.interp(time, [OFF, OFF + 0.1], [1.0, 0.5])[:, None]
    worst, _ = run(time, q, qd, torque)
    assert worst[-1] == Level.COLLISION and OFF < time[worst.index(Level.COLLISION)] < OFF + 0.45
