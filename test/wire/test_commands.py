# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from bags import cdr, message, torque_types
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.recording.topics.messages import TRAJECTORY_STATE
from robodyn_ros.wire.commands import CommandReader, as_joint_state

STAMP = 1_700_000_000_250_000_000
STORE = torque_types()


def controller_state(names: list[str], positions: list[float]) -> bytes:
    """JointTrajectoryControllerState, written by rosbags."""
    point = STORE.types['trajectory_msgs/msg/JointTrajectoryPoint']
    duration = STORE.types['builtin_interfaces/msg/Duration'](sec=0, nanosec=0)
    other = np.full(len(names), 9.0)
    points = [point(np.array(each), other, other, other, duration)
              for each in (positions, other, other, other)]  # fmt: skip
    header = message(STAMP, [], [], [], []).header
    state = STORE.types[TRAJECTORY_STATE](header, names, *points)
    return bytes(STORE.serialize_cdr(state, TRAJECTORY_STATE))


def test_both_messages_give_stamp_and_positions_in_the_order_of_the_joints() -> None:
    names, positions = ['gripper', 'b', 'a'], [0.3, 0.2, 0.1]
    for data in (
        cdr(message(STAMP, names, positions, [], [])),
        controller_state(names, positions),
    ):
        found = CommandReader(['a', 'b']).read(data)
        assert found == (pytest.approx(1e-9 * STAMP, abs=1e-6), [0.1, 0.2])


def test_the_order_may_change_and_missing_joints_or_positions_are_none() -> None:
    reader = CommandReader(['a', 'b'])
    for names, positions, expected in (
        (['a', 'b'], [1.0, 2.0], [1.0, 2.0]), (['b', 'a'], [1.0, 2.0], [2.0, 1.0]),
        (['a'], [1.0], None), (['a', 'b'], [], None), (['b', 'a'], [3.0, 4.0], [4.0, 3.0]),
    ):  # fmt: skip
        found = reader.read(controller_state(names, positions))
        assert (found and found[1]) == expected


def test_the_state_of_a_controller_becomes_a_joint_state() -> None:
    names, positions = ['gripper', 'b', 'a'], [0.3, 0.2, 0.1]
    wanted = message(STAMP, names, positions, [], [])
    for data in (
        controller_state(names, positions),
        cdr(message(STAMP, names, positions, [], [])),
    ):
        found = STORE.deserialize_cdr(as_joint_state(data), wanted.__msgtype__)
        assert (found.header, found.name) == (wanted.header, names)
        assert [len(each) for each in (found.velocity, found.effort)] == [0, 0]
        assert found.position.tolist() == positions
    assert as_joint_state(controller_state(names, [])) is None


@given(st.binary(max_size=200), st.integers(0, 400))
def test_no_bytes_raise(data: bytes, cut: int) -> None:
    reader, whole = CommandReader(['a', 'b']), controller_state(['a', 'b'], [1.0, 2.0])
    reader.read(whole)
    for each in (data, whole[:cut], whole[:cut] + data, b'\x00\x01\x00\x00' + data):
        found = reader.read(each)
        assert found is None or len(found[1]) == 2
        assert (as_joint_state(each) is None) or CommandReader([]).read(each) is not None
