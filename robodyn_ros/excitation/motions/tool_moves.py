# SPDX-License-Identifier: Apache-2.0
"""Lines and circles of the tool at constant speed, with stops or fly-by between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from robodyn_ros.errors import ModelError, MotionError
from robodyn_ros.excitation.motions.arguments import joint_names, numbers, per_joint
from robodyn_ros.excitation.motions.moves import Schedule, fly_by_shares
from robodyn_ros.excitation.motions.segments import PLACE, TURN, Segment
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory
from robodyn_ros.models.kinematics import build_kinematics
from robodyn_ros.models.kinematics_base import Kinematics
from robodyn_ros.schema import Finite

Result = TypeVar('Result')

KNOTS = 50
"""Parts of a move along which the robot's configuration is tracked step by step."""
_JUMP = 0.2
"""Deviation of a joint from its velocity, in [rad] or [m], that counts as a jump."""


@dataclass(frozen=True)
class ToolMove:
    """One line, or one circle.

    :param target: pose (p,), or its place (3,) only: the remainder is unchanged
    :param through: place (3,) on the circle, in [m]; None: a line
    :param speed: in [m/s]; None: that of the complete motion
    """

    target: tuple[Finite, ...]
    through: tuple[Finite, ...] | None = None
    speed: Finite | None = None

    def describe(self) -> dict[str, object]:
        """Return the plain description."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return {name: np.array(value, dtype=float).tolist() for name, value in given.items()}


class ToolMoves(Trajectory):
    """Lines and circles; joint positions, velocities and accelerations are exact.

    In a fly-by the poses of two moves add, which rounds the corner. Between moves without a
    corner, with full fly-by, the speed is constant.
    """

    kind = 'tool_moves'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        robot: Kinematics | Mapping[str, object],
        moves: Sequence[ToolMove],
        speed: float,
        acceleration: float,
        jerk: float | None = None,
        fly_by: Sequence[float] | Array | float = 0.0,
        start: Sequence[float] | Array | None = None,
        near: Sequence[float] | Array | None = None,
    ) -> None:
        """Check the path.

        :param joints: names of the robot's n joints, in the order of its axes
        :param robot: its kinematics, or their description for `build_kinematics`
        :param speed: of the tool, if a move is long enough to reach it, in [m/s]
        :param acceleration: largest acceleration along a move, in [m/s^2]
        :param jerk: likewise, in [m/s^3]; None: not limited, the acceleration jumps
        :param start: pose (p,), see `Kinematics`; None: that of `near`
        :param near: joint positions (n,) near the start of the path, which select the robot's
            configuration and number of turns; None: the usual one
        :raises MotionError: invalid values, a path outside the workspace or through a singularity
        """
        self.joints = joint_names(joints)
        self.robot = self._kinematics(robot)
        if len(self.joints) != self.robot.axes:
            raise MotionError(
                f'a path of a robot with {self.robot.axes} axes needs as many joints, '
                f'got {list(self.joints)}'
            )
        self.near = None if near is None else per_joint(self.joints, 'near', near)
        self.speed, self.acceleration, self.jerk = speed, acceleration, jerk
        if not moves:
            raise MotionError('a path of the tool needs at least one move')
        self.moves = tuple(moves)
        self.fly_by = fly_by_shares(fly_by, len(self.moves) - 1)
        self.start = self._start(start)
        self._corners = [self.start]
        self._segments = [self._segment(move) for move in self.moves]
        parts = zip(self._segments, self.moves, strict=True)
        self.schedule = Schedule([self._profile(*part) for part in parts], self.fly_by)
        self.duration = self.schedule.duration
        self._follow()

    def _kinematics(self, robot: Kinematics | Mapping[str, object]) -> Kinematics:
        if isinstance(robot, Kinematics):
            return robot
        try:
            return build_kinematics(robot, joints=self.joints)
        except ModelError as error:
            raise MotionError(f'robot of a path: {error}') from error

    def _start(self, start: object) -> Array:
        if start is not None:
            return self._pose('start', start)
        if self.near is None:
            raise MotionError('a path needs start or near: where it begins')
        place: Array = self.robot.forward(self.near[None])[0]
        return place

    def _pose(self, name: str, values: object, before: Array | None = None) -> Array:
        """Return a pose (p,) from all its numbers, or from its place and the previous pose."""
        size = self.robot.pose_size
        given = _place(name, values, size if before is None else PLACE.stop, size)
        if before is not None and len(given) < size:
            given = np.concatenate([given, before[PLACE.stop :]])
        if self.robot.rotates:
            length = float(np.linalg.norm(given[TURN]))
            if not length > 0.0:
                raise MotionError(f'the quaternion of {name} is zero')
            given[TURN] /= length
        return given

    def _segment(self, move: ToolMove) -> Segment:
        before = self._corners[-1]
        self._corners.append(self._pose('target', move.target, before))
        through = None
        if move.through is not None:
            through = _place('through', move.through, PLACE.stop)
        try:
            return Segment(before, self._corners[-1], through=through, rotates=self.robot.rotates)
        except MotionError as error:
            raise MotionError(f'move {len(self._corners) - 1}: {error}') from error

    def _profile(self, segment: Segment, move: ToolMove) -> SpeedProfile:
        return SpeedProfile(
            distance=segment.length,
            max_velocity=self.speed if move.speed is None else move.speed,
            max_acceleration=self.acceleration,
            max_jerk=math.inf if self.jerk is None else self.jerk,
        )

    def _follow(self) -> None:
        """Track the robot's configuration along the path, and check that it never jumps."""
        ends = self.schedule.ends
        self._times: Array = np.unique(np.linspace(self.schedule.begins, ends, KNOTS + 1))
        poses = self.poses(self._times)[0]
        self._knots: Array = np.empty((len(poses), self.robot.axes))
        near = self.near
        for row in range(len(poses)):
            near = self._compute(self.robot.inverse, poses[row : row + 1], near=near)[0]
            self._knots[row] = near
        self.near = self._knots[0]  # the description must give the same configuration
        check = self.sample(np.linspace(0.0, self.duration, 4 * KNOTS * len(self.moves) + 1))
        mean = 0.5 * (check.velocity[1:] + check.velocity[:-1])
        step = np.diff(check.position, axis=0) - mean * np.diff(check.time)[:, None]
        if (np.abs(step) > _JUMP).any():
            row, joint = np.argwhere(np.abs(step) > _JUMP)[0]
            raise MotionError(
                f'the path passes too near to a singular position: joint '
                f'{self.joints[joint]!r} jumps at t = {check.time[row]:.3f} s'
            )

    def poses(self, time: Array) -> tuple[Array, Array, Array]:
        """Return the pose of the tool and its two derivatives, each of shape (N, p)."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        x = np.array(self._corners)[self.schedule.done(time)]
        xd, xdd = np.zeros_like(x), np.zeros_like(x)
        turn = _Turn(x[:, TURN]) if self.robot.rotates else None
        for number, rows, way, speed, change in self.schedule.active(time):
            segment = self._segments[number]
            value, slope, curve = segment.displacement(way)
            x[rows] += value
            xd[rows] += slope * speed[:, None]
            xdd[rows] += slope * change[:, None] + curve * speed[:, None] ** 2
            if turn is not None:
                turn.add(rows, segment.rotation, way, speed, change)
        if turn is not None:
            x[:, TURN], xd[:, TURN], xdd[:, TURN] = turn.quaternions()
        return x, xd, xdd

    @property
    def breaks(self) -> Array:
        """Return the times at which segments of the moves' profiles meet."""
        return self.schedule.breaks

    def sample(self, time: Array) -> Motion:
        """Evaluate the path.

        :raises MotionError: the path leaves the workspace or passes a singular position
        """
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        columns = [np.interp(time, self._times, column) for column in self._knots.T]
        poses, near = self.poses(time), np.stack(columns, axis=1)
        return Motion(time, *self._compute(self.robot.motion, *poses, near=near))

    def _compute(
        self, function: Callable[..., Result], *poses: Array, near: Array | None
    ) -> Result:
        try:
            return function(*poses, near=near)
        except ModelError as error:
            raise MotionError(f'the path cannot be followed: {error}') from error


