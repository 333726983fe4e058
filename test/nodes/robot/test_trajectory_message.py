# SPDX-License-Identifier: Apache-2.0
"""Serialised trajectories against rclpy's own reading of them."""

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.nodes.robot import trajectory_message
from robodyn_ros.nodes.robot.trajectory_message import read_trajectory, with_valid_stamp

pytestmark = pytest.mark.ros
FIELDS = ('positions', 'velocities', 'accelerations', 'effort')


def message(count, joints, given, frame='', seed=0):
    """Random points; `given` says for each field whether points have it ('x': every other)."""
    random = np.random.default_rng(seed)
    result = JointTrajectory(joint_names=[f'joint_{"n" * i}' for i in range(joints)])
    result.header.frame_id = frame
    result.header.stamp = Time(sec=1_700_000_000, nanosec=123)
    for row in range(count):
        point = JointTrajectoryPoint()
        for field, mark in zip(FIELDS, given, strict=True):
            if mark == '1' or (mark == 'x' and row % 2):
                setattr(point, field, random.normal(size=joints).tolist())
        point.time_from_start = Duration(sec=row // 3, nanosec=row % 3 * 300_000_000 + 7)
        result.points.append(point)
    return result


def assert_same(points, expected):
    assert points.joints == expected.joints
    for name in ('time', 'position', 'velocity', 'acceleration', 'effort'):
        ours, theirs = getattr(points, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if theirs is not None:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize('given', ['1000', '1100', '1110', '1111', '1001', '1101', '1x0x'])
@pytest.mark.parametrize('frame', ['', 'abcd'])
def test_points_are_those_that_rclpy_reads(given, frame):
    for count in (1, 2, 31):
        sent = message(count, 3, given, frame, seed=count)
        data = serialize_message(sent)
        stamp, points = read_trajectory(data)
        assert stamp == 1_700_000_000_000_000_123
        assert_same(points, TrajectoryPoints.from_message(deserialize_message(data, type(sent))))


@pytest.mark.parametrize('given', ['1111', '1100', '1001', '1000'])
@pytest.mark.parametrize('frame', ['', 'abcd'])
def test_points_that_are_alike_are_read_without_message_objects(given, frame, monkeypatch):
    data = serialize_message(message(500, 6, given, frame))
    monkeypatch.setattr(trajectory_message, 'deserialize_message', None)
    assert len(read_trajectory(data)[1].time) == 500


def test_no_points_and_no_stamp():
    assert read_trajectory(serialize_message(JointTrajectory(joint_names=['a']))) == (0, None)


def test_points_that_no_controller_could_follow_are_refused():
    sent = message(3, 2, '1100')
    sent.points[1].velocities = [1.0]
    with pytest.raises(MotionError, match='velocities of point 1 must have 2 values'):
        read_trajectory(serialize_message(sent))
    sent = message(3, 2, '1111')
    sent.points[2].time_from_start = Duration()
    with pytest.raises(MotionError, match='must increase strictly, point 2'):
        read_trajectory(serialize_message(sent))


@pytest.mark.parametrize('length', [4, 17, 60])
def test_bytes_that_are_no_trajectory_are_a_sentence(length):
    serialised = serialize_message(message(3, 2, '1x00'))
    with pytest.raises(MotionError, match=r'it cannot be read: .*deserialize'):
        read_trajectory(serialised[:length])


@pytest.mark.parametrize('given', ['1100', '1x0x'])
@pytest.mark.parametrize('count', [0, 3])
def test_a_negative_stamp_which_ends_a_controller_is_refused(given, count):
    sent = message(count, 2, given)
    sent.header.stamp = Time(sec=-1)
    for read in (read_trajectory, trajectory_message._read_mixed):
        with pytest.raises(MotionError, match='its stamp is negative'):
            read(serialize_message(sent))


def test_without_points_a_negative_stamp_becomes_zero_because_it_stops_a_robot():
    sent = message(0, 2, '1100')
    assert with_valid_stamp(serialize_message(sent)) == serialize_message(sent)
    sent.header.stamp = Time(sec=-1, nanosec=7)
    passed = deserialize_message(with_valid_stamp(serialize_message(sent)), JointTrajectory)
    assert passed.header.stamp == Time() and passed.joint_names == sent.joint_names
    assert with_valid_stamp(b'no message') == b'no message'
