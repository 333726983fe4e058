# SPDX-License-Identifier: Apache-2.0
"""The one clock of a node, which every wait, watchdog, time-out and timer reads, and ROS stamps.

It is steady time, or /clock for a node with `use_sim_time`.
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from builtin_interfaces.msg import Duration, Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock as ClockMessage
from std_msgs.msg import Header

from robodyn_ros.errors import ControlError

TOPIC = '/clock'
FOLLOWED = '/clock/followed'
"""Topic on which nodes acknowledge the stamps of /clock that they have processed."""
BEAT = 4_000_000
"""Simulated time between two acknowledgements, in [ns]."""
DEAD = 5.0
"""Real time without a message on /clock after which the simulation counts as dead, in [s].

A simulation that is paused, or waits for a node, repeats its time.
"""
LOOK = 0.02
"""Real time between two looks for a dead simulation, in [s]."""
LONGEST_LOOK = 0.1
"""Longest silence that one look counts, in [s]."""
CLOCK_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Fits every publisher; every message is kept in its order with the joint states."""
FOLLOWED_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)

Callback = Callable[[], Any]


class Timed(Protocol):
    """Timer on either clock."""

    def cancel(self) -> None:
        """Stop until `reset`."""

    def reset(self) -> None:
        """Start again, with a complete period."""


def now(node: Node) -> float:
    """Return the time of the node's clock, in [s]; only differences mean something."""
    simulated: SimulatedClock | None = getattr(node, 'simulated_clock', None)
    return time.monotonic() if simulated is None else simulated.elapsed


def start_timer(node: Node, period: float, callback: Callback) -> Timed:
    """Create a timer on the node's clock.

    :param period: in [s]
    """
    simulated: SimulatedClock | None = getattr(node, 'simulated_clock', None)
    if simulated is None:
        return start_real_timer(node, period, callback)
    return simulated.start_timer(period, callback)


def start_real_timer(node: Node, period: float, callback: Callback, **options: Any) -> Timed:
    """Create a timer in real time, to look at work that takes real time, such as a thread's.

    :param period: in [s]
    """
    clock = Clock(clock_type=ClockType.STEADY_TIME)
    timer: Timed = node.create_timer(period, callback, clock=clock, **options)
    return timer


class SimulatedClock:
    """Clock of a node with `use_sim_time`.

    Its timers run inside the message on /clock. Then the node acknowledges the stamp: it has
    processed all messages that arrived before. The simulated cell waits for that.

    If the simulation dies, the clock continues in real time, so that every watchdog of the node
    acts as it does on a robot. The same holds before the first message.

    :ivar elapsed: time in [s]; it never goes back
    """

    def __init__(
        self,
        node: Node,
        set_time: Callable[[ClockMessage], object],
        guard: Callable[[float, Callback], Callback],
    ) -> None:
        """Prepare the acknowledgements and the watch in real time.

        :param set_time: set the ROS time of the node
        :param guard: wrap the callback of a timer of this period, so that it raises nothing
        """
        self.elapsed = 0.0
        self._node, self._set_time, self._guard = node, set_time, guard
        self._stamp: int | None = None
        self._acknowledged = 0
        self._timers: list[_Timer] = []
        self._dead = False
        self._looked, self._silence = time.monotonic(), 0.0
        self._follower = ''
        self._publisher = node.create_publisher(Header, FOLLOWED, FOLLOWED_QOS)
        start_real_timer(node, LOOK, self._look)

    def take(self, message: ClockMessage) -> None:
        """Advance to a stamp of the simulation, run the timers that are due, and acknowledge.

        :raises ControlError: a negative stamp
        """
        if message.clock.sec < 0:
            raise ControlError(f'the time of the simulation is negative: {message.clock.sec} s')
        self._set_time(message)
        stamp = nanoseconds_of(message.clock)
        repeated = stamp == self._stamp
        self._silence, self._dead = 0.0, False
        if not repeated:
            step = 0.0 if self._stamp is None else 1e-9 * (stamp - self._stamp)
            self._stamp = stamp
            # a simulation that was started again begins at any time, which is no time that passed
            self._advance(step if 0.0 <= step <= DEAD else 0.0)
        if repeated or not 0 <= stamp - self._acknowledged < BEAT:
            self._acknowledge(stamp, message.clock)

    def start_timer(self, period: float, callback: Callback) -> Timed:
        """Create a timer on this clock; `period` in [s]."""
        timer = _Timer(self, period, self._guard(period, callback))
        self._timers.append(timer)
        return timer

    def _advance(self, step: float) -> None:
        self.elapsed += step
        for timer in self._timers:
            timer.run()

    def _acknowledge(self, stamp: int, clock: Time) -> None:
        if not self._follower:
            self._follower = follower(self._node.get_fully_qualified_name())
        self._acknowledged = stamp
        self._publisher.publish(Header(stamp=clock, frame_id=self._follower))

    def _look(self) -> None:
        looked, self._looked = self._looked, time.monotonic()
        # after a longer time this process was held up, and messages wait to be read
        step = min(self._looked - looked, LONGEST_LOOK)
        self._silence += step
        if self._silence < DEAD:
            return
        if self._stamp is not None and not self._dead:
            self._dead = True
            self._node.get_logger().warning(
                f'{TOPIC} has been silent for {DEAD:g} s: time continues in real time'
            )
        if self._stamp is not None:
            self._stamp += round(1e9 * step)
            self._set_time(ClockMessage(clock=to_stamp(self._stamp)))
        self._advance(step)


class _Timer:
    """Timer of a `SimulatedClock`."""

    def __init__(self, clock: SimulatedClock, period: float, callback: Callback) -> None:
        self._clock, self._period, self._callback = clock, period, callback
        self.reset()

    def cancel(self) -> None:
        self._due = math.inf

    def reset(self) -> None:
        self._due = self._clock.elapsed + self._period

    def run(self) -> None:
        """Call back if it is due: once, also if several periods have passed."""
        late = self._clock.elapsed - self._due
        if late > -1e-9:
            self._due += self._period * (1 + int(late / self._period))
            self._callback()


def follower(name: str) -> str:
    """Return the text by which a simulation knows a node: name, process, and its machine."""
    return f'{name} {os.getpid()} {machine()}'


def machine() -> str:
    """Return a name of this machine and its table of processes."""
    return f'{socket.gethostname()}/{Path("/proc/self/ns/pid").readlink()}'


def to_stamp(nanoseconds: int) -> Time:
    """Convert a ROS time in [ns] to a message."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return Time(sec=seconds, nanosec=rest)


def nanoseconds_of(stamp: Time) -> int:
    """Return the ROS time of a message, in [ns]."""
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def to_duration(seconds: float) -> Duration:
    """Convert a duration in [s] to a message; beyond 68 years: the longest one; NaN: zero."""
    bounded = 0.0 if math.isnan(seconds) else min(max(seconds, -(2.0**31)), 2.0**31 - 1.0)
    integer, rest = divmod(round(bounded * 1e9), 10**9)
    return Duration(sec=integer, nanosec=rest)


def seconds_of(duration: Duration) -> float:
    """Return the duration of a message, in [s]."""
    return float(duration.sec + 1e-9 * duration.nanosec)
