# SPDX-License-Identifier: Apache-2.0
"""Messages of a soak, read from their bytes: thousands a second leave no time for objects.

All joint names are those of the cell, so every field has a fixed place.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from faulty_cell import MODEL
from rclpy.serialization import serialize_message
from robodyn_ros.msg import CollisionState

STAMP = struct.Struct('<iI')
STATE = struct.Struct('<2d8x2d8x2d')
"""Positions, velocities and efforts of two joints, each after its length, at the end."""
ERROR = struct.Struct('<2d')


class JointSample(NamedTuple):
    """A stamp in [ns], the six numbers of a joint state, and their bytes."""

    stamp: int
    values: tuple[float, ...]
    data: bytes


class LevelSample(NamedTuple):
    """A stamp in [ns], levels and torque errors of a collision state."""

    stamp: int
    level: list[int]
    error: tuple[float, ...]


def stamp_of(data: bytes) -> int:
    """Return the stamp of a message with a header, in [ns]."""
    seconds, rest = STAMP.unpack_from(data, 4)
    return int(seconds) * 10**9 + int(rest)


def joint_sample(data: bytes) -> JointSample:
    """Read a JointState."""
    tail = data[-STATE.size :]
    return JointSample(stamp_of(data), STATE.unpack(tail), tail)


def _places() -> tuple[int, int]:
    """Return where levels and torque errors are in a CollisionState."""
    example = CollisionState(name=list(MODEL.joint_names), level=[77, 78], torque_error=[7.0, 8.0])
    data = bytes(serialize_message(example))
    return data.index(bytes([77, 78])), data.index(ERROR.pack(7.0, 8.0))


LEVELS, ERRORS = _places()


def level_sample(data: bytes) -> LevelSample:
    """Read a CollisionState."""
    levels = list(data[LEVELS : LEVELS + 2])
    return LevelSample(stamp_of(data), levels, ERROR.unpack_from(data, ERRORS))
