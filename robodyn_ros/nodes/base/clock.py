# SPDX-License-Identifier: Apache-2.0
"""The one clock of a node: every wait, watchdog, time-out and timer reads it."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer


def now(node: Node) -> float:
    """Return the time of the node's clock, in [s]; only differences mean something."""
    return time.monotonic()


def start_timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Create a timer on the node's clock.

    :param period: in [s]
    """
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
