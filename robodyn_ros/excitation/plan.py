# SPDX-License-Identifier: Apache-2.0
"""Plan of an excitation: move to the start, pause, motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion, check_position
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.slowed import SlowedTrajectory
from robodyn_ros.excitation.trajectory import Array, Chain, Trajectory
from robodyn_ros.models.interface import sample_blocks

GENTLE = 0.1
"""Share of the limits that the move to the start may use in any case, so that slow motions do not
begin after minutes."""
SAMPLES = 2000
"""Samples of a motion that tell how hard it is; of a long one they may miss a peak."""


@dataclass(frozen=True)
class Plan:
    """Trajectory from the robot's position; the motion itself is its part after `begin`.

    :param begin: start time of the motion itself, in [s]
    """

    trajectory: Trajectory
    begin: float

    @property
    def duration(self) -> float:
        """Total duration, in [s]."""
        return self.trajectory.duration

    def slow_down(self, speed: float) -> Plan:
        """Return the plan at a share of its speed in (0, 1]: same path, standstill included.

        :raises MotionError: another speed
        """
        if speed == 1.0:
            return self
        slow = SlowedTrajectory(motion=self.trajectory, speed=speed)
        return Plan(slow, self.begin / speed)


def plan_excitation(
    motion: Trajectory, position: Array, limits: JointLimits, *, pause: float = 0.0
) -> Plan:
    """Prepend a move from `position` to a motion, and check all of it.

    No joint moves faster or harder in it than in the motion, except up to `GENTLE` of its limits.

    :param motion: it must move exactly the joints of the limits, in any order
    :param position: position of the robot, shape (n,), in the order of the motion's joints
    :param pause: standstill between move and motion, in [s]
    :raises MotionError: other joints, the robot outside its limits, or a motion that breaks one
    """
    check_joints(motion, limits)
    limits = limits.select(motion.joints)
    check_motion(motion, limits)
    check_position(position, limits, 'the robot stands')
    start = motion.sample(np.zeros(1)).position[0]
    gentle = _narrow_limits(motion, limits)
    parts: list[Trajectory] = [PointToPoint.within(gentle, start=position, target=start)]
    if pause > 0.0:
        parts.append(PointToPoint(joints=motion.joints, start=start, target=start, duration=pause))
    begin = sum(part.duration for part in parts)
    return Plan(Chain(parts=[*parts, motion]), begin)


def _narrow_limits(motion: Trajectory, limits: JointLimits) -> JointLimits:
    """Return the limits of the robot, narrowed to what the motion uses of them."""
    samples = motion.grid(motion.duration / SAMPLES)
    velocity, acceleration = (
        np.clip(np.abs(each).max(axis=0), GENTLE * most, most)
        for each, most in (
            (samples.velocity, limits.velocity), (samples.acceleration, limits.acceleration),
        )
    )  # fmt: skip
    return replace(limits, velocity=velocity, acceleration=acceleration)


def check_joints(motion: Trajectory, limits: JointLimits) -> None:
    """Refuse a motion that does not move exactly the joints of the robot.

    :raises MotionError: naming the joint
    """
    for name in motion.joints:
        if name not in limits.joints:
            raise MotionError(
                f'the motion moves joint {name!r}, which is not one of {list(limits.joints)}'
            )
    for name in limits.joints:
        if name not in motion.joints:
            raise MotionError(f'the motion does not move joint {name!r}')


def distance_between(points: TrajectoryPoints, trajectory: Trajectory) -> float:
    """Return the distance of the path through points of a trajectory from it, in [rad] or [m]."""
    time = np.linspace(0.0, trajectory.duration, 8 * len(points.time))
    path, largest = SplineTrajectory(points=points), 0.0
    for block in sample_blocks(len(time)):
        apart = path.sample(time[block]).position - trajectory.sample(time[block]).position
        largest = max(largest, float(np.abs(apart).max()))
    return largest


def points_of(trajectory: Trajectory, spacing: float) -> TrajectoryPoints:
    """Return points of a trajectory, with velocities and accelerations.

    :param spacing: largest time between points, in [s]
    :raises MotionError: the spacing is not positive
    """
    motion = trajectory.grid(spacing)
    # a trajectory ends at rest; controllers would refuse a velocity due to rounding
    motion.velocity[-1] = 0.0
    return TrajectoryPoints(
        trajectory.joints, motion.time, motion.position, motion.velocity, motion.acceleration
    )
