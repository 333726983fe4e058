"""Going through serialised messages: plain CDR, little endian (OMG DDSI-RTPS 2.2, section 10).

Numbers are aligned to their size from the begin of the body; sequences and strings are led by a
32-bit count.
"""

from __future__ import annotations

import struct

BODY = 4
"""Bytes before the body of a message."""
LITTLE_ENDIAN = b'\x00\x01'


class Cursor:
    """Goes through a message; `at` counts from the begin of its body."""

    def __init__(self, serialised: bytes | bytearray) -> None:
        """Begin at the begin of the body."""
        self.body = memoryview(serialised)[BODY:]
        self.at = 0

    def number(self) -> int:
        """Read a 32-bit number."""
        self.at += -self.at % 4
        (value,) = struct.unpack_from('<I', self.body, self.at)
        self.at += 4
        return int(value)

    def text(self) -> str:
        """Read a string."""
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
