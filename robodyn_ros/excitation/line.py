"""Move the tool along a straight line from rest to rest, at constant speed on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.ramp import joint_names, per_joint
from robodyn_ros.excitation.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory
from robodyn_ros.models.kinematics import Kinematics, build_kinematics

Result = TypeVar('Result')

PLACE = 3
"""Numbers of a pose that are lengths."""

CHECKS = 200
"""Parts of the line at whose ends reachability is checked before anything moves."""


class LineMotion(Trajectory):
    """A straight line of the tool; its rotation, if it has one, turns in proportion to the way.

    Joint positions, velocities and accelerations are exact, by the robot's kinematics.
    """

    def __init__(
        self,
        *,
        joints: Sequence[str],
        robot: Kinematics | Mapping[str, object],
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
        speed: float,
        acceleration: float,
        jerk: float | None = None,
        near: Sequence[float] | Array | None = None,
    ) -> None:
        """Check the line.

        :param joints: names of the robot's joints, in the order of its axes
        :param robot: its kinematics, or what `build_kinematics` builds them from
        :param start: pose (n,): x, y, z in [m] and, with four axes, the rotation in [rad]
        :param target: likewise
        :param speed: on the line, if it is long enough to reach it, in [m/s]
        :param acceleration: largest one along the line, in [m/s^2]
        :param jerk: likewise, in [m/s^3]; None: not limited, the acceleration jumps
        :param near: joint positions (n,) near which the line begins, which chooses among the
            robot's configurations and whole turns; None: the usual one
        :raises MotionError: wrong counts, a start that is the target, limits that are none, or a
            line that leaves the robot's reach or passes a singular position
        """
        self.joints = joint_names(joints)
        self.robot = _kinematics(robot)
        if len(self.joints) != self.robot.axes:
            raise MotionError(
                f'a line of a robot with {self.robot.axes} axes needs as many joints, '
                f'got {list(self.joints)}'
            )
        self.start = per_joint(self.joints, 'start', start)
        self.target = per_joint(self.joints, 'target', target)
        self.near = None if near is None else per_joint(self.joints, 'near', near)
        self.speed, self.acceleration, self.jerk = speed, acceleration, jerk
        way = self.target - self.start
        distance = float(np.linalg.norm(way[:PLACE]))
        if not distance > 0.0:
            raise MotionError('a line needs a target at another place than its start')
        self.profile = SpeedProfile(
            distance=distance,
            max_velocity=speed,
            max_acceleration=acceleration,
            max_jerk=math.inf if jerk is None else jerk,
        )
        self.duration = self.profile.duration
        self._slope = way / distance
        # From the start's own direction on, a straight line turns by less than half a turn.
        self._begin = _followed(lambda: self.robot.inverse(self.start[None], near=self.near))
        self.sample(np.linspace(0.0, self.duration, CHECKS + 1))

    def poses(self, time: Array) -> tuple[Array, Array, Array]:
        """Pose of the tool and its two derivatives, each of shape (N, n)."""
        way, speed, change = self.profile.sample(time)
        share = (way / self.profile.distance)[:, None]
        return (
            (1.0 - share) * self.start + share * self.target,
            speed[:, None] * self._slope,
            change[:, None] * self._slope,
        )

    def sample(self, time: Array) -> Motion:
        """Evaluate the line.

        :raises MotionError: the line leaves the robot's reach or passes a singular position
        """
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        begin = self._begin[0]
        return Motion(time, *_followed(lambda: self.robot.motion(*self.poses(time), near=begin)))

    def describe(self) -> dict[str, object]:
        """Return the arguments of the constructor."""
        return {
            'kind': 'line',
            'joints': list(self.joints),
            'robot': self.robot.describe(),
            'start': self.start.tolist(),
            'target': self.target.tolist(),
            'speed': self.speed,
            'acceleration': self.acceleration,
            'jerk': self.jerk,
            'near': None if self.near is None else self.near.tolist(),
        }


def _followed(compute: Callable[[], Result]) -> Result:
    try:
        return compute()
    except ModelError as error:
        raise MotionError(f'the line cannot be followed: {error}') from error


def _kinematics(robot: Kinematics | Mapping[str, object]) -> Kinematics:
    try:
        return robot if isinstance(robot, Kinematics) else build_kinematics(robot)
    except ModelError as error:
        raise MotionError(f'robot of a line: {error}') from error