class _Turn:
    """Rotations (N,) with angular velocity and acceleration; moves are added to them."""

    def __init__(self, quaternions: Array) -> None:
        from scipy.spatial.transform import Rotation  # takes half a second: other motions save it

        self._turns = Rotation
        self._rotation = Rotation.from_quat(quaternions)
        self._velocity = np.zeros((len(quaternions), 3))
        self._acceleration = np.zeros((len(quaternions), 3))

    def add(self, rows: Any, axis: Array, way: Array, speed: Array, change: Array) -> None:
        """Rotate some of them about an axis (3,) in [rad/m] by a distance (M,) in [m].

        Earlier rotations are rotated too: w = w2 + R2 w1 and w' = w2' + R2 w1' + w2 x R2 w1.
        """
        if not axis.any():
            return
        turn = self._turns.from_rotvec(way[:, None] * axis)
        quaternions = self._rotation.as_quat()
        quaternions[rows] = (turn * self._rotation[rows]).as_quat()
        self._rotation = self._turns.from_quat(quaternions)
        rate = speed[:, None] * axis
        carried = turn.apply(self._velocity[rows])
        self._acceleration[rows] = (
            change[:, None] * axis + turn.apply(self._acceleration[rows]) + np.cross(rate, carried)
        )
        self._velocity[rows] = rate + carried

    def quaternions(self) -> tuple[Array, Array, Array]:
        """Return quaternions h and their derivatives: h' = w h / 2, h'' = (w' h + w h') / 2."""
        h = self._rotation.as_quat()
        rate = 0.5 * _times(self._velocity, h)
        return h, rate, 0.5 * (_times(self._acceleration, h) + _times(self._velocity, rate))


def _times(vector: Array, h: Array) -> Array:
    """Return products (N, 4) of vectors (N, 3) and quaternions x, y, z, w."""
    v, w = h[:, :3], h[:, 3:]
    return np.column_stack([w * vector + np.cross(vector, v), -np.einsum('ni,ni->n', vector, v)])


def _place(name: str, values: object, *sizes: int) -> Array:
    """Return finite numbers, as many as one of the sizes."""
    given = numbers(name, values)
    if given.ndim != 1 or len(given) not in sizes or not np.isfinite(given).all():
        counts = ' or '.join(map(str, dict.fromkeys(sizes)))
        raise MotionError(f'{name} must have {counts} finite values, got {values!r:.80}')
    return given
