# SPDX-License-Identifier: Apache-2.0
"""Bands of the motion of a joint: its speed, its acceleration, and the time since a reversal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

FRESH = (0.1, 0.3)
"""Times since a reversal or standstill that bound its bands, in [s]: friction turns in the first,
gears settle in the second."""


@dataclass(frozen=True)
class Bands:
    """Bands for each of n joints; a cell is one band of each kind.

    The last two cells are standstill, and rest: the commanded positions are known not to change.

    :param still: a joint is at standstill below it, shape (n,), in [rad/s] or [m/s]
    :param speed: inner edges of the speed bands, shape (n, S - 1)
    :param acceleration: inner edges of the bands of absolute acceleration, shape (n, A - 1)
    """

    still: Array
    speed: Array
    acceleration: Array

    @property
    def cells(self) -> int:
        """Number of cells of a joint."""
        bands = [edges.shape[1] + 1 for edges in (self.speed, self.acceleration)]
        return int(np.prod(bands)) * (len(FRESH) + 1) + 2

    def cell(
        self, speed: Array, acceleration: Array, since: Array, rests: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """Return the cell of each joint, shape (N, n).

        :param speed: absolute velocity, shape (N, n)
        :param acceleration: absolute acceleration, shape (N, n)
        :param since: time since the last reversal or standstill, shape (N, n), in [s]
        :param rests: the commanded positions rest, shape (N,)
        """
        cell: NDArray[np.intp] = (speed[..., None] >= self.speed).sum(axis=-1)
        cell *= self.acceleration.shape[1] + 1
        cell += (acceleration[..., None] >= self.acceleration).sum(axis=-1)
        cell *= len(FRESH) + 1
        for each in FRESH:
            cell += since < each
        cell[speed < self.still] = self.cells - 2
        cell[rests] = self.cells - 1
        return cell
