# SPDX-License-Identifier: Apache-2.0
"""Interpolation of trajectory points as in ros2_controllers' joint_trajectory_controller (JTC).

Source: ros2_controllers, joint_trajectory_controller/src/trajectory.cpp,
`Trajectory::interpolate_between_points`: positions alone are joined by straight lines, positions
and velocities by cubic, positions, velocities and accelerations by quintic polynomials. Two
points are joined by what both of them give.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import NUMBER
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory


@dataclass(frozen=True)
class TrajectoryPoints:
    """Checked points of a trajectory_msgs/JointTrajectory; NaN marks missing values.

    :param joints: names of the n joints, unique
    :param time: time from start, shape (N,), in [s], strictly increasing, none negative
    :param position: shape (N, n), in [rad] or [m]
    :param velocity: shape (N, n), in [rad/s] or [m/s]; None: no point has one
    :param acceleration: shape (N, n), in [rad/s^2] or [m/s^2]; None: no point has one
    :param effort: shape (N, n), in [Nm] or [N]; None: no point has one
    :raises MotionError: points that break one of these rules
    """

    joints: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None
    effort: Array | None = None

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, 'joints', tuple(self.joints))
        object.__setattr__(self, 'time', np.asarray(self.time, dtype=float))
        twice = sorted({name for name in self.joints if self.joints.count(name) > 1})
        if twice:
            raise MotionError(f'the trajectory names joint {twice[0]!r} more than once')
        _check_times(self.time)
        for name in ('position', 'velocity', 'acceleration', 'effort'):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, self._check_values(name, value))

    def _check_values(self, name: str, value: Array) -> Array:
        value = np.asarray(value, dtype=float)
        expected = (len(self.time), len(self.joints))
        if value.shape != expected:
            raise MotionError(
                f'{name} of a trajectory must have the shape {expected} (points, joints), '
                f'got {value.shape}'
            )
        bad = ~(np.abs(value) <= NUMBER.most)  # NaN too
        if name != 'position':
            bad &= ~np.isnan(value).all(axis=1, keepdims=True)
        if bad.any():
            row, column = (int(index) for index in np.argwhere(bad)[0])
            raise MotionError(
                f'{name} of joint {self.joints[column]!r} is {value[row, column]} '
                f'at point {row} (t = {self.time[row]:.3f} s)'
            )
        return value

    @classmethod
    def from_message(cls, message: Any) -> TrajectoryPoints:
        """Read a trajectory_msgs/JointTrajectory (or an object with its fields).

        :raises MotionError: invalid lengths, times or values
        """
        joints = tuple(message.joint_names)
        points = message.points
        stamps = [point.time_from_start for point in points]
        time = np.array([stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps], dtype=float)
        return cls(
            joints=joints,
            time=time,
            position=_stack('positions', [point.positions for point in points], joints, False),
            velocity=_stack('velocities', [point.velocities for point in points], joints),
            acceleration=_stack('accelerations', [p.accelerations for p in points], joints),
            effort=_stack('effort', [point.effort for point in points], joints),
        )

    def select(self, joints: Sequence[str]) -> TrajectoryPoints:
        """Return the points with exactly these joints, in this order (matched by name).

        :raises MotionError: the trajectory lacks one of the joints or has another one
        """
        joints = tuple(joints)
        if joints == self.joints:
            return self
        unknown = [name for name in self.joints if name not in joints]
        if unknown:
            raise MotionError(
                f'the trajectory moves joint {unknown[0]!r}, which is not one of {list(joints)}'
            )
        missing = [name for name in joints if name not in self.joints]
        if missing:
            raise MotionError(
                f'the trajectory lacks joint {missing[0]!r}, it has {list(self.joints)}'
            )
        columns = [self.joints.index(name) for name in joints]

        def pick(values: Array | None) -> Array | None:
            return None if values is None else values[:, columns]

        return TrajectoryPoints(
            joints=joints,
            time=self.time,
            position=self.position[:, columns],
            velocity=pick(self.velocity),
            acceleration=pick(self.acceleration),
            effort=pick(self.effort),
        )

    def with_start(
        self, position: Array, velocity: Array, acceleration: Array, effort: Array
    ) -> TrajectoryPoints:
        """Return the points with a first one at t = 0, the state of the robot at their arrival.

        Points that already start at t = 0 are returned unchanged.

        :param position: shape (n,), in [rad] or [m]; the others likewise
        """
        if self.time[0] == 0.0:
            return self

        def put(first: Array, rows: Array | None) -> Array | None:
            return None if rows is None else np.vstack([first, rows])

        return TrajectoryPoints(
            joints=self.joints,
            time=np.append(0.0, self.time),
            position=np.vstack([position, self.position]),
            velocity=put(velocity, self.velocity),
            acceleration=put(acceleration, self.acceleration),
            effort=put(effort, self._effort_or_zero()),
        )

    def _effort_or_zero(self) -> Array:
        if self.effort is None:
            return np.zeros_like(self.position)
        return np.nan_to_num(self.effort)

    def effort_at(self, time: Array) -> Array:
        """Interpolate effort linearly, as in the JTC; a point without effort counts as 0.

        :param time: shape (N,), in [s]; times outside the points take the end values
        :return: shape (N, n), in [Nm] or [N]
        """
        effort = self._effort_or_zero()
        columns = [np.interp(time, self.time, column) for column in effort.T]
        return np.stack(columns, axis=-1)


def _check_times(time: Array) -> None:
    if time.ndim != 1 or len(time) == 0:
        raise MotionError('a trajectory needs at least one point')
    bad = ~np.isfinite(time) | (time < 0.0)
    if bad.any():
        row = int(np.argmax(bad))
        raise MotionError(
            f'time_from_start of point {row} must be a number not below 0, got {time[row]} s'
        )
    backward = np.flatnonzero(np.diff(time) <= 0.0)
    if len(backward):
        row = int(backward[0]) + 1
        raise MotionError(
            f'time_from_start must increase strictly, point {row} has {time[row]:.9g} s '
            f'after {time[row - 1]:.9g} s'
        )


def _stack(
    name: str, rows: Sequence[Iterable[float]], joints: Sequence[str], optional: bool = True
) -> Any:
    """Stack rows of a message field, with NaN for empty ones; None: all rows are empty."""
    packed = [array('d', row) for row in rows]
    allowed = (len(joints), 0) if optional else (len(joints),)
    for number, row in enumerate(packed):
        if len(row) not in allowed:
            raise MotionError(
                f'{name} of point {number} must have {len(joints)} values, one for each of '
                f'{list(joints)}, got {len(row)}'
            )
    if optional and not any(packed):
        return None
    gap = array('d', [np.nan] * len(joints))
    return np.frombuffer(b''.join(row or gap for row in packed)).reshape(len(packed), len(joints))


class SplineTrajectory(Trajectory):
    """A motion through points, as a joint_trajectory_controller executes it."""

    def __init__(self, *, points: TrajectoryPoints) -> None:
        """Compute the polynomials between the points.

        :param points: the first one at t = 0 (see `TrajectoryPoints.with_start`)
        :raises MotionError: the first point is later than t = 0
        """
        if points.time[0] != 0.0:
            raise MotionError(
                f'the first point of a trajectory must be at 0 s, got {points.time[0]:.9g} s '
                '(the motion up to it depends on where the robot is)'
            )
        self.points = points
        self.joints = points.joints
        self.duration = float(points.time[-1])
        self._times = points.time.tolist()
        self._coefficients = _coefficients(points)

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at one time, each of shape (n,).

        The result is that of `sample`, at low cost for use in control cycles.

        :param time: in [s], clamped to [0, duration]
        """
        index = max(bisect_right(self._times, time) - 1, 0)
        return _evaluate(self._coefficients[:, index], max(time, 0.0) - self._times[index])

    def sample(self, time: Array) -> Motion:
        """Evaluate the polynomials; at the end, velocity and acceleration of the last point."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        index = np.searchsorted(self.points.time, time, side='right') - 1
        local = (time - self.points.time[index])[:, None]
        return Motion(time, *_evaluate(self._coefficients[:, index], local))

    def describe(self) -> dict[str, Any]:
        """Return joints and points as lists; None: no point has the quantity."""
        names = ('time', 'position', 'velocity', 'acceleration')
        values = {name: getattr(self.points, name) for name in names}
        lists = {name: None if a is None else a.tolist() for name, a in values.items()}
        return {'kind': 'points', 'joints': list(self.joints), **lists}


def _evaluate(c: Array, s: float | Array) -> tuple[Array, Array, Array]:
    """Evaluate polynomials with coefficients c[0..5], and derivatives, at local time s."""
    c0, c1, c2, c3, c4, c5 = c
    position = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    velocity = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * (5.0 * c5))))
    acceleration = 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * (20.0 * c5)))
    return position, velocity, acceleration


def _coefficients(points: TrajectoryPoints) -> Array:
    """Compute coefficients, shape (6, N, n): one column per segment, and one for the end."""
    position = points.position
    missing = np.full_like(position, np.nan)
    velocity = missing if points.velocity is None else points.velocity
    acceleration = missing if points.acceleration is None else points.acceleration
    result = np.zeros((6, *position.shape))
    result[0] = position
    result[1, -1] = np.nan_to_num(velocity[-1])
    result[2, -1] = 0.5 * np.nan_to_num(acceleration[-1])
    has_velocity: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(velocity), axis=1)
    given = np.logical_and.reduce(np.isfinite(acceleration), axis=1)
    has_acceleration: NDArray[np.bool_] = np.logical_and(has_velocity, given)
    cubic = np.logical_and(has_velocity[:-1], has_velocity[1:])
    quintic = np.logical_and(has_acceleration[:-1], has_acceleration[1:])
    step = np.diff(points.time)[:, None]
    line = np.flatnonzero(~cubic)
    result[1, line] = np.diff(position, axis=0)[line] / step[line]
    for rows, fill in (
        (np.flatnonzero(cubic & ~quintic), _cubic),
        (np.flatnonzero(quintic), _quintic),
    ):
        fill(result, rows, step[rows], position, velocity, acceleration)
    return result


def _cubic(c: Array, rows: Any, t: Array, p: Array, v: Array, _: Array) -> None:
    gap = p[rows + 1] - p[rows] - v[rows] * t
    dv = v[rows + 1] - v[rows]
    c[1, rows] = v[rows]
    c[2, rows] = (3.0 * gap - dv * t) / t**2
    c[3, rows] = (dv * t - 2.0 * gap) / t**3


def _quintic(c: Array, rows: Any, t: Array, p: Array, v: Array, a: Array) -> None:
    gap = p[rows + 1] - p[rows] - v[rows] * t - 0.5 * a[rows] * t**2
    dv = (v[rows + 1] - v[rows] - a[rows] * t) * t
    da = (a[rows + 1] - a[rows]) * t**2
    c[1, rows] = v[rows]
    c[2, rows] = 0.5 * a[rows]
    c[3, rows] = (10.0 * gap - 4.0 * dv + 0.5 * da) / t**3
    c[4, rows] = (-15.0 * gap + 7.0 * dv - da) / t**4
    c[5, rows] = (6.0 * gap - 3.0 * dv + 0.5 * da) / t**5
