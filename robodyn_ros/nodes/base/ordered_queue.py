# SPDX-License-Identifier: Apache-2.0
"""Queue of messages that are sent after all messages that arrived before them were read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from rclpy.node import Node

from robodyn_ros.errors import Fault, RobodynError
from robodyn_ros.long_work import Cancellation, cancellable
from robodyn_ros.nodes.base.clock import hold_clock, start_real_timer

MOST = 16
"""Largest number of waiting messages."""

Send = Callable[[], None]
Item = TypeVar('Item')


class Outbox(Generic[Item]):
    """Queue that prepares messages in a thread, one after the other, and then sends them.

    A message is sent with the second timer tick that finds it prepared. Until then a message may
    arrive that forbids sending, for example a stop command. There are two ticks because an
    executor without events calls timers before subscriptions: all messages that had arrived at
    the first tick are read before the second.
    """

    def __init__(
        self,
        node: Node,
        prepare: Callable[[Item], Send],
        refuse: Callable[[Item, RobodynError], None],
    ) -> None:
        """Start empty.

        :param prepare: runs in the thread, `cancellable`; returns the function that sends a
            message
        :param refuse: called for a message whose preparation raised a `RobodynError`
        """
        self._prepare, self._refuse = prepare, refuse
        self._waiting: deque[Item] = deque()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._work: Future[Send] | None = None
        self._cancellation = Cancellation()
        self._send: Send | None = None
        # within 1 ms an executor reads the messages that have arrived
        self._timer = start_real_timer(node, 1e-3, self.tick)
        self._timer.cancel()
        hold_clock(node, lambda: bool(self._waiting))

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
        """Discard a preparation, because conditions changed; the next tick starts it again."""
        self._cancellation.cancel(Fault('cancelled', 'conditions changed'))
        self._work = self._send = None

    def change(self, function: Callable[[], None]) -> None:
        """Run a function that changes what preparations use, while none runs.

        This waits until the present one has polled. What the function raises is raised here.
        """
        self.prepare_again()
        self._pool.submit(function).result()

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
        """Send the prepared message, or look whether it is prepared."""
        if self._send is not None:
            send = self._send
            self._waiting.popleft()
            try:
                send()
            finally:
                self._next()
        elif self._work is None:
            self._next()
        elif self._work.done():
            self._take(self._work)

    def _take(self, work: Future[Send]) -> None:
        """Keep the result of a preparation, or refuse the message."""
        try:
            self._send = work.result()
        except RobodynError as error:
            self._refuse(self._waiting.popleft(), error)
        except Exception:
            self._waiting.popleft()
            raise
        finally:
            if self._send is None:
                self._next()

    def _next(self) -> None:
        """Prepare the first message."""
        self.prepare_again()
        if not self._waiting:
            self._timer.cancel()
            return
        self._cancellation = Cancellation()
        self._work = self._pool.submit(self._run, self._waiting[0], self._cancellation)
        self._timer.reset()

    def _run(self, message: Item, cancellation: Cancellation) -> Send:
        with cancellable(cancellation):
            return self._prepare(message)
