# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from healthy_arm import MODEL, VALUES, recorded

from robodyn_ros.analysis.thresholds.session import (
    drives_off,
    feed,
    rest_of_reference,
    session_of,
    with_velocity,
)
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

TORQUE = ModelTorque(MODEL, VALUES)
SETTINGS = CollisionSettings(MODEL.joint_names, 1.0, period=0.01, filter_cutoff=40.0)


def test_gaps_are_left_out_and_reported() -> None:
    data = recorded(6.0, 1)
    whole = session_of(data, TORQUE, SETTINGS)
    assert whole.notes == () and np.flatnonzero(whole.started).tolist() == [0]
    assert np.flatnonzero(whole.used)[0] == 10 and whole.hours == pytest.approx(5.9 / 3600.0)
    rows = np.r_[0:300, 340:600]
    parts = session_of(data.slice(rows), TORQUE, SETTINGS)
    assert parts.used.sum() == len(rows) - 20 and not parts.used[300:310].any()
    assert '20 of 560 samples left out: 1 gaps' in parts.notes[0]


def test_missing_velocities_are_differences_to_the_past() -> None:
    data = recorded(2.0, 1)
    assert with_velocity(data) is data
    assert data.velocity is not None
    found = with_velocity(replace(data, velocity=None)).velocity
    assert found is not None
    # Half a sample late.
    middle = 0.5 * (data.velocity[1:] + data.velocity[:-1])
    np.testing.assert_allclose(found[1:], middle, atol=1e-3)


def test_a_recording_without_a_joint_is_refused() -> None:
    with pytest.raises(ControlError, match='run1 has no joint joint2'):
        session_of(recorded(1.0, 1).select(['joint1']), TORQUE, SETTINGS)


def test_samples_are_those_of_the_detector_and_rest_is_that_of_the_reference() -> None:
    data = recorded(4.0, 1)
    commands = data.time[::2]
    position = np.clip(commands - 11.0, 0.0, 1.0)[:, None] * [1.0, 0.0]
    rests = rest_of_reference(data.time, zip(commands.tolist(), position, strict=True), 2)
    assert rests is not None
    expected = (data.time > 10.065) & (data.time < 11.025) | (data.time > 12.065)
    np.testing.assert_array_equal(rests, expected)
    session = session_of(data, TORQUE, SETTINGS, rests)
    np.testing.assert_array_equal(session.samples.rests, rests)
    detector = TorqueErrorDetector(torque=TORQUE, settings=SETTINGS)
    for row in feed(detector, data):
        np.testing.assert_array_equal(
            session.samples.error[row], detector.torque_error.astype('f4')
        )
        np.testing.assert_array_equal(
            session.samples.position[row], detector.position.astype('f4')
        )
        assert session.settled[row] == detector.settled
    half = session.rows(slice(200, None))
    np.testing.assert_array_equal(half.samples.rests, rests[200:])
    assert half.started.tolist()[:2] == [True, False] and half.hours == pytest.approx(2.0 / 3600.0)
    assert not session_of(data, TORQUE, SETTINGS).samples.rests.any()
    assert rest_of_reference(data.time, [], 2) is None


TIME = 0.01 * np.arange(1000)
RANDOM = np.random.default_rng(1)
MOVING = np.sin(TIME)[:, None] * [1.0, 0.5]
REST = np.full((1000, 2), 0.3)
NOISY = 5.0 + RANDOM.normal(size=(1000, 2))
GRAVITY = np.full((1000, 2), 5.0)


def off(position: Array, torque: Array, gravity: Array) -> list[int]:
    rows = drives_off(Recording(TIME, ('a', 'b'), position, torque), gravity)
    return [int(rows.sum()), *np.flatnonzero(rows)[[0, -1]]] if rows.any() else []


def changed(value: float, joint: int, first: int, last: int) -> Array:
    torque = NOISY.copy()
    torque[first : last + 1, joint] = value
    return torque


def test_torque_that_does_not_change_although_its_joint_moves_or_carries_weight() -> None:
    assert off(MOVING, NOISY, GRAVITY) == []
    assert off(MOVING, changed(0.0, 0, 200, 399), GRAVITY) == [249, 200, 448]
    assert off(MOVING, changed(3.3, 1, 200, 399), GRAVITY) == [249, 200, 448]
    assert off(MOVING, changed(3.3, 1, 200, 280), GRAVITY) == []  # a coarse current repeats
    assert off(REST, changed(0.0, 0, 200, 399), GRAVITY) == [249, 200, 448]
    # Without weight or motion, and without noise, a constant torque is possible.
    assert off(REST, changed(0.0, 0, 200, 399), 0.0 * GRAVITY) == []
    assert off(REST, changed(5.0, 0, 200, 399), GRAVITY) == []
