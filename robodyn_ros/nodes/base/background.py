# SPDX-License-Identifier: Apache-2.0
"""Long computations in a thread while a node spins, and waiting inside coroutines."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future as ThreadFuture
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from robodyn_ros.nodes.base.clock import now, start_real_timer

Result = TypeVar('Result')


class Background:
    """Thread for one function at a time; coroutines of the node wait for its result.

    A timer of the node polls the thread, because a future that another thread completes does not
    wake every executor. Services and actions with such coroutines must be created in `group`, so
    that several can run at once.
    """

    def __init__(self, node: Node) -> None:
        """Prepare the thread and the timer."""
        self.now = partial(now, node)
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._last: ThreadFuture[Any] | None = None
        self._waiting: list[Future] = []
        # a coroutine blocks its callback group until it ends, so the timer needs another one
        self.group = ReentrantCallbackGroup()
        self._timer = start_real_timer(node, 0.05, self._tick, callback_group=self.group)
        self._timer.cancel()

    def _tick(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._timer.cancel()
        for future in waiting:
            future.set_result(None)

    async def tick(self) -> None:
        """Wait for 50 ms while the node continues to spin."""
        future: Future = Future()
        self._waiting.append(future)
        self._timer.reset()
        await future

    async def run(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        check: Callable[[], object] | None = None,
    ) -> Result:
        """Run a function in the thread and wait for its result; its exception is raised here.

        :param check: called while waiting; what it raises ends the wait, not the function
        """
        work: ThreadFuture[Result] = self._pool.submit(function, *arguments)
        self._last = work
        while not work.done():
            if check is not None:
                check()
            await self.tick()
        return work.result()

    @property
    def idle(self) -> bool:
        """Return True if no function runs or waits for the thread."""
        return self._last is None or self._last.done()

    def close(self) -> None:
        """Cancel functions that have not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)
