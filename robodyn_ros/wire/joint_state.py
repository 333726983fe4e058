# SPDX-License-Identifier: Apache-2.0
"""Layout of JointState messages.

The messages of a publisher differ in their stamps and numbers only. Their layout is parsed once.
Then one comparison recognises a message and one call reads its numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.wire.cursor import BODY, NANOSECONDS, TIME, Cursor, Writer

FIELDS = ('position', 'velocity', 'effort')
"""Arrays of a JointState, in the order of the message."""
STAMP_END = BODY + TIME.size
"""Offset behind the stamp, in bytes."""

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class JointStateLayout:
    """Layout that messages with the same frame, names and array lengths share.

    :ivar length: size of a message, in bytes
    :ivar names: joint names, in the order of the arrays
    :ivar starts: offset of position, velocity and effort; -1 for an empty array
    """

    def __init__(self, data: bytes) -> None:
        """Parse one message.

        :raises WireError: it is not a little-endian JointState, or an array does not fit its names
        """
        cursor = Cursor(data)
        self.names, self.starts = cursor.read_named_arrays(len(FIELDS))
        cursor.end()
        self.length = len(data)
        width = 8 * len(self.names)
        arrays = [(start, start + width) for start in self.starts if start >= 0]
        varying = [(2, STAMP_END), *arrays, *cursor.padding]  # 2: options of the header
        # A struct that skips what may vary: it reads all other bytes in one call.
        form, at = '<', 0
        for start, end in sorted(varying):
            form += f'{start - at}s{end - start}x'
            at = end
        self._constant = struct.Struct(f'{form}{cursor.at - at}s').unpack_from
        self._expected = self._constant(data)

    def fits(self, data: bytes) -> bool:
        """Return True if a message differs only in its stamp, numbers and padding."""
        return len(data) == self.length and self._constant(data) == self._expected

    @cached_property
    def numbers(self) -> struct.Struct:
        """All numbers of a message: seconds and nanoseconds of the stamp, then the arrays."""
        form, at = f'<{BODY}xiI', STAMP_END
        for start in self.starts:
            if start >= 0:
                form += f'{start - at}x{len(self.names)}d'
                at = start + 8 * len(self.names)
        return struct.Struct(form)

    @cached_property
    def columns(self) -> dict[str, int]:
        """Index of the first value of each array that is not empty, among `numbers`."""
        given = [field for field, at in zip(FIELDS, self.starts, strict=True) if at >= 0]
        return {field: 2 + row * len(self.names) for row, field in enumerate(given)}

    def decode(self, messages: Sequence[bytes]) -> tuple[Integers, Array, Array, Array]:
        """Return the numbers of messages that fit.

        :return: stamps in [ns], shape (N,); position, velocity and effort, shape (N, n), NaN
            where an array is empty
        """
        block = np.frombuffer(b''.join(messages), np.uint8).reshape(-1, self.length)
        seconds = block[:, 4:8].copy().view('<i4')[:, 0].astype(np.int64)
        nanoseconds = block[:, 8:12].copy().view('<u4')[:, 0]
        position, velocity, effort = (self._array(block, start) for start in self.starts)
        return seconds * NANOSECONDS + nanoseconds, position, velocity, effort

    def _array(self, block: NDArray[np.uint8], start: int) -> Array:
        width = len(self.names)
        if start < 0:
            return np.full((len(block), width), np.nan)
        return np.asarray(block[:, start : start + 8 * width].copy().view('<f8'), dtype=np.float64)


def stamp_of(data: bytes) -> int | None:
    """Return the stamp of a little-endian message in [ns], None if the message is too short."""
    if len(data) < STAMP_END:
        return None
    seconds, nanoseconds = TIME.unpack_from(data, BODY)
    return int(seconds * NANOSECONDS + nanoseconds)


def encode_joint_states(
    joints: Sequence[str],
    stamps: Integers,
    position: Array | None = None,
    velocity: Array | None = None,
    effort: Array | None = None,
) -> NDArray[np.uint8]:
    """Encode JointState messages with an empty frame, one per row.

    :param stamps: shape (N,), in [ns] since the epoch
    :param position: shape (N, n), as velocity and effort; None: left empty
    :return: shape (N, bytes of a message)
    """
    arrays = (position, velocity, effort)
    writer = Writer()
    writer.header(0, '', joints)
    for values in arrays:
        writer.doubles(np.zeros(0 if values is None else len(joints)))
    layout = JointStateLayout(bytes(writer.data))
    rows = np.tile(np.frombuffer(writer.data, np.uint8), (len(stamps), 1))
    rows[:, 4:8] = _bytes((stamps // NANOSECONDS).astype('<i4')[:, None])
    rows[:, 8:12] = _bytes((stamps % NANOSECONDS).astype('<u4')[:, None])
    for values, start in zip(arrays, layout.starts, strict=True):
        if values is not None and start >= 0:
            rows[:, start : start + 8 * len(joints)] = _bytes(values.astype('<f8'))
    return rows


def _bytes(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(values).view(np.uint8)
