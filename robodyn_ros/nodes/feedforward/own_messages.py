# SPDX-License-Identifier: Apache-2.0
"""Distinction of a node's messages on a topic from those of other publishers."""

from __future__ import annotations

import time
from collections import deque

from robodyn_ros.control.torque_threshold import SILENCE

ON_THE_WAY = 32
"""Largest number of sent messages that were not received back; usually there are few."""


class OwnMessages:
    """Order of the messages of a topic, by receiving the node's messages back.

    A busy node reads messages of others late, perhaps after it has published. A message that is
    read before the node's message was received back had arrived before it.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self._sent: deque[tuple[int, float]] = deque(maxlen=ON_THE_WAY)

    def sent(self, serialised: bytes) -> None:
        """Register a message before this node publishes it."""
        self._sent.append((hash(serialised), time.monotonic()))

    def foreign(self, serialised: bytes) -> bool:
        """Return True if a message is from another node and came after all of this node's."""
        hashes = [own for own, _ in self._sent]
        if (own := hash(serialised)) in hashes:
            for _ in range(hashes.index(own) + 1):  # earlier ones were lost
                self._sent.popleft()
            return False
        return not self._sent or time.monotonic() - self._sent[-1][1] > SILENCE
