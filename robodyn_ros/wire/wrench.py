# SPDX-License-Identifier: Apache-2.0
"""Layout of WrenchStamped messages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.wire.cursor import NANOSECONDS, TIME, Cursor
from robodyn_ros.wire.writer import Writer


def encode_wrench(stamp: int, frame: str, wrench: NDArray[np.float64]) -> bytes:
    """Encode a WrenchStamped message.

    :param stamp: in [ns] since the epoch
    :param frame: whose axes the wrench has
    :param wrench: force [N] and torque [Nm], shape (6,)
    """
    writer = Writer()
    writer.data += TIME.pack(*divmod(stamp, NANOSECONDS))
    writer.text(frame)
    writer.numbers(wrench)
    return bytes(writer.data)


def decode_wrench(data: bytes) -> tuple[int, str, NDArray[np.float64]]:
    """Return stamp [ns], frame and wrench, shape (6,), of a WrenchStamped message.

    :raises WireError: it is damaged, or of another type
    """
    cursor = Cursor(data)
    stamp, frame = cursor.time(), cursor.text()
    start = cursor.skip(48, 8)
    cursor.end()
    return stamp, frame, np.frombuffer(data, '<f8', 6, start).astype(np.float64)
