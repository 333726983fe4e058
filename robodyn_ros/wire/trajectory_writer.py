"""JointTrajectory messages with many points, written as serialised bytes.

The counterpart of `trajectory_message`: 10 000 points as Python objects take rclpy about half a
second to build and to convert; as one array they take milliseconds. Plain CDR, little endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
HEADER = b'\x00\x01\x00\x00'
NANOSECONDS = 1_000_000_000


def write_trajectory(
    *,
    stamp: int,
    joints: Sequence[str],
    time: Array,
    fields: Sequence[Array],
    frame: str = '',
) -> bytes:
    """Serialise a trajectory_msgs/JointTrajectory, ready for `Publisher.publish`.

    :param stamp: header stamp, in [ns]
    :param time: time from start of the points, shape (N,), in [s]
    :param fields: positions, velocities, accelerations and effort, each of shape (N, n)
    """
    body = bytearray(struct.pack('<iI', *divmod(stamp, NANOSECONDS)))
    _text(body, frame)
    _number(body, len(joints))
    for name in joints:
        _text(body, name)
    _number(body, len(time))
    points = _points(time, fields, len(joints))
    first = points[:1].tobytes()
    # Numbers are aligned to 8 bytes: the first ones of all need no padding if the count before
    # them ends there.
    body += first[:4] + first[8:] if len(body) % 8 else first
    body += points[1:].tobytes()
    return HEADER + bytes(body)


def _points(time: Array, fields: Sequence[Array], width: int) -> NDArray[np.void]:
    """All points, laid out as behind a number of 8 bytes, shape (N,)."""
    layout: list[tuple[str, str, tuple[int, ...]]] = []
    for index in range(len(fields)):
        layout += [(f'count{index}', '<u4', ()), (f'padding{index}', '<u4', ())]
        layout += [(f'field{index}', '<f8', (width,))]
    layout += [('sec', '<i4', ()), ('nanosec', '<u4', ())]
    points = np.zeros(len(time), dtype=layout)
    for index, field in enumerate(fields):
        points[f'count{index}'] = width
        points[f'field{index}'] = field
    nanoseconds = np.rint(time * NANOSECONDS).astype(np.int64)
    points['sec'], points['nanosec'] = np.divmod(nanoseconds, NANOSECONDS)
    return points


def _number(body: bytearray, value: int) -> None:
    body += b'\0' * (-len(body) % 4) + struct.pack('<I', value)


def _text(body: bytearray, text: str) -> None:
    data = text.encode() + b'\0'
    _number(body, len(data))
    body += data
