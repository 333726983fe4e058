"""Conversion of times to ROS messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time


def to_stamp(nanoseconds: int) -> Time:
    """Convert a ROS time in [ns] to a message."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return Time(sec=seconds, nanosec=rest)
