# SPDX-License-Identifier: Apache-2.0
"""A robot with a joint_trajectory_controller and a forward controller, as little as tests need."""

import math
from typing import NamedTuple

import rclpy
from ros_client import Ear
from sensor_msgs.msg import JointState
from simulated_time import SimulatedTime
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints

PERIOD = 4_000_000
"""Of the joint states, in [ns]."""


class Told(NamedTuple):
    """A trajectory that came.

    :ivar sent: when, in [ns]
    :ivar zero: stamp, in [ns]
    """

    sent: int
    zero: int
    points: TrajectoryPoints


class FakeRobot:
    """Robot that follows commands without delay, in simulated time.

    A test can freeze it, push it, or stop its messages.

    :ivar time: it advances while a client with this time waits
    """

    def __init__(self, joints, position, context):
        self.joints = tuple(joints)
        self.effort = []
        self.trajectories = []
        self.setpoints = []
        self._take(position)
        self.node = rclpy.create_node('fake_robot', context=context)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        topic = 'joint_trajectory_controller/joint_trajectory'
        self._points = Ear(self.node, JointTrajectory, topic, 10)
        topic = 'forward_position_controller/commands'
        self._commands = Ear(self.node, Float64MultiArray, topic, 1000)
        self.time = SimulatedTime(context, PERIOD)
        self.time.ticks.append(self._on_tick)

    def close(self):
        self.time.close()
        self.node.destroy_node()

    def _take(self, position):
        self.frozen = self.silent = False
        self.drift = self.swing = 0.0
        self._active = None
        self.position = list(position)

    def reset(self, position, effort=()):
        """Stand there, whatever was told before and may still be on its way; nodes are told so.

        More joint states say it than any subscriber here keeps.
        """
        self.effort = list(effort)
        for _ in range(2):
            self._take(position)
            self.time.run(0.05)
            self.trajectories.clear()
            self.setpoints.clear()

    def settle(self):
        """Wait until it has taken what has come."""
        self.time.run(0.05)

    def put(self, joint, position):
        """Let one joint jump."""
        self.position[joint] = position

    def _on_tick(self):
        self._on_points()
        self._move()
        if not self.silent:
            message = JointState(name=list(self.joints))
            message.header.stamp = self.time.stamp
            message.position, message.effort = self.position, self.effort
            self._states.publish(message)

    def _on_points(self):
        rows = self._points.rows()
        for message in [row.message for row in rows if row.message.points]:
            # the real controller refuses an empty trajectory and goes on
            zero = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            points = TrajectoryPoints.from_message(message).select(self.joints)
            self._active = (zero, SplineTrajectory(points=points))
            self.trajectories.append(Told(self.time.nanoseconds, zero, points))
        rows.clear()

    def _move(self):
        rows, now = self._commands.rows(), self.time.nanoseconds
        for row in rows:
            self.setpoints.append(list(row.message.data))
            if not self.frozen:
                self.position = list(row.message.data)
        rows.clear()
        if self._active is not None and not self.frozen:
            zero, spline = self._active
            elapsed = 1e-9 * (now - zero)
            if elapsed >= 0.0:
                self.position = spline.at(min(elapsed, spline.duration))[0].tolist()
                self.position[0] += self.swing * math.sin(30e-9 * now)
        if self.drift:
            self.position = [value + self.drift * 1e-9 * PERIOD for value in self.position]
