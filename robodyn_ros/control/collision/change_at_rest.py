# SPDX-License-Identifier: Apache-2.0
"""Change of the torque error while the reference rests: it tells a push that friction hides.

A joint at rest can hold any torque up to its stiction, so that its threshold is the friction. But
while it is not commanded to move, this torque does not change by itself. Joint states alone do not
tell a push from the start of a motion, which turns the friction in the same way; the commanded
positions do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.control.collision.threshold_map import REST
from robodyn_ros.models.interface import Array

MEMORY = 5.0
"""Time constant of the mean that a change is compared with, in [s]: long beside a push, short
beside warming; the blocks of learning are as long."""


LAPSE = 5.0
"""Times the interval of the commands after which they are not known any more: a start must not be
missed, and single messages may be lost."""


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
        self._interval = min(max(time - self._last, 0.0), REST)
        self._last = time

    @property
    def known(self) -> bool:
        """True if there were commands."""
        return self._last > -math.inf

    def rests(self, time: float) -> bool:
        """Return True if they rest at a time, in [s]; False if the last one is too old."""
        fresh = time - self._last <= min(LAPSE * self._interval, REST)
        return fresh and self._last - self._moved >= REST


class ChangeAtRest:
    """Difference of the torque error to its mean since rest began, of the last `MEMORY`.

    :ivar value: shape (n,), in [Nm] or [N]; 0 in motion
    :ivar resting: joints at rest, bool of shape (n,)
    """

    def __init__(self, width: int, period: float) -> None:
        """Start in motion; `period` of the samples in [s]."""
        self.value = np.zeros(width)
        self.resting: NDArray[np.bool_] = np.zeros(width, dtype=bool)
        self._mean, self._count = np.zeros((2, width))
        self._most = max(1.0, MEMORY / period)

    def rest(self, resting: NDArray[np.bool_] | bool) -> None:
        """Begin or end rest; a joint that goes on keeps its mean."""
        changed = self.resting != resting
        self.resting[:] = resting
        self.value[changed] = self._count[changed] = 0.0

    def restart(self) -> None:
        """Forget the mean."""
        self.value[:] = self._count[:] = 0.0

    def update(self, torque_error: Array, limit: Array) -> None:
        """Take the torque error of a sample.

        :param torque_error: shape (n,), in [Nm] or [N]
        :param limit: a larger change is a contact and does not count for the mean, shape (n,)
        """
        first = self._count == 0.0
        self._mean[first] = torque_error[first]
        np.multiply(torque_error - self._mean, self.resting, out=self.value)
        usual = np.abs(self.value) <= limit
        self._count += usual * (self._count < self._most)
        self._mean += usual * self.value / np.maximum(self._count, 1.0)
