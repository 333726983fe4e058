"""Messages that leave only after all that arrived before them has been read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from rclpy.node import Node

from robodyn_ros.nodes.base.common import steady_timer

SOON = 1e-3
"""Time in which an executor reads what has arrived, in [s]."""
MOST = 16
"""Messages that may wait."""

Send = Callable[[], None]


class Outbox:
    """Prepares what arrives, one after the other, and sends it two ticks of a timer later.

    While one is prepared others may arrive that forbid it: a command to stop, by somebody else.
    Two ticks, as an executor without events calls timers before subscriptions: all that had
    arrived at the first is read before the second.
    """

    def __init__(self, node: Node, prepare: Callable[[bytes], Send | None]) -> None:
        """Begin empty.

        :param prepare: makes of a message what sends it; None: it is not to be sent
        """
        self._prepare = prepare
        self._waiting: deque[bytes] = deque()
        self._send: Send | None = None
        self._ticks = 0
        self._timer = steady_timer(node, SOON, self.tick)
        self._timer.cancel()

    def put(self, serialised: bytes) -> bool:
        """Take a message over; return True if the oldest had to go, as too many wait.

        The newest stays: it may be the one that stops the robot.
        """
        full = len(self._waiting) >= MOST
        if full:
            self._waiting.popleft()
        self._waiting.append(serialised)
        if full or len(self._waiting) == 1:
            self._next()
        return full

    def prepare_again(self) -> None:
        """Discard what was prepared: conditions changed, so it is prepared again at its turn."""
        self._send, self._ticks = None, 0

    def drop(self) -> int:
        """Send nothing of what waits; return how many messages that was."""
        count = len(self._waiting)
        self._waiting.clear()
        self._next()
        return count

    def tick(self) -> None:
        """Send what is prepared, if it is time, and prepare the next."""
        self._ticks += 1
        if self._send is None:
            self._next()
        elif self._ticks > 1:
            send = self._send
            self._waiting.popleft()
            send()
            self._next()

    def _next(self) -> None:
        """Prepare the first that can be sent."""
        self._send, self._ticks = None, 0
        while self._waiting and self._send is None:
            self._send = self._prepare(self._waiting[0])
            if self._send is None and self._waiting:
                self._waiting.popleft()
        if self._waiting:
            self._timer.reset()
        else:
            self._timer.cancel()
