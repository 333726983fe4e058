# SPDX-License-Identifier: Apache-2.0
"""Time of a test, on /clock: it advances while the test waits, as fast as the nodes follow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor, TimeoutException

from robodyn_ros.nodes.base.clock import to_stamp
from robodyn_ros.nodes.cell.followers import REPEAT, Followers

STEP = 4_000_000
"""Of one advance, in [ns]."""
FASTEST = 10.0
"""Simulated time in one second: some nodes compute meanwhile."""


class TestExecutor(SingleThreadedExecutor):
    """Executor that says whether it has called something."""

    __test__ = False

    def take(self, timeout: float) -> bool:
        """Call what is ready, after at most this time in [s]; return True if there was one."""
        try:
            handler, *_ = self.wait_for_ready_callbacks(timeout)
        except TimeoutException:
            return False
        handler()
        if handler.exception() is not None:
            raise handler.exception()
        return True


class SimulatedTime:
    """The time, and the nodes that follow it.

    :ivar ticks: called at each step, before the nodes know of it: simulated robots
    :ivar dead: True: nothing is published any more
    :ivar fastest: largest speed relative to real time
    """

    def __init__(self, context, step: int = STEP) -> None:
        """Begin with the time of the machine; a thread repeats it while the test computes.

        :param step: of one advance, in [ns]
        """
        self._node = rclpy.create_node('simulated_time', context=context, enable_rosout=False)
        self._executor = TestExecutor(context=context)
        self._executor.add_node(self._node)
        self._step = step
        self.nanoseconds = time.time_ns()
        self.ticks: list[Callable[[], None]] = []
        self.dead, self.fastest = False, FASTEST
        self._due = 0.0
        self._followers = Followers(self._node, lambda: None)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        return 1e-9 * self.nanoseconds

    @property
    def stamp(self) -> Time:
        return to_stamp(self.nanoseconds)

    def step(self) -> bool:
        """Advance by a step, if the nodes follow and it is not too early; return True if so."""
        while self._executor.take(0.0):
            pass
        if self.dead:
            return False
        stamp, now = self.nanoseconds + self._step, time.monotonic()
        if now < self._due or not self._followers.ready(stamp):
            return False
        fastest = self.fastest if self._followers else 1.0
        self._due = max(self._due, now - 0.1) + 1e-9 * self._step / fastest
        self.nanoseconds = stamp
        for tick in self.ticks:
            tick()
        self._followers.publish(stamp)
        return True

    def run(self, seconds: float) -> None:
        """Let this time pass."""
        end = self.nanoseconds + round(1e9 * seconds)
        while self.nanoseconds < end:
            if not self.step():
                time.sleep(5e-4)

    def _repeat(self) -> None:
        while not self._ended.wait(REPEAT):
            if not self.dead:
                self._followers.repeat()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
