# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.analysis.thresholds.drives_off import drives_off
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

TIME = 0.01 * np.arange(1000)
RANDOM = np.random.default_rng(1)
MOVING = np.sin(TIME)[:, None] * [1.0, 0.5]
REST = np.full((1000, 2), 0.3)
TORQUE = 5.0 + RANDOM.normal(size=(1000, 2))
GRAVITY = np.full((1000, 2), 5.0)


def off(position: Array, torque: Array, gravity: Array) -> list[int]:
    rows = drives_off(Recording(TIME, ('a', 'b'), position, torque), gravity)
    return [int(rows.sum()), *np.flatnonzero(rows)[[0, -1]]] if rows.any() else []


def changed(value: float, joint: int, first: int, last: int) -> Array:
    torque = TORQUE.copy()
    torque[first : last + 1, joint] = value
    return torque


def test_torque_that_does_not_change_although_its_joint_moves_or_carries_weight() -> None:
    assert off(MOVING, TORQUE, GRAVITY) == []
    assert off(MOVING, changed(0.0, 0, 200, 399), GRAVITY) == [249, 200, 448]
    assert off(MOVING, changed(3.3, 1, 200, 399), GRAVITY) == [249, 200, 448]
    assert off(MOVING, changed(3.3, 1, 200, 280), GRAVITY) == []  # a coarse current repeats
    assert off(REST, changed(0.0, 0, 200, 399), GRAVITY) == [249, 200, 448]
    # Without weight or motion, and without noise, a constant torque is possible.
    assert off(REST, changed(0.0, 0, 200, 399), 0.0 * GRAVITY) == []
    assert off(REST, changed(5.0, 0, 200, 399), GRAVITY) == []
