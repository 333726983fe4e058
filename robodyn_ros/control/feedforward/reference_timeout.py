# SPDX-License-Identifier: Apache-2.0
"""Timeout of references, given or derived from measured pauses."""

from __future__ import annotations

from robodyn_ros.control.feedforward.torque_plan import TRANSPORT

LOWEST = 2.0 * TRANSPORT[0]
"""Smallest automatic timeout, in [s]: twice the delays that a busy scheduler causes."""
HIGHEST = 0.2
"""Largest automatic timeout, in [s]: longest time that the drives may hold an old torque."""
MARGIN = 3.0
"""Automatic timeout as a multiple of the longest recent pause."""


class ReferenceTimeout:
    """Timeout of a stream of references, from their arrival times.

    :ivar value: pause after which the sender counts as silent, in [s]
    :ivar bound: pause that is never accepted, for any cause, in [s]; equal to a given timeout
    :ivar longest: longest recent pause, in [s]; it decays with a time constant of 60 s
    """

    def __init__(self, *, given: float = 0.0, period: float = 0.0) -> None:
        """Start with the largest timeout, until pauses have been measured.

        An automatic timeout is from LOWEST (or 3 periods) to HIGHEST (or 5 periods).

        :param given: the timeout, in [s]; 0: automatic
        :param period: nominal period of the references, in [s]
        """
        self.given = given
        self.bound = given or max(HIGHEST, 5.0 * period)
        self._lowest = given or max(LOWEST, 3.0 * period)
        self.value = self.bound
        self.longest = self.bound / MARGIN
        self._last = -float('inf')

    def read(self, now: float) -> None:
        """Register a reference that arrives at time `now`, in [s].

        A pause beyond the bound is ignored, because its sender was stopped.
        """
        pause, self._last = now - self._last, now
        if pause > self.bound:
            return
        self.longest = max(pause, self.longest * (1.0 - pause / 60.0))
        if not self.given:
            self.value = min(max(self._lowest, MARGIN * self.longest), self.bound)

    def silent(self, pause: float, sent: float) -> bool:
        """Return True if a pause before a reference means that its sender was silent.

        A pause that this computer caused, while the sender continued, is accepted up to the
        bound, because the torque is up to date again after it.

        :param pause: time without a reference, in [s]
        :param sent: time between the stamps of the references before and after it, in [s]
        """
        return pause > self.bound or (pause > self.value and sent > self.value)

    def expired(self, pause: float, held_up: bool) -> bool:
        """Return True if the present pause means that the sender is silent.

        :param pause: time without a reference, in [s]
        :param held_up: this process was suspended, so that references may be waiting
        """
        return pause > self.bound or (pause > self.value and not held_up)

    def __str__(self) -> str:
        """Describe the timeout for a message."""
        text = f'reference_timeout is {self.value:.3g} s'
        if self.given:
            return text
        return f'{text}, {MARGIN:g} times the longest recent pause, at least {self._lowest:g} s'
