# SPDX-License-Identifier: Apache-2.0
"""A robot with a joint_trajectory_controller and a forward controller, as little as tests need."""

import math
import threading
import time
from typing import NamedTuple

import rclpy
from ros_client import PATIENCE, Ear
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints


class Told(NamedTuple):
    """A trajectory that came.

    :ivar sent: when, in [ns]: it may have come later
    :ivar zero: stamp, in [ns]
    """

    sent: int
    zero: int
    points: TrajectoryPoints


class FakeRobot:
    """Follows at once what it is told, in a thread; a test may freeze, silence or push it."""

    def __init__(self, joints, position, context):
        self.joints = tuple(joints)
        self._lock = threading.Condition()
        self._published = self._since = 0
        self.effort = []
        self.trajectories = []
        self.setpoints = []
        self._take(position)
        self.node = rclpy.create_node('fake_robot', context=context)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        self.node.create_subscription(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', self._on_points, 10
        )
        # As a controller does it takes all there are before it moves, were it held up or not.
        self._ears = rclpy.create_node('fake_robot_ears', context=context)
        topic = 'forward_position_controller/commands'
        self._commands = Ear(self._ears, Float64MultiArray, topic, 1000)
        self.node.create_timer(0.005, self._on_timer)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin)
        self._ended = False
        self._thread.start()

    def _spin(self):
        while not self._ended:
            self.executor.spin_once(timeout_sec=0.1)

    def close(self):
        self._ended = True
        self._thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        self._ears.destroy_node()

    def _take(self, position):
        self.frozen = self.silent = False
        self.drift = self.swing = 0.0
        self._active = None
        self.position = list(position)

    def reset(self, position, effort=()):
        """Stand there, whatever was told before and may still be on its way; nodes are told so.

        More joint states say it than any subscriber here keeps.
        """
        with self._lock:
            self._take(position)
            self.effort = list(effort)
            self.trajectories.clear()
            self.setpoints.clear()
            self._since = time.time_ns()
            self._wait()

    def settle(self):
        """Wait until it has taken what has come."""
        with self._lock:
            self._wait()

    def _wait(self):
        enough = self._published + 10
        assert self._lock.wait_for(lambda: self._published >= enough, PATIENCE)

    def put(self, joint, position):
        """Let one joint jump."""
        with self._lock:
            self.position[joint] = position

    def now(self):
        return self.node.get_clock().now().nanoseconds

    def _on_points(self, message, info):
        sent = info['source_timestamp']
        if not message.points:
            return  # the real controller refuses an empty trajectory and goes on
        zero = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        points = TrajectoryPoints.from_message(message).select(self.joints)
        with self._lock:
            if sent < self._since:
                return
            self._active = (zero, SplineTrajectory(points=points))
            self.trajectories.append(Told(sent, zero, points))

    def _on_timer(self):
        message = JointState(name=list(self.joints))
        with self._lock:
            now = self.node.get_clock().now()
            message.header.stamp = now.to_msg()
            self._move(now.nanoseconds)
            message.position, message.effort = self.position, self.effort
            if not self.silent:
                self._states.publish(message)
            self._published += 1
            self._lock.notify_all()

    def _move(self, now):
        rows = self._commands.rows()
        for row in rows:
            if row.time >= 1e-9 * self._since:
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
            self.position = [value + self.drift * 0.005 for value in self.position]
