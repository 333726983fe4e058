"""Queue of messages that are sent after all messages that arrived before them were read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from rclpy.node import Node

from robodyn_ros.nodes.base.common import steady_timer

MOST = 16
"""Largest number of waiting messages."""

Send = Callable[[], None]
Item = TypeVar('Item')


class Outbox(Generic[Item]):
    """Queue that prepares messages one after the other and sends them two timer ticks later.

    During the preparation a message may arrive that forbids sending, for example a stop command.
    There are two ticks because an executor without events calls timers before subscriptions: all
    messages that had arrived at the first tick are read before the second.
    """

    def __init__(self, node: Node, prepare: Callable[[Item], Send | None]) -> None:
        """Start empty.

        :param prepare: returns for a message the function that sends it; None: it is not sent
        """
        self._prepare = prepare
        self._waiting: deque[Item] = deque()
        self._send: Send | None = None
        self._ticks = 0
        # within 1 ms an executor reads the messages that have arrived
        self._timer = steady_timer(node, 1e-3, self.tick)
        self._timer.cancel()

    def put(self, message: Item) -> Item | None:
        """Add a message; return the oldest one if it was dropped because too many wait.

        The newest one is kept, because it may be the one that stops the robot.
        """
        dropped = self._waiting.popleft() if len(self._waiting) >= MOST else None
        self._waiting.append(message)
        if dropped is not None or len(self._waiting) == 1:
            self._next()
        return dropped

    def prepare_again(self) -> None:
        """Discard a prepared message, because conditions changed; it is prepared again."""
        self._send, self._ticks = None, 0

    def drop(self) -> list[Item]:
        """Drop all waiting messages and return them."""
        dropped = list(self._waiting)
        self._waiting.clear()
        self._next()
        return dropped

    def remove(self, message: Item) -> None:
        """Drop one message, if it waits."""
        if message not in self._waiting:
            return
        first = self._waiting[0] == message
        self._waiting.remove(message)
        if first:
            self._next()

    def tick(self) -> None:
        """Send the prepared message if it is due, and prepare the next one."""
        self._ticks += 1
        if self._send is None:
            self._next()
        elif self._ticks > 1:
            send = self._send
            self._waiting.popleft()
            send()
            self._next()

    def _next(self) -> None:
        """Prepare the first message that can be sent."""
        self._send, self._ticks = None, 0
        while self._waiting and self._send is None:
            self._send = self._prepare(self._waiting[0])
            if self._send is None and self._waiting:
                self._waiting.popleft()
        if self._waiting:
            self._timer.reset()
        else:
            self._timer.cancel()
