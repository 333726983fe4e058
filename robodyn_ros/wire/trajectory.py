# SPDX-License-Identifier: Apache-2.0
"""JointTrajectory messages with many points.

rclpy makes Python objects of each point: 10 000 points take it about half a second. Here the
points are one structured array, both to read and to write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.wire.cursor import BODY, NANOSECONDS, TIME, Cursor, WireError, Writer

Array = NDArray[np.float64]
FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
"""Arrays of a point."""


@dataclass(frozen=True)
class TrajectoryArrays:
    """Content of a JointTrajectory whose points all give the same quantities.

    :param stamp: header stamp, in [ns]
    :param time: time from start, shape (N,), in [s]
    :param fields: positions, velocities, accelerations and effort, each of shape (N, n) or None
    """

    stamp: int
    joints: tuple[str, ...]
    time: Array
    fields: tuple[Array | None, ...]
    frame: str = ''


def read_trajectory(data: bytes) -> TrajectoryArrays:
    """Read a serialised trajectory_msgs/JointTrajectory.

    :raises WireError: the message is damaged, or its points differ in the quantities they give
    """
    cursor = Cursor(data)
    stamp = cursor.time()
    frame = cursor.text()
    joints = cursor.texts()
    count = cursor.count()
    if not count:
        return TrajectoryArrays(stamp, joints, np.zeros(0), (None,) * len(FIELDS), frame)
    start = cursor.at
    widths = [cursor.doubles()[1] for _ in FIELDS]
    if any(width not in (0, len(joints)) for width in widths):
        raise WireError(f'points with {widths} values for {len(joints)} joints')
    cursor.time()
    following = _point(cursor.at, widths)
    at = cursor.skip((count - 1) * following.itemsize)
    parts = (
        np.frombuffer(data, _point(start, widths), 1, start),
        np.frombuffer(data, following, count - 1, at),
    )

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([part[name] for part in parts])

    for index, width in enumerate(widths):
        if (column(f'count{index}') != width).any():
            raise WireError('the points do not all give the same quantities')
    time = column('sec') + 1e-9 * column('nanosec')
    fields = [column(f'field{index}') if width else None for index, width in enumerate(widths)]
    return TrajectoryArrays(stamp, joints, time, tuple(fields), frame)


def is_empty(data: bytes) -> bool:
    """Return True for a serialised JointTrajectory without points; False if it is damaged."""
    try:
        return not point_count(data)
    except WireError:
        return False


def point_count(data: bytes) -> int:
    """Return the number of points that a serialised JointTrajectory claims to have.

    :raises WireError: it is damaged before the points
    """
    cursor = Cursor(data)
    cursor.time()
    cursor.text()
    cursor.texts()
    return cursor.count()


def write_trajectory(
    *,
    stamp: int,
    joints: Sequence[str],
    time: Array,
    fields: Sequence[Array | None],
    frame: str = '',
    block: int = 4096,
) -> bytes:
    """Serialise a trajectory_msgs/JointTrajectory, ready for `Publisher.publish`.

    :param stamp: header stamp, in [ns]
    :param time: time from start of the points, shape (N,), in [s]
    :param fields: positions, velocities, accelerations and effort, each of shape (N, n), n >= 1;
        None: the points do not give it
    """
    writer = Writer()
    writer.header(stamp, frame, joints)
    writer.count(len(time))
    widths = [0 if field is None else len(joints) for field in fields]
    # Blocks, because a large copy keeps all other threads waiting. The first point has its own
    # layout; `getvalue` copies nothing.
    starts = range(1, len(time), block)
    stream = BytesIO()
    stream.write(writer.data)
    for rows in (slice(0, 1), *(slice(start, start + block) for start in starts)):
        points = np.zeros(len(time[rows]), _point(stream.tell(), widths))
        for index, field in enumerate(fields):
            if field is not None:
                points[f'count{index}'] = len(joints)
                points[f'field{index}'] = field[rows]
        nanoseconds = np.rint(time[rows] * NANOSECONDS).astype(np.int64)
        points['sec'], points['nanosec'] = np.divmod(nanoseconds, NANOSECONDS)
        stream.write(points.tobytes())
    return stream.getvalue()


def message_size(joints: Sequence[str], points: int) -> int:
    """Return the size of a message whose points have all fields, without a frame, in [bytes].

    :param points: their number, at least 1
    """
    writer = Writer()
    writer.header(0, '', joints)
    writer.count(points)
    widths = [len(joints)] * len(FIELDS)
    start = len(writer.data)
    second = start + _point(start, widths).itemsize
    return second + (points - 1) * _point(second, widths).itemsize


def with_stamp(data: bytes, stamp: int) -> bytes:
    """Return a message with another header stamp, in [ns]."""
    return data[:BODY] + TIME.pack(*divmod(stamp, NANOSECONDS)) + data[BODY + TIME.size :]


def _point(start: int, widths: Sequence[int]) -> np.dtype[np.void]:
    """Return the layout of a point, whose padding depends on its offset `start`."""
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    at = start
    for index, width in enumerate(widths):
        at += (BODY - at) % 4
        names.append(f'count{index}')
        formats.append('<u4')
        offsets.append(at - start)
        at += 4
        if width:
            at += (BODY - at) % 8
            names.append(f'field{index}')
            formats.append(('<f8', (width,)))  # as text it would be compiled
            offsets.append(at - start)
            at += 8 * width
    names += ['sec', 'nanosec']
    formats += ['<i4', '<u4']
    offsets += [at - start, at - start + 4]
    size = at + TIME.size - start
    return np.dtype({'names': names, 'formats': formats, 'offsets': offsets, 'itemsize': size})
