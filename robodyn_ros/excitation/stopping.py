# SPDX-License-Identifier: Apache-2.0
"""Stop from any state of a motion, on its path and within acceleration limits.

The motion q(s) continues while ds/dt falls from 1 to 0, so that the robot stays on the checked
path and is never faster. The acceleration is q'' (ds/dt)^2 + q' d2s/dt2. Every joint has a lower
bound of d2s/dt2; the strictest joint brakes with its acceleration limit.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory

SMOOTH = 0.03
"""Approximate time [s] in which braking starts and ends, instead of instantly."""
SHARE = 0.98
"""Share of the acceleration limits for braking; the remainder covers integration errors."""
_HARDEST = 1.0 / SMOOTH
_WINDOW = round(0.25 / CHECK_PERIOD)
"""Samples of the path at a time: a quarter of a second, in which most stops end."""


class StoppedMotion(Trajectory):
    """A motion from `time` on: followed for `follow` seconds, then braked to rest on its path."""

    def __init__(
        self,
        *,
        motion: Trajectory,
        time: float,
        max_acceleration: Array,
        follow: float = 0.0,
    ) -> None:
        """Compute the fastest braking.

        :param motion: the running motion, within the limits
        :param time: its time at t = 0 of this one, in [s], clamped to its duration
        :param max_acceleration: shape (n,), in [rad/s^2] or [m/s^2]
        :param follow: time for which the motion continues unchanged, in [s]
        :raises MotionError: a wrong number of limits, or limits not above zero
        """
        limit = np.asarray(max_acceleration, dtype=float)
        if limit.shape != (len(motion.joints),) or not (limit > 0.0).all():
            raise MotionError(
                f'stopping needs {len(motion.joints)} acceleration limits above 0, got {limit}'
            )
        self.motion = motion
        self.joints = motion.joints
        self.max_acceleration = limit
        self.time = float(np.clip(time, 0.0, motion.duration))
        self.follow = float(np.clip(follow, 0.0, motion.duration - self.time))
        self._schedule = SplineTrajectory(points=self._brake())
        self.duration = self._schedule.duration

    def _brake(self) -> TrajectoryPoints:
        """Integrate s(t) with d2s/dt2 linear over each step, until ds/dt is zero."""
        path = _Path(self.motion, SHARE * self.max_acceleration)
        s, rate, change = self.time, 1.0, 0.0
        rows = [(0.0, s, rate, change)]
        time = self.follow
        s += time
        if time > 0.0:
            rows.append((time, s, rate, change))
        while s < self.motion.duration:
            ahead = path.deceleration(s + rate * CHECK_PERIOD, rate + change * CHECK_PERIOD)
            hardest = min(ahead, _HARDEST)
            aim = -min(hardest, math.sqrt(2.0 * hardest * rate / SMOOTH))
            following = max(aim, change + (aim - change) * 2.0 * CHECK_PERIOD / SMOOTH)
            step = CHECK_PERIOD
            if rate + 0.5 * (change + following) * step <= 1e-6:
                # the last step: linearly to d2s/dt2 = 0, until standstill
                step, following = (2.0 * rate / -change if change < 0.0 else CHECK_PERIOD), 0.0
            s += step * rate + step**2 * (2.0 * change + following) / 6.0
            rate += 0.5 * (change + following) * step
            change, time = following, time + step
            rows.append((time, s, max(rate, 0.0), change))
            if rate <= 1e-6:
                break
        return self._points(np.array(rows))

    def _points(self, rows: Array) -> TrajectoryPoints:
        if len(rows) == 1:
            rows = np.vstack([rows, rows[0] + [CHECK_PERIOD, CHECK_PERIOD, 0.0, 0.0]])
        time, *columns = rows.T
        return TrajectoryPoints(('s',), time, *(column[:, None] for column in columns))

    def sample(self, time: Array) -> Motion:
        """Evaluate the motion at s(t)."""
        schedule = self._schedule.sample(time)
        rate, change = schedule.velocity, schedule.acceleration
        path = self.motion.sample(schedule.position[:, 0])
        return Motion(
            schedule.time,
            path.position,
            path.velocity * rate,
            path.acceleration * rate**2 + path.velocity * change,
        )


class _Path:
    """Largest deceleration at s, from samples of the motion in windows, as Python's numbers."""

    def __init__(self, motion: Trajectory, limit: Array) -> None:
        self._motion = motion
        self._limit = limit
        self._first = math.inf
        self._rest: list[list[float]] = []
        self._along: list[list[float]] = []

    def deceleration(self, s: float, rate: float) -> float:
        """Return the largest allowed -d2s/dt2 at s with ds/dt = rate, by both samples around s.

        For each joint |q''| rate^2 (positive where it speeds up) - |q'| d >= -limit.
        """
        index = int((s - self._first) / CHECK_PERIOD) if s >= self._first else _WINDOW
        if index >= _WINDOW:
            self._sample(s)
            index = 0
        lowest, square = math.inf, rate**2
        for row in (index, index + 1):
            for rest, along in zip(self._rest[row], self._along[row], strict=True):
                lowest = min(lowest, rest + along * square)
        return max(0.0, lowest)

    def _sample(self, s: float) -> None:
        self._first = s
        motion = self._motion.sample(s + CHECK_PERIOD * np.arange(_WINDOW + 2, dtype=np.float64))
        speed = np.maximum(np.abs(motion.velocity), 1e-9)
        self._rest = (self._limit / speed).tolist()
        self._along = (motion.acceleration * np.sign(motion.velocity) / speed).tolist()
