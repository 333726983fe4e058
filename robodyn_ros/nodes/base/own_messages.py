"""Tells what a node publishes on a topic from what others do, by hearing it come back."""

from __future__ import annotations

import time
from collections import deque

ON_THE_WAY = 32
"""Own messages that may not have come back yet; far more than ever are."""
LOST = 0.5
"""One that has not come back after so long never will, in [s]."""


class OwnMessages:
    """The order in which the messages of a topic arrive: here as at anybody else who listens.

    A node that is busy reads messages of others late, perhaps after it has published itself. One
    that is read before the node's own has come back arrived before it.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._sent: deque[tuple[int, float]] = deque(maxlen=ON_THE_WAY)

    def sent(self, serialised: bytes) -> None:
        """Say what this node publishes, before it does."""
        self._sent.append((hash(serialised), time.monotonic()))

    def foreign(self, serialised: bytes) -> bool:
        """Whether a message that arrived is another's, and came after all of this node's own."""
        hashes = [own for own, _ in self._sent]
        if (own := hash(serialised)) in hashes:
            for _ in range(hashes.index(own) + 1):  # those before it never came
                self._sent.popleft()
            return False
        return not self._sent or time.monotonic() - self._sent[-1][1] > LOST
