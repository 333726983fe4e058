# SPDX-License-Identifier: Apache-2.0
"""Repetition of a request until it is acknowledged."""

from __future__ import annotations


class Retry:
    """Due times of a request that is repeated with a period.

    :ivar attempts: requests since `start`
    :ivar pending: True from `start` until `acknowledge` or `stop`
    """

    def __init__(self, period: float) -> None:
        """Start idle.

        :param period: time between two requests, in [s]
        """
        self._period = period
        self.stop()

    def start(self, now: float) -> None:
        """Make the first request due at time `now`, in [s]."""
        self.attempts, self.pending = 0, True
        self._next = now

    def due(self, now: float) -> bool:
        """Return True if a request must be made at time `now` [s], and count it."""
        if not self.pending or now < self._next:
            return False
        self.attempts += 1
        self._next = now + self._period
        return True

    def wait(self, until: float) -> None:
        """Make no request before time `until`, in [s]."""
        self._next = until

    def acknowledge(self) -> None:
        """End the repetition; the number of attempts is kept."""
        self.pending = False

    def stop(self) -> None:
        """End the repetition and forget the attempts."""
        self.attempts, self.pending = 0, False
