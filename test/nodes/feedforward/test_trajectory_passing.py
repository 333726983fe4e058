# SPDX-License-Identifier: Apache-2.0
"""Trajectories that pass without torque keep their own effort only where its limit is known."""

import time

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robodyn_ros.bounds import MIXED_POINTS, BoundError
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import MotionError
from robodyn_ros.nodes.feedforward.trajectory_passing import Passing
from robodyn_ros.nodes.robot import trajectory_message
from robodyn_ros.wire.trajectory import read_trajectory, write_trajectory


def passed(limit, *efforts):
    passing = Passing(EffortDeclaration.si())
    passing.limit = limit
    points = [JointTrajectoryPoint(positions=[0.0], effort=list(row)) for row in efforts]
    serialised = serialize_message(JointTrajectory(joint_names=['joint1'], points=points))
    message, problem = passing.passed(serialised)
    points = deserialize_message(message, JointTrajectory).points
    return [list(point.effort) for point in points], problem


def test_effort_is_clipped_to_the_limit():
    assert passed({'joint1': 10.0}, [5000.0], [-3.0], []) == ([[10.0], [-3.0], []], '')


def test_effort_without_a_known_limit_is_taken_out():
    efforts, problem = passed({}, [5000.0], [1.0])
    assert efforts == [[], []]
    assert "the torque limit of joint 'joint1' is not known" in problem


def test_bytes_that_are_no_trajectory_do_not_pass():
    message = serialize_message(JointTrajectory(joint_names=['joint1']))
    with pytest.raises(MotionError, match='it cannot be read'):
        Passing(None).passed(message[:9])


def long_message(count, *, effort=True, mixed=False):
    """A trajectory of six joints, each of whose points has all fields, or not the first one."""
    joints, rows = [f'joint{k}' for k in range(6)], np.full((count, 6), 500.0)
    data = write_trajectory(
        stamp=7, joints=joints, time=0.002 * np.arange(count), frame='base',
        fields=(rows, rows, rows, rows if effort else None),
    )  # fmt: skip
    if not mixed:
        return data
    message = deserialize_message(data, JointTrajectory)
    message.points[0].effort = []
    return serialize_message(message)


def processor_time(call):
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


@pytest.mark.parametrize('effort', [False, True])
def test_a_long_one_keeps_a_stop_waiting_for_milliseconds_only(effort):
    """rclpy takes 12 us for each point to read and write it."""
    passing = Passing(EffortDeclaration.si())
    passing.limit = {f'joint{k}': 10.0 for k in range(6)}
    data = long_message(10_000, effort=effort)
    assert min(processor_time(lambda: passing.passed(data)) for _ in range(5)) < 0.04
    converted, problem = passing.passed(data)
    assert not problem
    if not effort:
        assert converted == data
        return
    before, after = read_trajectory(data), read_trajectory(converted)
    assert (after.stamp, after.joints, after.frame) == (7, before.joints, 'base')
    np.testing.assert_array_equal(after.time, before.time)
    for field in range(3):
        np.testing.assert_array_equal(after.fields[field], before.fields[field])
    assert (after.fields[3] == 10.0).all() and after.fields[3].shape == (10_000, 6)


def test_points_with_different_fields_are_bounded():
    passing = Passing(EffortDeclaration.si())
    passing.limit = {f'joint{k}': 10.0 for k in range(6)}
    data = long_message(MIXED_POINTS.most, mixed=True)
    points = deserialize_message(passing.passed(data)[0], JointTrajectory).points
    assert not points[0].effort and list(points[-1].effort) == [10.0] * 6
    data = long_message(MIXED_POINTS.most + 1, mixed=True)
    with pytest.raises(BoundError, match=r'at most 1000 points, got 1001'):
        passing.passed(data)
    with pytest.raises(BoundError, match='at most 1000 points'):
        trajectory_message.read_trajectory(data)


def test_a_message_that_takes_long_to_publish_is_refused():
    with pytest.raises(BoundError, match='at most 8388608 bytes'):
        Passing(None).passed(long_message(50_000))


def test_an_effort_that_is_not_finite_takes_all_of_them_out():
    efforts, problem = passed({'joint1': 10.0}, [1.0], [float('nan')])
    assert efforts == [[], []] and problem.endswith('or none, got [nan]')
