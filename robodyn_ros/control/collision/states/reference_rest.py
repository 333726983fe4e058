# SPDX-License-Identifier: Apache-2.0
"""Detection of rest from the commanded positions: at rest, torques change by contacts only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

REST = 0.05
"""Time without a change of the commanded positions after which they rest, in [s]: a few commands.
The robot comes to rest later."""
LAPSE, LONGEST = 5.0, 0.2
"""Times the interval of the commands, and time in [s], after which they are not known any more: a
start must not be missed, and single messages may be lost."""


class ReferenceRest:
    """Tells whether the commanded positions rest: they have not changed for `REST`.

    A position that is not finite, and a time that goes back, count as motion.
    """

    def __init__(self, width: int) -> None:
        """Start in motion: nothing is known yet."""
        self._position = np.zeros(width)
        self.restart()

    def restart(self) -> None:
        """Forget all: nothing is known any more."""
        self._position[:] = math.nan
        self._moved = self._last = -math.inf
        self._interval = REST

    def update(self, time: float, position: ArrayLike) -> None:
        """Take commanded positions, shape (n,), at a time in [s]."""
        if time < self._last or not np.array_equal(position, self._position):
            self._moved = time
            self._position[:] = position
        self._interval = min(max(time - self._last, 0.0), LONGEST)
        self._last = time

    @property
    def known(self) -> bool:
        """True if there were commands."""
        return self._last > -math.inf

    def rests(self, time: float) -> bool:
        """Return True if they rest at a time, in [s]; False if the last one is too old."""
        fresh = time - self._last <= min(LAPSE * self._interval, LONGEST)
        return fresh and self._last - self._moved >= REST
