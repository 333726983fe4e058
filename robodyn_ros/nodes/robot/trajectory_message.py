"""JointTrajectory messages with many points, read from their serialised bytes.

rclpy makes Python objects of every point: 15 000 points take 0.3 s, in which a node does nothing
else. Here the points are taken over as one array. Layout: plain CDR, little endian (OMG DDSI-RTPS
2.2, section 10): numbers aligned to their size from the body's begin, sequences and strings
led by a 32-bit count.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.wire.cursor import LITTLE_ENDIAN, Cursor

Array = NDArray[np.float64]
FIELDS = 4
"""Number sequences of a point: positions, velocities, accelerations, effort."""


def read_trajectory(serialised: bytes) -> tuple[int, TrajectoryPoints | None]:
    """Take over a serialised trajectory_msgs/JointTrajectory.

    :param serialised: as a subscription with `raw=True` gives it
    :return: header stamp in [ns], 0 if there is none, and the points, or None without points
    :raises MotionError: a trajectory that no controller could follow
    """
    regular = _read_regular(serialised)
    if regular is not None:
        return regular
    message: Any = deserialize_message(serialised, JointTrajectory)
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    return stamp, TrajectoryPoints.from_message(message) if message.points else None


def _read_regular(serialised: bytes) -> tuple[int, TrajectoryPoints | None] | None:
    """Read points that are all laid out as the first; None when they are not."""
    if serialised[:2] != LITTLE_ENDIAN:
        return None
    try:
        cursor = Cursor(serialised)
        stamp = cursor.number() * 1_000_000_000 + cursor.number()
        cursor.text()
        joints = tuple(cursor.text() for _ in range(cursor.number()))
        count = cursor.number()
        begin = cursor.at
        sequences = [cursor.doubles() for _ in range(FIELDS)] if count else []
        cursor.number(), cursor.number()
    except (struct.error, UnicodeDecodeError):
        return None
    size = cursor.at - begin
    whole = begin + count * size <= len(cursor.body)
    fitting = [length for _, length in sequences if length not in (0, len(joints))]
    if not count or size % 8 or not whole or fitting or not sequences[0][1]:
        return None
    return _points(cursor.body, stamp, joints, count, begin, size, sequences)


def _points(
    body: memoryview,
    stamp: int,
    joints: tuple[str, ...],
    count: int,
    begin: int,
    size: int,
    sequences: list[tuple[int, int]],
) -> tuple[int, TrajectoryPoints | None] | None:
    raw = np.frombuffer(body, dtype=np.uint8, count=count * size, offset=begin)
    raw = raw.reshape(count, size)

    def column(at: int, width: int, kind: str) -> NDArray[Any]:
        return np.ascontiguousarray(raw[:, at - begin : at - begin + width]).view(kind)

    fields: list[Array | None] = []
    end = begin
    for first, length in sequences:
        # The count of a sequence follows the sequence before it at once.
        if (column(end, 4, '<u4') != length).any():
            return None
        end = first + 8 * length
        fields.append(column(first, 8 * length, '<f8') if length else None)
    seconds, nanoseconds = column(end, 4, '<i4'), column(end + 4, 4, '<u4')
    time = (seconds + 1e-9 * nanoseconds)[:, 0]
    position, velocity, acceleration, effort = fields
    assert position is not None
    return stamp, TrajectoryPoints(joints, time, position, velocity, acceleration, effort)
