# SPDX-License-Identifier: Apache-2.0
"""Trajectories against rosbags as the oracle."""

import struct

import numpy as np
import pytest
from bags import TYPES
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.trajectory import (
    is_empty,
    message_size,
    read_trajectory,
    with_stamp,
    write_trajectory,
)

TYPE = 'trajectory_msgs/msg/JointTrajectory'
STAMP = 1_700_000_000_123_456_789
JOINTS = st.lists(st.text('abcé', min_size=1, max_size=9), min_size=1, max_size=7)
FRAMES = st.text('abcdefgh', max_size=8)
GIVEN = st.tuples(*[st.booleans()] * 4)


def encoded(joints, frame, given, count):
    """A message that rosbags wrote, its times in [ns] and its values, shape (4, N, n)."""
    types, random = TYPES.types, np.random.default_rng(0)
    values = random.normal(size=(4, count, len(joints)))
    time = np.cumsum(random.integers(1, 3 * 10**9, size=count))
    stamp = types['builtin_interfaces/msg/Time'](*divmod(STAMP, 10**9))
    points = []
    for row in range(count):
        arrays = [values[k, row] if given[k] else np.zeros(0) for k in range(4)]
        duration = types['builtin_interfaces/msg/Duration'](*divmod(int(time[row]), 10**9))
        points.append(types['trajectory_msgs/msg/JointTrajectoryPoint'](*arrays, duration))
    header = types['std_msgs/msg/Header'](stamp, frame)
    message = types[TYPE](header, list(joints), points)
    return bytes(TYPES.serialize_cdr(message, TYPE)), time, values


@given(JOINTS, FRAMES, GIVEN, st.integers(0, 5))
def test_reading_agrees_with_rosbags(joints, frame, given, count):
    data, time, values = encoded(joints, frame, given, count)
    arrays = read_trajectory(data)
    assert (arrays.stamp, arrays.joints) == (STAMP, tuple(joints))
    assert is_empty(data) == (count == 0) and not is_empty(data[:20])
    np.testing.assert_allclose(arrays.time, 1e-9 * time, rtol=1e-15)
    for field, present, expected in zip(arrays.fields, given, values, strict=True):
        assert (field is not None) == (present and count > 0)
        if field is not None:
            np.testing.assert_array_equal(field, expected)


@given(JOINTS, FRAMES, GIVEN, st.integers(0, 5))
def test_writing_agrees_with_rosbags(joints, frame, given, count):
    data, time, values = encoded(joints, frame, given, count)
    fields = [field if present else None for field, present in zip(values, given, strict=True)]
    written = write_trajectory(
        stamp=STAMP, joints=joints, time=1e-9 * time, fields=fields, frame=frame
    )
    assert written == data
    later = write_trajectory(
        stamp=STAMP + 7, joints=joints, time=1e-9 * time, fields=fields, frame=frame
    )
    assert with_stamp(written, STAMP + 7) == later
    if count:
        full = write_trajectory(stamp=0, joints=joints, time=1e-9 * time, fields=list(values))
        assert message_size(joints, count) == len(full)


def test_a_message_in_blocks_is_the_same():
    data, time, values = encoded(['a', 'b'], 'frame', [True, False, True, True], 9)
    fields = [values[0], None, *values[2:]]
    for size in (1, 2, 8, 9):
        written = write_trajectory(
            stamp=STAMP, joints=['a', 'b'], time=1e-9 * time, fields=fields, frame='frame',
            block=size,
        )  # fmt: skip
        assert written == data


def test_each_truncated_message_is_refused():
    data, *_ = encoded(['a', 'bc'], 'base', (True, True, False, True), 3)
    for length in range(len(data)):
        with pytest.raises(WireError):
            read_trajectory(data[:length])


@given(st.data())
def test_damaged_messages_are_refused_or_read_within_their_end(data):
    good = bytearray(encoded(['a', 'bc'], 'base', (True, True, False, True), 3)[0])
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(good[: data.draw(st.integers(0, len(good)))])
    try:
        arrays = read_trajectory(damaged)
    except WireError as error:
        assert str(error)
    else:
        assert 24 * len(arrays.time) <= len(damaged)  # a point has at least 24 bytes


def test_points_that_differ_or_cannot_be_there_are_refused():
    data, *_ = encoded(['a', 'b'], '', (True, False, False, False), 2)
    at = data.index(struct.pack('<II', 2, 2), 40)  # number of points, then that of positions
    for count in (3, 2**32 - 1):
        with pytest.raises(WireError, match='the message ends too early'):
            read_trajectory(data[:at] + struct.pack('<I', count) + data[at + 4 :])
    velocities = len(data) - 20
    with pytest.raises(WireError, match='do not all give the same quantities'):
        read_trajectory(data[:velocities] + struct.pack('<I', 1) + data[velocities + 4 :])
