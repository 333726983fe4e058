"""A robot with a joint_trajectory_controller and a forward controller, as little as tests need."""

import threading
import time

import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.excitation.spline import SplineTrajectory, TrajectoryPoints


class FakeRobot:
    """Follows at once what it is told, in a thread; a test may freeze, silence or push it."""

    def __init__(self, joints, position):
        self.joints = tuple(joints)
        self.position = list(position)
        self.trajectories = []
        self.setpoints = []
        self.frozen = self.silent = False
        self.drift = 0.0
        self.effort = []
        self._active = None
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('fake_robot', context=self.context)
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        self.node.create_subscription(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', self._on_points, 10
        )
        self.node.create_subscription(
            Float64MultiArray, 'forward_position_controller/commands', self._on_setpoint, 1000
        )
        self.node.create_timer(0.005, self._on_timer)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
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
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def reset(self, position):
        self.frozen = self.silent = False
        self.drift = 0.0
        self._active = None
        self.position = list(position)
        self.trajectories.clear()
        self.setpoints.clear()

    def now(self):
        return self.node.get_clock().now().nanoseconds

    def _on_points(self, message):
        if not message.points:
            return  # the real controller refuses an empty trajectory and goes on
        zero = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        points = TrajectoryPoints.from_message(message).select(self.joints)
        received = self.now()
        self._active = (zero, SplineTrajectory(points=points))
        self.trajectories.append((received, zero, points))

    def _on_setpoint(self, message):
        self.setpoints.append((time.monotonic(), list(message.data)))
        if not self.frozen:
            self.position = list(message.data)

    def _on_timer(self):
        if self._active is not None and not self.frozen:
            zero, spline = self._active
            elapsed = 1e-9 * (self.now() - zero)
            if elapsed >= 0.0:
                self.position = spline.at(min(elapsed, spline.duration))[0].tolist()
        self.position = [value + self.drift * 0.005 for value in self.position]
        if not self.silent:
            message = JointState(
                name=list(self.joints), position=self.position, effort=self.effort
            )
            message.header.stamp = self.node.get_clock().now().to_msg()
            self._states.publish(message)
