# SPDX-License-Identifier: Apache-2.0
"""Time of a test, on /clock: it advances while the test waits, as fast as the nodes follow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from builtin_interfaces.msg import Time

from robodyn_ros.nodes.base.clock import to_stamp
from robodyn_ros.nodes.cell.followers import REPEAT, Followers

STEP = 2_000_000
"""Of one advance, in [ns]."""
FASTEST = 10.0
"""Simulated time in one second: some nodes compute meanwhile."""


class SimulatedTime:
    """The time, and the nodes that follow it.

    :ivar ticks: called at each step, before the nodes know of it: simulated robots
    """

    def __init__(self, node) -> None:
        """Begin with the time of the machine; a thread repeats it while the test computes."""
        self.nanoseconds = time.time_ns()
        self.ticks: list[Callable[[], None]] = []
        self._due = 0.0
        self._followers = Followers(node, lambda: None)
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
        """Advance by `STEP`, if the nodes follow and it is not too early; return True if so."""
        stamp, now = self.nanoseconds + STEP, time.monotonic()
        if now < self._due or not self._followers.ready(stamp):
            return False
        fastest = FASTEST if self._followers else 1.0
        self._due = max(self._due, now - 0.1) + 1e-9 * STEP / fastest
        self.nanoseconds = stamp
        for tick in self.ticks:
            tick()
        self._followers.publish(stamp)
        return True

    def _repeat(self) -> None:
        while not self._ended.wait(REPEAT):
            self._followers.repeat()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
