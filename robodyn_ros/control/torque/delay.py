# SPDX-License-Identifier: Apache-2.0
"""Delay by complete cycles."""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


class DelayLine:
    """Delay of values by a fixed number of cycles (softMC: AdditiveTorqueDelay).

    Before the first value after creation or `clear`, all values are assumed equal to it.
    """

    def __init__(self, *, width: int, cycles: int) -> None:
        """Reserve the memory.

        :param width: numbers per value
        :param cycles: delay, 0 or more
        :raises ControlError: a negative delay
        """
        if cycles < 0:
            raise ControlError(f'a delay must be 0 cycles or more, got {cycles}')
        self.cycles = cycles
        self._ring = np.zeros((cycles + 1, width))
        self._next = 0
        self._empty = True

    def clear(self) -> None:
        """Forget every value."""
        self._empty = True

    def push(self, value: Array) -> Array:
        """Store the value of this cycle and return that of `cycles` cycles ago.

        :param value: shape (width,)
        :return: shape (width,), a view that is valid until the next call
        """
        if self._empty:
            self._ring[:] = value
            self._empty = False
        self._ring[self._next] = value
        self._next = (self._next + 1) % len(self._ring)
        delayed: Array = self._ring[self._next]
        return delayed
