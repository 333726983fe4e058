# SPDX-License-Identifier: Apache-2.0
"""Mute of reactions that ends by itself."""

from __future__ import annotations

import math

from robodyn_ros.errors import ControlError


class Mute:
    """Time in which collisions are reported, but start no reaction."""

    def __init__(self, longest: float) -> None:
        """Start without a mute.

        :param longest: largest duration of a mute, in [s]
        """
        self._longest = longest
        self._end = -math.inf

    def start(self, now: float, duration: float) -> None:
        """Mute from time `now` for `duration`, in [s]; 0 ends a mute.

        :raises ControlError: a duration that is negative, too long or not a number
        """
        if not 0.0 <= duration <= self._longest:
            raise ControlError(
                f'the duration of a mute must be from 0 to {self._longest:g} s (max_mute), got '
                f'{duration:g} s'
            )
        if duration or self.started:
            self._end = now + duration

    @property
    def started(self) -> bool:
        """True from `start` until `ends` has returned True."""
        return self._end > -math.inf

    def remaining(self, now: float) -> float:
        """Return the time until the end of the mute, in [s]; 0: not muted."""
        return max(self._end - now, 0.0)

    def ends(self, now: float) -> bool:
        """Return True once after the end of a mute."""
        over = -math.inf < self._end <= now
        if over:
            self._end = -math.inf
        return over
