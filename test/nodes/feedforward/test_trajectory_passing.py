# SPDX-License-Identifier: Apache-2.0
"""Trajectories that pass without torque keep their own effort only where its limit is known."""

import pytest

pytest.importorskip('rclpy')
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import MotionError
from robodyn_ros.nodes.feedforward.trajectory_passing import Passing


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
