# SPDX-License-Identifier: Apache-2.0
"""A push at rest that friction hides from the torque error itself."""

from __future__ import annotations

import numpy as np
import pytest
from control_arm import small_arm
from healthy_arm import flat_map
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.control.collision.change_at_rest import ChangeAtRest, ReferenceRest
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
PERIOD = 0.002
STICTION = np.array([2.0, -3.0])
"""Friction torque of the joints, in [Nm]: far below the thresholds of the torque error."""


def test_a_reference_rests_after_a_while_and_only_while_it_is_known() -> None:
    reference, still = ReferenceRest(2), np.array([0.1, 0.2])
    assert not reference.rests(0.0)
    for time in np.arange(0.0, 0.3, 0.01):
        reference.update(time, still)
        assert reference.rests(time) == (time >= 0.2)
    assert reference.rests(0.33) and not reference.rests(0.35), 'five intervals'
    reference.update(0.51, still)
    assert reference.rests(0.51)
    reference.update(0.52, still + np.array([0.0, 1e-12]))
    assert not reference.rests(0.52) and not reference.rests(0.71)


@pytest.mark.parametrize('what', ['time goes back', 'not finite', 'restart'])
def test_a_reference_that_cannot_be_trusted_does_not_rest(what: str) -> None:
    reference, still = ReferenceRest(2), np.array([0.1, 0.2])
    for time in np.arange(0.0, 0.4, 0.01):
        reference.update(time, still)
    if what == 'time goes back':
        reference.update(0.1, still)
    elif what == 'not finite':
        reference.update(0.4, np.array([0.1, np.nan]))
    else:
        reference.restart()
    assert not reference.rests(0.4)


@given(st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=40))
def test_the_change_is_to_the_mean_before(values: list[float]) -> None:
    change = ChangeAtRest(1, PERIOD)
    change.rest(True)
    for row, value in enumerate(values):
        change.update(np.array([value]), np.full(1, np.inf))
        expected = 0.0 if row == 0 else value - np.mean(values[:row])
        assert change.value[0] == pytest.approx(expected, abs=1e-9)


def test_what_is_slow_is_forgotten_but_a_contact_is_not() -> None:
    drift, pushed = ChangeAtRest(1, PERIOD), ChangeAtRest(1, PERIOD)
    for each in (drift, pushed):
        each.rest(True)
    time = PERIOD * np.arange(30_000)
    for value in 0.01 * time:  # of warming: 0.01 Nm/s, compared with the last 5 s
        drift.update(np.array([value]), np.array([1.0]))
    assert drift.value[0] == pytest.approx(0.05, rel=0.1)
    for value in np.where(time < 1.0, 0.0, 2.0):
        pushed.update(np.array([value]), np.array([1.0]))
    assert pushed.value[0] == 2.0


class Arm:
    """An arm at rest with encoder noise; its torque differs from the model by stiction."""

    def __init__(self, change: Array | None) -> None:
        learned = flat_map('', np.array([10.0, 8.0]), change=change)
        settings = learned.settings(CollisionSettings(MODEL.joint_names, 1.0))
        self.detector = TorqueErrorDetector(
            torque=TORQUE, settings=settings, thresholds=learned.thresholds()
        )
        self.random, self.time = np.random.default_rng(3), 5.0

    def hold(self, seconds: float, push: float = 0.0) -> Level:
        """Rest, with an external torque at joint 2; return the largest level."""
        levels = []
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            q = np.array([0.3, -0.4]) + 1e-7 * self.random.normal(size=2)
            torque = MODEL.torque(q[None], np.zeros((1, 2)), np.zeros((1, 2)), VALUES)[0]
            torque -= STICTION + np.array([0.0, push])
            levels.append(self.detector.update(self.time, q, np.zeros(2), torque).max())
        return Level(max(levels))


CHANGE = np.array([1.0, 0.5])


def test_a_push_below_the_friction_is_a_collision_only_while_the_reference_rests() -> None:
    arm = Arm(CHANGE)
    assert arm.hold(0.5) == Level.OK
    assert arm.hold(0.2, push=0.8) == Level.OK, 'the reference is not known'
    arm.hold(0.2)
    arm.detector.rest(True)
    assert arm.hold(0.5) == Level.OK and np.abs(arm.detector.change).max() < 0.1  # type: ignore[arg-type]
    assert arm.hold(0.2, push=0.4) == Level.CONTACT
    arm.hold(0.1)
    assert arm.hold(0.1) == Level.OK
    assert arm.hold(0.2, push=0.8) == Level.COLLISION
    assert arm.detector.message == 'collision at joint2, pushed at rest'
    np.testing.assert_allclose(arm.detector.external_torque, [0.0, 0.8], atol=0.05)


def test_a_contact_from_motion_into_rest_keeps_its_force_and_its_name() -> None:
    arm = Arm(CHANGE)
    arm.hold(0.3)
    assert arm.hold(0.3, push=14.0) == Level.COLLISION
    arm.detector.rest(True)
    for _ in range(20):
        arm.hold(0.02, push=14.0)
        assert arm.detector.external_torque[1] == pytest.approx(11.0, abs=0.1)
        assert arm.detector.message == 'collision at joint2'
    for _ in range(20):
        arm.hold(0.02)
        assert arm.detector.message == 'collision at joint2', 'it began in motion'


def test_without_a_threshold_of_the_change_nothing_changes() -> None:
    arm = Arm(None)
    arm.hold(0.5)
    arm.detector.rest(True)
    assert arm.hold(0.5, push=1.5) == Level.OK
    np.testing.assert_array_equal(arm.detector.compared, arm.detector.torque_error)


def test_the_start_of_a_motion_is_no_push() -> None:
    arm = Arm(CHANGE)
    arm.hold(0.3)
    arm.detector.rest(True)
    arm.hold(0.3)
    arm.detector.rest(False)  # the reference moves before the torque does
    assert arm.hold(0.5, push=4.0) == Level.OK


def test_a_long_push_is_detected_again_after_a_reset() -> None:
    arm = Arm(CHANGE)
    arm.hold(0.3)
    arm.detector.rest(True)
    arm.hold(0.3)
    assert arm.hold(10.0, push=0.8) == Level.COLLISION
    arm.detector.reset()
    assert arm.hold(0.1, push=0.8) == Level.COLLISION, 'it is not forgotten'
    arm.hold(0.2)
    arm.detector.reset()
    assert arm.hold(0.2) == Level.OK


def test_after_a_gap_the_mean_begins_anew() -> None:
    arm = Arm(CHANGE)
    arm.hold(0.3)
    arm.detector.rest(True)
    arm.hold(0.3)
    arm.time += 1.0
    assert arm.hold(0.5, push=0.8) == Level.OK
    assert arm.hold(0.2, push=1.6) == Level.COLLISION
