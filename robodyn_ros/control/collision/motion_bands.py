# SPDX-License-Identifier: Apache-2.0
"""Bands of the motion of a joint: its speed, its acceleration, and the time since a reversal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

FRESH = (0.1, 0.3)
"""Times since a reversal or standstill that bound its bands, in [s]: friction turns in the first,
gears settle in the second."""
RESTED = (0.05, 0.15)
"""Times since the commanded positions rest that bound its bands, in [s]: the drives settle."""


@dataclass(frozen=True)
class Bands:
    """Bands for each of n joints; a cell is one band of each kind.

    The last cells are standstill, and the bands of rest: the commanded positions are known not to
    change.

    :param still: a joint is at standstill below it, shape (n,), in [rad/s] or [m/s]
    :param speed: inner edges of the speed bands, shape (n, S - 1)
    :param acceleration: inner edges of the bands of absolute acceleration, shape (n, A - 1)
    """

    still: Array
    speed: Array
    acceleration: Array

    @cached_property
    def cells(self) -> int:
        """Number of cells of a joint."""
        return self.moving + 2 + len(RESTED)

    @cached_property
    def moving(self) -> int:
        """Number of cells of a joint that moves; the next one is standstill."""
        bands = [edges.shape[1] + 1 for edges in (self.speed, self.acceleration)]
        return int(np.prod(bands)) * (len(FRESH) + 1)

    @property
    def steady(self) -> NDArray[np.bool_]:
        """Cells of motion and of rest in which friction and gears have settled, (cells,)."""
        steady = np.zeros(self.cells, dtype=bool)
        steady[: self.moving : len(FRESH) + 1] = steady[-1] = True
        return steady

    def cell(
        self, speed: Array, acceleration: Array, since: Array, rested: Array
    ) -> NDArray[np.intp]:
        """Return the cell of each joint, shape (N, n).

        :param speed: absolute velocity, shape (N, n)
        :param acceleration: absolute acceleration, shape (N, n)
        :param since: time since the last reversal or standstill, shape (N, n), in [s]
        :param rested: time since the commanded positions rest, shape (N,), in [s]; negative: they
            do not
        """
        cell: NDArray[np.intp] = (speed[..., None] >= self.speed).sum(axis=-1)
        cell *= self.acceleration.shape[1] + 1
        cell += (acceleration[..., None] >= self.acceleration).sum(axis=-1)
        cell *= len(FRESH) + 1
        for each in FRESH:
            cell += since < each
        cell[speed < self.still] = self.moving
        rests = rested >= 0.0
        if rests.any():
            band = np.searchsorted(RESTED, rested[rests], 'right')
            cell[rests] = self.moving + 1 + band[:, None]
        return cell
