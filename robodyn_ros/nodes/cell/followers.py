# SPDX-License-Identifier: Apache-2.0
"""The simulation's side of /clock: it goes on only as fast as all nodes that follow it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock as ClockMessage
from std_msgs.msg import Header

from robodyn_ros.nodes.base.clock import (
    BEAT,
    FOLLOWED,
    FOLLOWED_QOS,
    TOPIC,
    machine,
    nanoseconds_of,
    to_stamp,
)

AHEAD = 2 * BEAT
"""Simulated time by which the simulation may be ahead of the slowest follower, in [ns]."""
REPEAT = 0.02
"""Real time between two messages on /clock while the simulation waits, in [s]."""
PATIENCE = 60.0
"""Real time without an acknowledgement of a living process on this machine, in [s]."""
PATIENCE_ELSEWHERE = 5.0
"""The same for a process that cannot be looked at, in [s]."""


FOLLOWER = re.compile(r'\S+ \d+ .+')
"""Text of `follower`: name, process and machine."""


@dataclass
class _Follower:
    """Last acknowledged stamp in [ns], and the real time of the last message, in [s]."""

    stamp: int
    heard: float


class Followers:
    """Publisher of /clock, and the nodes that acknowledge it.

    A node that ends, or does not answer for `PATIENCE`, is left out until it acknowledges again.
    """

    def __init__(self, node: Node, followed: Callable[[], None]) -> None:
        """Publish and listen.

        :param followed: called after each acknowledgement
        """
        self._node, self._followed = node, followed
        self._nodes: dict[str, _Follower] = {}
        self._machine = machine()
        self._stamp, self._published = 0, time.monotonic()
        qos = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
        self._clock = node.create_publisher(ClockMessage, TOPIC, qos)
        node.create_subscription(Header, FOLLOWED, self._on_followed, FOLLOWED_QOS)

    def __bool__(self) -> bool:
        """Return True if a node follows."""
        return bool(self._nodes)

    def publish(self, stamp: int) -> None:
        """Publish the end of a cycle, after its messages; `stamp` in [ns]."""
        self._stamp, self._published = stamp, time.monotonic()
        self._clock.publish(ClockMessage(clock=to_stamp(stamp)))

    def ready(self, stamp: int) -> bool:
        """Return True if all nodes follow closely enough to run the cycle of this stamp.

        Cycles may be longer than `AHEAD`: then all have followed the cycle before.
        """
        return all(
            node.stamp >= self._stamp or stamp - node.stamp <= AHEAD
            for node in self._nodes.values()
        )

    def _on_followed(self, message: Header) -> None:
        stamp = nanoseconds_of(message.stamp)
        if stamp > self._stamp or not FOLLOWER.fullmatch(message.frame_id):
            return  # it followed a simulation before this one, or is no node of the suite
        self._nodes[message.frame_id] = _Follower(stamp, time.monotonic())
        self._followed()

    def repeat(self) -> None:
        """Repeat the time while the simulation waits, and forget nodes that have ended.

        Call this every `REPEAT` in real time.
        """
        now = time.monotonic()
        if now - self._published < REPEAT:
            return
        self.publish(self._stamp)
        for name, node in list(self._nodes.items()):
            if node.stamp < self._stamp - BEAT and self._is_lost(name, now - node.heard):
                self._nodes.pop(name, None)
                self._followed()

    def _is_lost(self, follower: str, silence: float) -> bool:
        name, process, place = follower.split(maxsplit=2)
        if place == self._machine and not _runs(process):
            return True
        if silence < (PATIENCE if place == self._machine else PATIENCE_ELSEWHERE):
            return False
        self._node.get_logger().warning(
            f'node {name} has not followed {TOPIC} for {silence:.0f} s: the simulation goes on'
        )
        return True


def _runs(process: str) -> bool:
    """Return True if a process has not ended."""
    try:
        return Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False
