# SPDX-License-Identifier: Apache-2.0
"""Corrupted samples against a second account of what is fresh, valid and settled.

A longer run: `ROBODYN_FUZZ_SAMPLES=100000 pytest --timeout 0` with this file.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from control_arm import small_arm
from healthy_arm import flat_law

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
TORQUE = ModelTorque(MODEL, VALUES)
SAMPLES = int(os.environ.get('ROBODYN_FUZZ_SAMPLES', '6000')) // 3
STALE, FROZEN, SETTLE = 0.05, 0.2, 0.1
Sample = tuple[float, Array, Array, Array]


def made(kind: str) -> TorqueErrorDetector:
    settings = CollisionSettings(
        MODEL.joint_names, [10.0, 5.0], stale_timeout=STALE, frozen_timeout=FROZEN,
        settle_time=SETTLE,
    )  # fmt: skip
    if kind == 'constant':
        return TorqueErrorDetector(torque=TORQUE, settings=settings)
    learned = flat_law('', np.array([10.0, 5.0]), rest=np.array([8.0, 4.0]))
    return TorqueErrorDetector(
        torque=TORQUE, settings=learned.settings(settings), thresholds=learned.thresholds()
    )


class Account:
    """Second computation of when OK is allowed, from the samples alone."""

    def __init__(self) -> None:
        self.stamp = self.since = self.changed = -np.inf
        self.values: list[Array] = []

    def trusts(self, stamp: float, *values: Array) -> bool:
        """Return True if a sample and the time before it were fresh, valid and moving."""
        finite = all(np.isfinite(each).all() for each in values) and np.isfinite(stamp)
        if not finite or any(each.shape != (2,) for each in values):
            self.since = np.inf
            return False
        step, self.stamp = stamp - self.stamp, stamp
        if step <= 0.0:
            self.changed, self.since = stamp, np.inf
            return False
        same = self.values and all(map(np.array_equal, values, self.values))
        self.values = [each.copy() for each in values]
        if step > STALE:
            self.since = stamp
        if step > STALE or not same:
            self.changed = stamp
        if stamp - self.changed >= FROZEN:
            self.since = np.inf
            return False
        if self.since == np.inf:
            self.since = stamp
        return bool(stamp - self.since >= SETTLE - 1e-6)


def spoilt(kind: int, sample: Sample, random: np.random.Generator) -> Sample:
    """Return a sample with one fault; the last kinds are a late and a lost one."""
    stamp, *values = sample
    which, bad = int(random.integers(3)), random.choice([np.nan, np.inf, -np.inf, 1e200])
    if kind == 0:
        values[which] = np.where(random.random(2) < 0.7, bad, values[which])
    elif kind == 1:
        values[which] = values[which][: int(random.integers(2))]
    elif kind == 2:
        values[which] = np.append(values[which], 0.0)
    elif kind == 3:
        stamp = random.choice([np.nan, np.inf, -np.inf, 2e9])  # seconds of a message: 2^31
    else:
        stamp += random.choice([-0.002, -0.3, 0.06, 3.0])
    return stamp, *values


@pytest.mark.parametrize('kind', ['constant', 'map'])
def test_corrupted_samples_are_never_ok(kind: str) -> None:
    detector, account = made(kind), Account()
    random, rate = np.random.default_rng(len(kind)), np.array([3.0, 4.0])
    steps = 0.002 + random.normal(0.0, 1e-4, SAMPLES)
    angle = rate * np.cumsum(steps)[:, None]
    q, qd = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle)
    torque = MODEL.torque(q, qd, -(rate**2) * q, VALUES)
    torque[:, 1] -= 9.0 * (np.arange(SAMPLES) % 997 < 30)
    stamp, frozen, held, good = 100.0, 0, 0, 0
    for k, step in enumerate(steps):
        stamp += step
        if frozen == 0:
            held = k
            frozen = int(random.integers(20, 250)) if random.random() < 0.002 else 0
        frozen = max(frozen - 1, 0)
        sample = (stamp, q[held], qd[held], torque[held])
        if random.random() < 0.01:
            sample = spoilt(int(random.integers(5)), sample, random)
            if np.isfinite(sample[0]):
                stamp = sample[0]
        if random.random() < 0.002:
            detector.lose('no joint states for 0.06 s')
            assert not ((detector.level == Level.OK) | (detector.level == Level.CONTACT)).any()
            account.since = np.inf
        if random.random() < 0.01:
            detector.resting = bool(random.integers(2))
        trusted = account.trusts(*sample)
        calm = np.isin(detector.update(*sample), (Level.OK, Level.CONTACT))
        assert trusted or not calm.any(), (k, sample, detector.message)
        assert np.isfinite(detector.torque_error).all()
        good += int((detector.level == Level.OK).all())
        if detector.latched and random.random() < 0.1:
            detector.reset()
    assert good > 0.2 * SAMPLES, 'what is healthy is OK'
