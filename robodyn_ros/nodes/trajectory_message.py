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

from robodyn_ros.excitation.spline import TrajectoryPoints

Array = NDArray[np.float64]
LITTLE_ENDIAN = b'\x00\x01'
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


class _Cursor:
    """Reads numbers and strings one after the other."""

    def __init__(self, body: memoryview) -> None:
        self.body = body
        self.at = 0

    def number(self) -> int:
        self.at += -self.at % 4
        (value,) = struct.unpack_from('<I', self.body, self.at)
        self.at += 4
        return int(value)

    def text(self) -> str:
        length = self.number()
        begin, self.at = self.at, self.at + length
        return bytes(self.body[begin : self.at]).rstrip(b'\0').decode()

    def doubles(self) -> tuple[int, int]:
        """Skip a sequence of doubles; return where they begin and how many they are."""
        count = self.number()
        if count:
            self.at += -self.at % 8
        begin, self.at = self.at, self.at + 8 * count
        return begin, count


def _read_regular(serialised: bytes) -> tuple[int, TrajectoryPoints | None] | None:
    """Read points that are all laid out as the first; None when they are not."""
    if serialised[:2] != LITTLE_ENDIAN:
        return None
    try:
        cursor = _Cursor(memoryview(serialised)[4:])
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
