# SPDX-License-Identifier: Apache-2.0
"""Joint moves through via-points: all joints start, cruise and arrive together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.arguments import broadcast, joint_names, numbers
from robodyn_ros.excitation.motions.moves import (
    LONGEST_RAMP,
    Schedule,
    fly_by_shares,
    shape_profile,
)
from robodyn_ros.excitation.motions.point_to_point import SLACK
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory

RISE = 0.25
"""Default share of a ramp in which the acceleration rises."""


class JointMoves(Trajectory):
    """Joint moves with trapezoidal or seven-segment profile, with stops or fly-by in between.

    All profiles have the same shape of ramp, so that in a fly-by no joint is faster than in the
    faster one of both moves.
    """

    kind = 'joint_moves'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        points: Sequence[Sequence[float]] | Array,
        durations: Sequence[float] | Array,
        ramp: Sequence[float] | Array | float = 1.0 / 3.0,
        rise: float = RISE,
        fly_by: Sequence[float] | Array | float = 0.0,
    ) -> None:
        """Check and store the arguments.

        :param points: via-points, both ends included, shape (K + 1, n), in [rad] or [m]
        :param durations: of the K moves, each from rest to rest, in [s]
        :param ramp: share of a move's duration for acceleration, and for braking, in (0, 0.5];
            one for all or (K,)
        :param rise: share of a ramp in which the acceleration rises, and falls, in [0, 0.5]:
            0: trapezoidal velocity, otherwise seven segments
        :param fly_by: share of the ramps during which two moves overlap, in [0, 1], one for all
            or (K - 1,); 0: every via-point is a stop
        :raises MotionError: wrong counts, or a value out of its range
        """
        self.joints = joint_names(joints)
        self.points = _points(self.joints, points)
        moves = len(self.points) - 1
        self.durations = broadcast('durations', durations, moves)
        self.ramp = broadcast('ramp', ramp, moves)
        self.rise = float(broadcast('rise', rise, 1)[0])
        self.fly_by = fly_by_shares(fly_by, moves - 1)
        figures = zip(self.durations.tolist(), self.ramp.tolist(), strict=True)
        profiles = [shape_profile(*figure, self.rise) for figure in figures]
        self.schedule = Schedule(profiles, self.fly_by)
        self.duration = self.schedule.duration
        self._ways: Array = np.diff(self.points, axis=0)

    @classmethod
    def within(
        cls,
        limits: JointLimits,
        *,
        points: Sequence[Sequence[float]] | Array,
        speed: float = 1.0,
        rise: float = RISE,
        fly_by: Sequence[float] | Array | float = 0.0,
    ) -> JointMoves:
        """Make the shortest such moves within velocity, acceleration and jerk limits.

        In a fly-by the accelerations of two moves add. If a joint reverses, both moves accelerate
        less, so that the sum is within the limit.

        :param speed: share of the velocity limits used, in (0, 1]
        :param rise: 0: jerk limits are ignored, because the acceleration jumps
        :raises MotionError: as the constructor, or a via-point equal to the previous one
        """
        given = _points(limits.joints, points)
        ways = np.abs(np.diff(given, axis=0))
        shares = fly_by_shares(fly_by, len(ways) - 1)
        if (still := np.flatnonzero(~(ways > 0.0).any(axis=1))).size:
            raise MotionError(f'via-point {still[0] + 1} is equal to the previous one: no move')
        limits = limits.scale(velocity=speed)
        with np.errstate(divide='ignore', over='ignore'):
            velocity, acceleration, jerk = (
                (value / ways).min(axis=1)
                for value in (limits.velocity, limits.acceleration, limits.jerk)
            )
        jerk = jerk if rise > 0.0 else np.full(len(ways), math.inf)
        for corner in np.flatnonzero(shares > 0.0):
            pair = slice(corner, corner + 2)
            peaks = _shape(velocity[pair], acceleration[pair], jerk[pair], rise)[2]
            over = _both(peaks, np.diff(given, axis=0)[pair], limits)
            if over > 1.0:
                acceleration[pair] = peaks / over
        duration, ramp, _ = _shape(velocity, acceleration, jerk, rise)
        return cls(
            joints=limits.joints, points=given, durations=SLACK * duration, ramp=ramp,
            rise=rise, fly_by=shares,
        )  # fmt: skip

    @property
    def breaks(self) -> Array:
        """Return the times at which segments of the moves' profiles meet."""
        return self.schedule.breaks

    def sample(self, time: Array) -> Motion:
        """Evaluate the moves."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        position = self.points[self.schedule.done(time)].copy()
        velocity, acceleration = np.zeros_like(position), np.zeros_like(position)
        for number, rows, way, speed, change in self.schedule.active(time):
            position[rows] += way[:, None] * self._ways[number]
            velocity[rows] += speed[:, None] * self._ways[number]
            acceleration[rows] += change[:, None] * self._ways[number]
        return Motion(time, position, velocity, acceleration)


def _both(peaks: Array, ways: Array, limits: JointLimits) -> float:
    """Return the largest share of the acceleration limits while two moves (2, n) overlap."""
    steps = np.diff(peaks[:, None] * ways, axis=0)[0]
    return float((np.abs(steps) / limits.acceleration).max())


def _shape(
    velocity: Array, acceleration: Array, jerk: Array, rise: float
) -> tuple[Array, Array, Array]:
    """Compute duration, ramp and peak acceleration (K,) of the shortest moves over 1."""
    flat, bend = 1.0 - rise, rise * (1.0 - rise)
    with np.errstate(invalid='ignore'):
        by_jerk = jerk * bend if bend > 0.0 else np.full_like(jerk, math.inf)
    speed = np.minimum(velocity, np.minimum(np.sqrt(acceleration * flat), np.cbrt(by_jerk)))
    if not np.isfinite(speed).all():
        raise MotionError('moves need limits of velocity, acceleration or jerk, all are infinite')
    time = np.maximum(speed / (acceleration * flat), np.sqrt(speed / by_jerk))
    # without a limit of the acceleration, any ramp is valid
    time = np.where(time > 0.0, time, LONGEST_RAMP / speed)
    duration = 1.0 / speed + time
    return duration, np.minimum(time / duration, LONGEST_RAMP), speed / (time * flat)


def _points(joints: Sequence[str], points: object) -> Array:
    given = numbers('via-points', points)
    if given.ndim != 2 or len(given) < 2 or given.shape[1] != len(joints):
        raise MotionError(
            f'via-points must be at least 2 rows of {len(joints)} values, one for each of '
            f'{list(joints)}, got the shape {given.shape}'
        )
    if not np.isfinite(given).all():
        raise MotionError('via-points must be finite numbers')
    given.flags.writeable = False
    return given
