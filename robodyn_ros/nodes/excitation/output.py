"""How the excitation node commands: whole trajectories, or a setpoint each cycle."""

from __future__ import annotations

import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.excitation.plan import distance_between, points_of
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.nodes.base.presence import Presence
from robodyn_ros.nodes.excitation.parameters import Settings

Array = NDArray[np.float64]
STOP_SPACING = 0.002
"""Points of a stop, in [s]: its acceleration has kinks, which wider points would overshoot."""
POINT = 48
"""Bytes of a point beside its numbers."""
HOLD_TIME = 100_000_000
"""Length of the trajectory that keeps a robot where it is, in [ns]."""


class Output:
    """The publisher of commands; `streaming` tells which kind it takes."""

    def __init__(self, node: Node, settings: Settings, joints: Sequence[str]) -> None:
        """Create the publisher.

        :param joints: order of the joints in a hold
        """
        self.streaming = settings.output == 'stream'
        self._node = node
        self._settings = settings
        self._joints = list(joints)
        kind = Float64MultiArray if self.streaming else JointTrajectory
        self._publisher = node.create_publisher(kind, settings.topic, 10)

    @property
    def topic(self) -> str:
        """Full name of the topic."""
        return str(self._publisher.topic_name)

    def announced(self, max_acceleration: Array) -> Presence:
        """Presence of the node, from which others know how to stop the robot when it dies.

        :param max_acceleration: of the joints, shape (n,), in [rad/s^2] or [m/s^2]
        """
        topic = '' if self.streaming else self.topic
        limits = max_acceleration.tolist()
        return Presence(
            self._node, command_topic=topic, joints=self._joints, max_acceleration=limits
        )

    @property
    def heard(self) -> bool:
        """Tell whether somebody listens."""
        return bool(self._publisher.get_subscription_count() > 0)

    def check_heard(self) -> None:
        """Raise if the command topic has no subscriber.

        :raises ControlError: naming the topic
        """
        if not self.heard:
            raise ControlError(f'nobody listens to {self.topic}: no controller?')

    def spacing(self, duration: float, *, stop: bool = False) -> float:
        """Largest distance of the points of a trajectory, wider where it would not arrive, in [s].

        :param duration: of the trajectory, in [s]
        """
        spacing = self._settings.spacing
        if stop:
            spacing = min(spacing, STOP_SPACING)
        if self.streaming:
            return spacing
        size = POINT + 3 * 8 * len(self._joints)
        return spacing * parts(self._node, self.topic, size * duration / spacing)

    def message(self, trajectory: Trajectory, *, stop: bool = False) -> JointTrajectory:
        """Convert a trajectory to a message without a stamp; this takes time.

        :raises ControlError: it is too long, so that too few points of it would arrive (a stop is
            never refused)
        """
        spacing = self.spacing(trajectory.duration, stop=stop)
        points = points_of(trajectory, spacing)
        if spacing > self._settings.spacing and not stop:
            check_points(trajectory.duration, spacing, distance_between(points, trajectory))
        return to_message(points)

    def send(self, message: JointTrajectory, zero: int) -> None:
        """Send a trajectory that begins at ROS time `zero` [ns]."""
        message.header.stamp = to_stamp(zero)
        self._publisher.publish(message)

    def stream(self, position: Array) -> None:
        """Send one setpoint, shape (n,), in [rad] or [m]."""
        self._publisher.publish(Float64MultiArray(data=array.array('d', position.tobytes())))

    def hold(self, position: Array) -> None:
        """Stay where the robot is (the controller refuses an empty trajectory)."""
        rest = position.tolist()
        points = [
            JointTrajectoryPoint(
                positions=rest,
                velocities=[0.0] * len(rest),
                time_from_start=Duration(nanosec=time_from_start),
            )
            for time_from_start in (0, HOLD_TIME)
        ]
        self._publisher.publish(JointTrajectory(joint_names=self._joints, points=points))


def to_message(points: TrajectoryPoints) -> JointTrajectory:
    """Points with position, velocity and perhaps acceleration; array.array is rclpy's fast way."""
    fields = {'positions': points.position, 'velocities': points.velocity}
    fields['accelerations'] = points.acceleration
    given = {name: rows for name, rows in fields.items() if rows is not None}
    nanoseconds = np.round(points.time * 1e9).astype(np.int64).tolist()
    return JointTrajectory(
        joint_names=list(points.joints),
        points=[
            JointTrajectoryPoint(
                time_from_start=Duration(sec=moment // 10**9, nanosec=moment % 10**9),
                **{name: array.array('d', rows[k].tobytes()) for name, rows in given.items()},
            )
            for k, moment in enumerate(nanoseconds)
        ],
    )


def to_stamp(nanoseconds: int) -> Time:
    """Convert nanoseconds to a ROS time."""
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
