# SPDX-License-Identifier: Apache-2.0
"""Boxes of the surroundings: corners of the free space, and of obstacles."""

import numpy as np
import pytest

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.boxes import check_distances, free_space, obstacle_boxes

BOX = [-1, -2, -3, 1.5, 2.5, 3.5]


@pytest.mark.parametrize('none', [None, [], np.array([])])
def test_without_a_box_only_the_floor_limits(none):
    assert free_space(none, None) == ((-np.inf,) * 3, (np.inf,) * 3)
    assert free_space(none, -0.2) == ((-np.inf, -np.inf, -0.2), (np.inf,) * 3)


def test_the_higher_of_floor_and_box_limits():
    assert free_space(BOX, None) == ((-1, -2, -3), (1.5, 2.5, 3.5))
    assert free_space(BOX, -0.5)[0] == (-1, -2, -0.5)
    assert free_space(BOX, -9.0)[0] == (-1, -2, -3)
    with pytest.raises(MotionError, match=r'floor must be below the top of box, z = 3.5, got 3.5'):
        free_space(BOX, 3.5)


@pytest.mark.parametrize(
    ('numbers', 'got'),
    [
        (BOX[:5], '5 values'),
        ([*BOX[:5], np.inf], r'\[-1, .*inf\]'),
        ([*BOX[:5], 100_001], '100001'),
        ([-100_001, *BOX[1:]], '-100001'),
        ([*BOX[:5], -3], r'\[-1, -2, -3, 1.5, 2.5, -3\]'),
        ([*BOX[:5], '4'], "'4'"),
        ([np.nan] * 6, 'nan'),
        ([*BOX[:5], 10**400], '10000'),
    ],
)
def test_what_is_no_box_is_refused(numbers, got):
    words = rf'must be six finite numbers in one list, .*up to 100000 m, got .*{got}'
    with pytest.raises(MotionError, match=f'^box {words}'):
        free_space(numbers, None)
    with pytest.raises(MotionError, match=f'^obstacles: an obstacle {words}'):
        obstacle_boxes([*BOX, *numbers])


def test_surroundings_in_millimetres_are_refused():
    wide = [-120, -120, 0, 120, 120, 120]
    for given in ((BOX, -0.2, BOX), (None, None, ()), (wide, -120.0, wide)):
        check_distances(*given, reach=1.3)
    mm = [-1200, -1200, 0, 1200, 1200, 2000]
    for name, given in (
        ('box', (mm, -0.2, ())), ('floor', (None, -2000.0, ())), ('obstacles', (BOX, None, mm)),
    ):  # fmt: skip
        words = f'{name} has the coordinate 2000 m, and the robot reaches at most 1.3 m: is it in'
        with pytest.raises(MotionError, match=words):
            check_distances(*given, reach=1.3)
