# SPDX-License-Identifier: Apache-2.0
"""Output of the excitation node: complete trajectories, or one setpoint per cycle."""

from __future__ import annotations

import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.plan import distance_between, points_of
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.nodes.base.presence import Presence
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.robot.trajectory_message import write_points
from robodyn_ros.wire.trajectory import with_stamp, write_trajectory

Array = NDArray[np.float64]
STOP_SPACING = 0.002
"""Time between the points of a stop, in [s], whose acceleration has kinks."""


class Output:
    """Publisher of commands: setpoints if `streaming`, otherwise trajectories."""

    def __init__(self, node: Node, settings: Settings, joints: Sequence[str]) -> None:
        """Create the publisher."""
        self.streaming = settings.output == 'stream'
        self._node = node
        self._settings = settings
        self._joints = list(joints)
        kind = Float64MultiArray if self.streaming else JointTrajectory
        self._publisher = node.create_publisher(kind, settings.topic, 10)

    @property
    def topic(self) -> str:
        """Return the full name of the topic."""
        return str(self._publisher.topic_name)

    def announce(self, max_acceleration: Array) -> Presence:
        """Announce the node's presence, with all that others need to stop the robot without it.

        :param max_acceleration: of the joints, shape (n,), in [rad/s^2] or [m/s^2]
        """
        topic = '' if self.streaming else self.topic
        limits = max_acceleration.tolist()
        return Presence(
            self._node, command_topic=topic, joints=self._joints, max_acceleration=limits
        )

    @property
    def heard(self) -> bool:
        """Return True if the command topic has a subscriber."""
        return bool(self._publisher.get_subscription_count() > 0)

    def check_heard(self) -> None:
        """Raise if the command topic has no subscriber.

        :raises ControlError: naming the topic
        """
        if not self.heard:
            text = f'{self.topic} has no subscriber: is the controller running?'
            raise ControlError(text, fault='controller_lost')

    def spacing(self, duration: float, *, stop: bool = False) -> float:
        """Return the time between points, in [s]; longer if the message would be too large.

        :param duration: of the trajectory, in [s]
        """
        spacing = self._settings.point_spacing
        if stop:
            spacing = min(spacing, STOP_SPACING)
        if self.streaming:
            return spacing
        size = 48 + 3 * 8 * len(self._joints)  # bytes of a point and of its numbers
        return spacing * parts(self._node, self.topic, size * duration / spacing)

    def message(self, trajectory: Trajectory, *, stop: bool = False) -> bytes:
        """Serialise a trajectory, without a stamp; a long one takes time.

        :raises ControlError: too few points fit into a message for such a long trajectory; a stop
            is never refused
        """
        spacing = self.spacing(trajectory.duration, stop=stop)
        points = points_of(trajectory, spacing)
        if spacing > self._settings.point_spacing and not stop:
            check_points(trajectory.duration, spacing, distance_between(points, trajectory))
        return write_points(points)

    def send(self, message: bytes, zero: int) -> None:
        """Send a trajectory that starts at ROS time `zero`, in [ns]."""
        self._publisher.publish(with_stamp(message, zero))

    def stream(self, position: Array) -> None:
        """Send one setpoint, shape (n,), in [rad] or [m]."""
        self._publisher.publish(Float64MultiArray(data=array.array('d', position.tobytes())))

    def hold(self, position: Array) -> None:
        """Command the position for 0.1 s; the controller would refuse an empty trajectory."""
        rest = np.tile(position, (2, 1))
        message = write_trajectory(
            stamp=0, joints=self._joints, time=np.array([0.0, 0.1]),
            fields=(rest, np.zeros_like(rest), None, None),
        )  # fmt: skip
        self._publisher.publish(message)
