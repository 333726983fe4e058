# SPDX-License-Identifier: Apache-2.0
"""Limit to how often a state is published."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

STATE_RATE = 100.0
"""Default rate of the states that operators see, in [Hz]; the controller plugin has the same."""
RATE_RANGE: dict[str, Any] = {'read_only': True, 'minimum': 0.0, 'maximum': 1000.0}
"""Range of a parameter for `PublishRate`."""


class PublishRate:
    """Choice of the cycles in which a state is published: at most `rate`, and each change at once.

    Whoever looks at a state must not cost the cycle more than it needs.
    """

    def __init__(self, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        """Start; the first state is due.

        :param rate: in [Hz]; 0: every state is published
        :param now: return the time of the node, in [s]
        """
        self._now = now
        self._pause = 1.0 / rate if rate else 0.0
        self._next = -float('inf')
        self._state: object = None

    def due(self, state: object) -> bool:
        """Return True if this state must be published now.

        :param state: what must not wait, such as levels and faults; compared with that before
        """
        now = self._now()
        if self._pause and state == self._state and now < self._next:
            return False
        self._state = state
        # From the due time on, not from now: else cycles that jitter would lower the rate.
        in_time = 0.0 <= now - self._next < self._pause
        self._next = (self._next if in_time else now) + self._pause
        return True
