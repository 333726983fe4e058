# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.control.collision.motion_bands import Bands

BANDS = Bands(
    still=np.array([0.1, 0.2]),
    speed=np.array([[0.5, 1.0], [0.6, 2.0]]),
    acceleration=np.array([[3.0], [4.0]]),
)


def by_hand(joint: int, speed: float, acceleration: float, since: float, rested: float) -> int:
    """Cell of one joint, written as a table is read."""
    if rested >= 0.0:
        return 19 + int(rested >= 0.05) + int(rested >= 0.15)
    if speed < BANDS.still[joint]:
        return 18
    fast = sum(bool(speed >= edge) for edge in BANDS.speed[joint])
    hard = int(acceleration >= BANDS.acceleration[joint, 0])
    fresh = int(since < 0.1) + int(since < 0.3)
    return int(np.arange(18).reshape(3, 2, 3)[fast, hard, fresh])


def test_a_cell_is_one_band_of_each_kind() -> None:
    random = np.random.default_rng(2)
    speed, hard, since = random.uniform(0.0, [[[3.0]], [[8.0]], [[0.5]]], (3, 400, 2))
    speed[::3] *= 0.05
    rested = random.uniform(-2.0, 0.3, size=400)
    found = BANDS.cell(speed, hard, since, rested)
    expected = [
        [by_hand(j, speed[k, j], hard[k, j], since[k, j], rested[k]) for j in range(2)]
        for k in range(400)
    ]
    np.testing.assert_array_equal(found, expected)
    assert BANDS.cells == 22 and len(np.unique(found)) == 22


def test_cells_of_fresh_friction_are_not_steady() -> None:
    random = np.random.default_rng(3)
    speed, hard, since = random.uniform(0.0, [[[3.0]], [[8.0]], [[0.5]]], (3, 400, 2))
    cell = BANDS.cell(speed, hard, since, np.full(400, -1.0))
    settled = (since >= 0.3) & (speed >= BANDS.still)
    np.testing.assert_array_equal(BANDS.steady[cell], settled)
    assert BANDS.steady[-1] and not BANDS.steady[-4:-1].any()
