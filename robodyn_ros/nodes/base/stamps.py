# SPDX-License-Identifier: Apache-2.0
"""Conversion of times and durations to ROS messages."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Duration, Time


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
    whole, rest = divmod(round(bounded * 1e9), 10**9)
    return Duration(sec=whole, nanosec=rest)


def seconds_of(duration: Duration) -> float:
    """Return the duration of a message, in [s]."""
    return float(duration.sec + 1e-9 * duration.nanosec)
