# SPDX-License-Identifier: Apache-2.0
"""Speed of a simulation relative to real time."""

from __future__ import annotations

BEHIND = 0.1
"""Real time that the simulation catches up after a delay, in [s]."""


class Pace:
    """Decides when the next cycle is due in real time."""

    def __init__(self, period: float) -> None:
        """Start with a cycle that is due; `period` of a cycle in [s]."""
        self._period = period
        self._due = 0.0

    def due(self, now: float) -> bool:
        """Return True if a cycle is due; timers may come a quarter of a period early."""
        return now >= self._due - 0.25 * self._period

    def advance(self, now: float, factor: float) -> float:
        """Count a cycle; return the real time that is skipped after a longer delay, in [s].

        :param factor: speed relative to real time; 0: as fast as possible
        """
        if not factor:
            self._due = now
            return 0.0
        due = self._due or now
        self._due = max(due, now - BEHIND) + self._period / factor
        return max(0.0, now - BEHIND - due)
