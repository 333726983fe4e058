# SPDX-License-Identifier: Apache-2.0
"""Strict cursor through a serialised message, and a writer of one."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BODY = 4
"""Offset of the body, in bytes: the header comes first."""
LITTLE_ENDIAN = b'\x00\x01'
"""First two header bytes of plain little-endian CDR; the other two are options."""
NANOSECONDS = 1_000_000_000
"""Nanoseconds in a second."""
TIME = struct.Struct('<iI')
"""Time and duration: seconds and nanoseconds."""
NUMBER = struct.Struct('<I')
"""Count of a sequence or a string."""


class WireError(ValueError):
    """Raised for bytes that are not a message of the expected type."""


class Cursor:
    """Position in a message. Every offset counts from the first header byte.

    :ivar at: offset of the next byte
    :ivar padding: byte ranges (start, end) that were skipped to align a value
    """

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        """Start at the body; a message that is not little-endian CDR is a WireError."""
        if len(data) < BODY or bytes(data[:2]) != LITTLE_ENDIAN:
            raise WireError('not little-endian CDR')
        self.data = data
        self.at = BODY
        self.padding: list[tuple[int, int]] = []
        self._slack = 3  # a payload is padded to a multiple of 4 bytes

    def skip(self, size: int, alignment: int = 1) -> int:
        """Skip bytes and return the offset of the first one.

        :raises WireError: the message ends before them
        """
        start = self.at + (BODY - self.at) % alignment
        if start + size > len(self.data):
            raise WireError(
                f'the message ends too early: {size} bytes expected at offset {start}, '
                f'it has {len(self.data)}'
            )
        if start > self.at:
            self.padding.append((self.at, start))
        self.at = start + size
        return start

    def count(self) -> int:
        """Read the count of a sequence or string.

        :raises WireError: as `skip`
        """
        (value,) = NUMBER.unpack_from(self.data, self.skip(4, 4))
        return int(value)

    def time(self) -> int:
        """Read a time or duration, in [ns].

        :raises WireError: as `skip`
        """
        seconds, nanoseconds = TIME.unpack_from(self.data, self.skip(8, 4))
        return int(seconds * NANOSECONDS + nanoseconds)

    def text(self) -> str:
        """Read a string.

        :raises WireError: it is cut off, not zero-terminated or not UTF-8
        """
        size = self.count()
        start = self.skip(size)
        raw = bytes(self.data[start : self.at])
        if size and raw.find(0) != size - 1:
            raise WireError(f'the string at offset {start} has no zero byte at its end only')
        try:
            return raw[:-1].decode()
        except UnicodeDecodeError as error:
            raise WireError(f'the string at offset {start} is not UTF-8') from error

    def texts(self) -> tuple[str, ...]:
        """Read a sequence of strings.

        :raises WireError: as `text`
        """
        return tuple(self.text() for _ in range(self.count()))

    def doubles(self) -> tuple[int, int]:
        """Skip a sequence of doubles; return the offset of the first one and their number.

        :raises WireError: as `skip`
        """
        count = self.count()
        if not count:
            self._slack += 4  # rmw_fastrtps reserves the alignment of an empty sequence too
        return self.skip(8 * count, 8 if count else 1), count

    def read_named_arrays(self, count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Read the common start of JointState and TorqueState: header, names, arrays of doubles.

        :return: joint names, and the offset of each array, -1 for an empty one
        :raises WireError: the message is damaged, or an array does not fit the names
        """
        self.time()
        self.text()
        names = self.texts()
        arrays = [self.doubles() for _ in range(count)]
        for _, length in arrays:
            if length not in (0, len(names)):
                raise WireError(f'{length} values for {len(names)} joints')
        return names, tuple(start if length else -1 for start, length in arrays)

    def end(self) -> None:
        """Check that nothing but padding follows.

        :raises WireError: more bytes follow
        """
        if len(self.data) - self.at > self._slack:
            raise WireError(f'{len(self.data)} bytes, but the values end at offset {self.at}')


class Writer:
    """Message that grows value by value; padding bytes are zero.

    :ivar data: the bytes written so far
    """

    def __init__(self) -> None:
        """Write the header."""
        self.data = bytearray(LITTLE_ENDIAN + bytes(2))

    def header(self, stamp: int, frame: str, names: Sequence[str]) -> None:
        """Write a std_msgs/Header and the joint names.

        :param stamp: in [ns]
        """
        self.data += TIME.pack(*divmod(stamp, NANOSECONDS))
        self.text(frame)
        self.count(len(names))
        for name in names:
            self.text(name)

    def count(self, value: int) -> None:
        """Write the count of a sequence or string."""
        self._align(4)
        self.data += NUMBER.pack(value)

    def text(self, text: str) -> None:
        """Write a string."""
        raw = text.encode() + b'\0'
        self.count(len(raw))
        self.data += raw

    def doubles(self, values: NDArray[np.float64]) -> None:
        """Write a sequence of doubles, shape (n,)."""
        self.count(len(values))
        if len(values):
            self.numbers(values)

    def numbers(self, values: NDArray[np.float64]) -> None:
        """Write doubles that are no sequence, shape (n,)."""
        self._align(8)
        self.data += values.astype('<f8').tobytes()

    def _align(self, size: int) -> None:
        self.data += bytes((BODY - len(self.data)) % size)
