"""JointState messages read from their serialised bytes: what a node sees 500 times a second.

rclpy spends 30 us on the Python objects of a message with six joints and the reader 15 us more;
names, lengths and layout are the same in every message of a publisher, so they are compared as
bytes here and the numbers are taken where they are. Whatever looks new goes the ordinary way.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.joint_states import FIELDS, JointStateReader

BODY = 4
"""Bytes before the body of a message; alignment counts from the body (plain CDR)."""
AFTER_STAMP = BODY + 8
LITTLE_ENDIAN = b'\x00\x01'


class JointStateBytes(JointStateReader):
    """`JointStateReader` for subscriptions with `raw=True`; `time` is the stamp as it came."""

    def __init__(self, joints: Sequence[str], required: Sequence[str] = FIELDS) -> None:
        """Prepare for these joints; `required` fields must be there and finite."""
        super().__init__(joints, required)
        self.time = Time()
        self._length = -1
        self._meaning: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._expected = b''
        self._offsets: tuple[int, ...] = ()

    def read_bytes(self, serialised: bytes) -> str:
        """Take a message over; return '' or the reason why it is refused."""
        if self._read_known(serialised):
            return ''
        message = deserialize_message(serialised, JointState)
        self.time = message.header.stamp
        problem = self.read(message)
        if not problem and serialised[:2] == LITTLE_ENDIAN:
            self._learn(serialised)
        return problem

    def _read_known(self, serialised: bytes) -> bool:
        """Read a message that is laid out as the last one; False: it is not, or not finite."""
        if len(serialised) != self._length:
            return False
        data = np.frombuffer(serialised, dtype=np.uint8)
        if data[self._meaning].tobytes() != self._expected:
            return False
        count = len(self._names)
        fresh = []
        for offset in self._offsets:
            values = np.frombuffer(serialised, '<f8', count, offset)[self._columns]
            if not math.isfinite(sum(values.tolist())):
                return False
            fresh.append(values)
        for field, values in zip(self.required, fresh, strict=True):
            getattr(self, field)[:] = values
        seconds, nanoseconds = struct.unpack_from('<iI', serialised, BODY)
        self.time = Time(sec=seconds, nanosec=nanoseconds)
        self.stamp = seconds + 1e-9 * nanoseconds
        return True

    def _learn(self, serialised: bytes) -> None:
        """Remember the layout of a message that was read: all bytes but numbers and padding."""
        meaning: list[int] = []
        at = AFTER_STAMP

        def number() -> int:
            nonlocal at
            at += -(at - BODY) % 4
            meaning.extend(range(at, at + 4))
            at += 4
            return int(struct.unpack_from('<I', serialised, at - 4)[0])

        def text() -> None:
            nonlocal at
            length = number()
            meaning.extend(range(at, at + length))
            at += length

        text()
        for _ in range(number()):
            text()
        begins = {}
        for field in FIELDS:
            count = number()
            at += -(at - BODY) % 8 if count else 0
            begins[field] = at
            at += 8 * count
        self._offsets = tuple(begins[field] for field in self.required)
        self._meaning = np.array(meaning, dtype=np.intp)
        self._expected = np.frombuffer(serialised, dtype=np.uint8)[self._meaning].tobytes()
        self._length = len(serialised)
