# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.control.collision.motion_bands import Bands

BANDS = Bands(
    still=np.array([0.1, 0.2]),
    speed=np.array([[0.5, 1.0], [0.6, 2.0]]),
    acceleration=np.array([[3.0], [4.0]]),
)


def by_hand(joint: int, speed: float, acceleration: float, since: float, rests: bool) -> int:
    """Cell of one joint, written as a table is read."""
    if rests:
        return 19
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
    rests = random.uniform(size=400) < 0.1
    found = BANDS.cell(speed, hard, since, rests)
    expected = [
        [by_hand(j, speed[k, j], hard[k, j], since[k, j], bool(rests[k])) for j in range(2)]
        for k in range(400)
    ]
    np.testing.assert_array_equal(found, expected)
    assert BANDS.cells == 20 and len(np.unique(found)) == 20
