# SPDX-License-Identifier: Apache-2.0
"""Checks before a motion or a search starts, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rclpy.node import Node

from robodyn_ros.errors import ControlError, Fault
from robodyn_ros.long_work import Cancellation, cancellable
from robodyn_ros.nodes.base.clock import start_real_timer
from robodyn_ros.nodes.excitation.execution import TICK

Then = Callable[[Any], str]
"""Receives the result of the check, and returns the answer; it may raise."""
Answer = Callable[[str, 'Exception | None'], None]
"""Receives the answer, or the exception of the check."""


class Checking:
    """One check at a time, in a thread, while the node continues to spin.

    Files are read, meshes loaded and collisions computed there, which takes seconds. Requests to
    stop are answered meanwhile. A cancelled check ends at its next `poll`, so it delays neither
    the next check nor the end of the process.

    :ivar goal: goal handle of the action; None if a service asked
    """

    def __init__(self, node: Node) -> None:
        """Prepare the thread and the timer."""
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._work: Future[Any] | None = None
        self._cancellation = Cancellation()
        self.goal: Any = None
        self._timer = start_real_timer(node, TICK, self._look)
        self._timer.cancel()

    @property
    def busy(self) -> bool:
        """Return True while a check runs or its result has not been used."""
        return self._work is not None

    def begin(self, goal: Any, check: Callable[[], Any], then: Then, answer: Answer) -> None:
        """Start a check."""
        self.goal, self._then, self._answer = goal, then, answer
        self._cancellation = Cancellation()
        self._work = self._pool.submit(_run, check, self._cancellation)
        self._timer.reset()

    def cancel(self, reason: Fault) -> None:
        """Answer with this reason instead; nothing starts."""
        self._cancellation.cancel(reason)

    def _look(self) -> None:
        if self._work is None or not (self._cancellation.reason or self._work.done()):
            return
        self._timer.cancel()
        work, self._work, self.goal = self._work, None, None
        try:
            if reason := self._cancellation.reason:
                work.cancel()
                raise ControlError(f'stopped before it began: {reason}', fault=reason.name)
            text = self._then(work.result())
        except Exception as error:
            self._answer('', error)
        else:
            self._answer(text, None)


def _run(check: Callable[[], Any], cancellation: Cancellation) -> Any:
    with cancellable(cancellation):
        return check()
