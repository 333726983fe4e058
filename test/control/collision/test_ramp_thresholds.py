# SPDX-License-Identifier: Apache-2.0
"""Learned thresholds in the detector: how long a contact lasts, and what cannot be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from healthy_arm import MODEL, VALUES, flat_law, recorded

from robodyn_ros.analysis.thresholds.session import feed
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.ramp_law import LEVEL, RAMPS
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.trigger import release_problem
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array

FILE = flat_law('', np.array([50.0, 40.0]), period=0.01, torque_error_filter=1.0, debounce=1)
SCALE = FILE.law.scale.copy()
SCALE[:, :, :LEVEL] = 6.0
WHITE = np.zeros_like(FILE.law.whitening)
WHITE[:, :, 0] = 1.0
LAW = replace(FILE.law, scale=SCALE, whitening=WHITE)
"""It looks for steps, because its whitening is a difference."""
SETTINGS = FILE.settings(CollisionSettings(MODEL.joint_names, 1.0))


def run(
    pushes: dict[float, float], rests: Array | None = None, enabled: Array | None = None
) -> tuple[TorqueErrorDetector, Array, Array]:
    """Return the detector after 8 s, the level of each sample, and the external torque."""
    thresholds = replace(FILE, law=LAW).thresholds(enabled)
    settings = SETTINGS if enabled is None else replace(SETTINGS, torque_error_enable=enabled)
    detector = TorqueErrorDetector(
        torque=ModelTorque(MODEL, VALUES), settings=settings, thresholds=thresholds
    )
    data = recorded(8.0, 2)
    torque = data.torque.copy()
    for start, push in pushes.items():
        torque[data.time >= start, 1] -= push
    levels, external = [], []
    for _ in feed(detector, replace(data, torque=torque), rests):
        levels.append(detector.level.max())
        external.append(detector.external_torque.copy())
        if detector.latched:
            detector.release()
    return detector, np.array(levels), np.array(external)


TIME = recorded(8.0, 2).time


def test_a_push_far_below_the_threshold_of_the_torque_error_is_a_collision_at_once() -> None:
    detector, levels, external = run({13.0: 15.0})
    first = TIME[levels == Level.COLLISION][0]
    assert 13.0 <= first <= 13.03
    assert (levels[TIME < 13.0] != Level.COLLISION).all()
    assert np.abs(detector.torque_error[1]) < detector.threshold[1]
    np.testing.assert_allclose(external[TIME > 13.2].mean(axis=0), [0.0, 15.0], atol=1.0)


def test_a_contact_lasts_until_it_ends_or_for_five_seconds() -> None:
    _, levels, _ = run({13.0: 15.0, 14.0: -15.0})
    touched = TIME[levels >= Level.CONTACT]
    assert touched[0] < 13.05 and touched[touched < 13.999][-1] > 13.9
    assert (levels[(TIME > 13.05) & (TIME < 13.95)] >= Level.CONTACT).all()
    _, levels, _ = run({11.0: 15.0})
    lasting = TIME[levels >= Level.CONTACT]
    assert 15.9 < lasting[-1] < 16.5


def test_a_slow_contact_is_found_by_the_torque_error_itself() -> None:
    slow = {12.0 + 0.1 * k: 1.5 for k in range(40)}
    _, levels, _ = run(slow)
    assert 14.0 < TIME[levels == Level.COLLISION][0] < 15.5


@pytest.mark.parametrize('push', [lambda t: 0.5 * t, lambda t: 20.0], ids=['slow', 'lasting'])
def test_at_rest_a_push_above_the_threshold_of_standstill_is_a_collision_while_it_lasts(
    push: Callable[[float], float],
) -> None:
    """Changes start anew every five seconds there, and would forget it."""
    file = flat_law('', np.array([12.0, 8.0]), rest=np.array([1.0, 0.5]))
    period = file.detector['period']
    settings = file.settings(
        CollisionSettings(MODEL.joint_names, 1.0, period=period, frozen_timeout=0.0)
    )
    detector = TorqueErrorDetector(
        torque=ModelTorque(MODEL, VALUES), settings=settings, thresholds=file.thresholds()
    )
    position, still = np.array([0.3, 0.4]), np.zeros(2)
    held = MODEL.torque(position[None], still[None], still[None], VALUES)[0]
    noise = 0.005 * np.random.default_rng(0).normal(size=(int(30.0 / period), 2))
    for k, each in enumerate(noise):
        detector.resting = k * period > 0.5
        size = push(k * period - 1.0) if k * period > 1.0 else 0.0
        detector.update(k * period, position, still, held - [0.0, size] + each)
    assert detector.latched and release_problem(detector)


def test_a_joint_that_is_not_enabled_is_unknown_and_raises_no_alarm() -> None:
    detector, levels, _ = run({13.0: 15.0}, enabled=np.array([True, False]))
    assert not detector.latched and detector.level.tolist() == [Level.OK, Level.UNKNOWN]
    assert (levels != Level.COLLISION).all()


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_unknown(value: float) -> None:
    detector = TorqueErrorDetector(
        torque=ModelTorque(MODEL, VALUES), settings=SETTINGS, thresholds=FILE.thresholds()
    )
    for row in feed(detector, recorded(1.0, 2)):
        if row == 50:
            detector.thresholds._scores._series[:] = value  # type: ignore[attr-defined]
        if row > 50:
            break
    assert (detector.level == Level.UNKNOWN).all() and 'not finite' in detector.message


def test_the_smallest_ramp_is_that_of_the_scores() -> None:
    thresholds = replace(FILE, law=LAW).thresholds()
    scores = thresholds._scores
    scores.scale = SCALE[None, :, 0]
    assert len(RAMPS) == LEVEL
    smallest = scores.smallest_ramps()
    np.testing.assert_allclose(smallest, 6.0 * np.sqrt(3.0), rtol=1e-6)  # of the shortest ramp
