# SPDX-License-Identifier: Apache-2.0
"""Boxes of the surroundings: the free space with its floor, and the obstacles in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn_ros.bounds import GEOMETRY
from robodyn_ros.errors import MotionError

Corner = tuple[float, float, float]
ENDLESS: Corner = (np.inf, np.inf, np.inf)


def free_space(box: Sequence[Any] | None, floor: float | None) -> tuple[Corner, Corner]:
    """Return the lower and the upper corner of the free space; infinite where nothing limits it.

    :param box: six numbers, in [m]; empty or None: there is none
    :param floor: smallest z, in [m], or None
    :raises MotionError: it is no box, or the floor is not below its top
    """
    low: Corner = (-np.inf, -np.inf, -np.inf)
    high = ENDLESS
    if box is not None and len(box):
        low, high = _corners('box', box)
    if floor is None:
        return low, high
    if floor >= high[2]:
        raise MotionError(f'floor must be below the top of box, z = {high[2]:g}, got {floor:g}')
    return (low[0], low[1], max(low[2], floor)), high


def obstacle_boxes(numbers: Sequence[Any] | None) -> tuple[tuple[float, ...], ...]:
    """Return the six numbers of each obstacle, in [m].

    :raises MotionError: they are not six numbers each, or a box has no volume
    """
    flat = list(numbers if numbers is not None else ())
    rows = [flat[start : start + 6] for start in range(0, len(flat), 6)]
    corners = [_corners('obstacles: an obstacle', row) for row in rows]
    return tuple((*low, *high) for low, high in corners)


def check_distances(
    box: Sequence[float] | None, floor: float | None, obstacles: Sequence[float], reach: float
) -> None:
    """Refuse surroundings so far away that they are probably in millimetres.

    :param reach: of the robot, in [m]
    :raises MotionError: naming the option, its largest number and the reach
    """
    for name, numbers in (('box', box), ('floor', floor), ('obstacles', obstacles)):
        farthest = float(np.abs([] if numbers is None else numbers).max(initial=0.0))
        # Cells have a few reaches. In mm, surroundings at a tenth of the reach come to 100.
        if farthest > 100.0 * reach:
            raise MotionError(
                f'{name} has the coordinate {farthest:g} m, and the robot reaches at most '
                f'{reach:.2g} m: is it in mm? At most 100 times the reach is expected'
            )


def _corners(what: str, numbers: Sequence[Any]) -> tuple[Corner, Corner]:
    values = list(numbers)
    # NaN is not below anything
    if len(values) == 6 and all(
        isinstance(value, (int, float)) and abs(value) <= GEOMETRY.most for value in values
    ):
        x, y, z, *high = map(float, values)
        if x < high[0] and y < high[1] and z < high[2]:
            return (x, y, z), (high[0], high[1], high[2])
    got = values if len(values) == 6 else f'{len(values)} values'
    raise MotionError(
        f'{what} must be six finite numbers in one list, x, y, z of its lower and then of its '
        f'upper corner, up to {GEOMETRY.most} {GEOMETRY.unit}, got {got!s:.200}'
    )
