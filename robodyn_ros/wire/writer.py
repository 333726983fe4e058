# SPDX-License-Identifier: Apache-2.0
"""Writer of a serialised message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.wire.cursor import BODY, LITTLE_ENDIAN, NANOSECONDS, NUMBER, TIME


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
