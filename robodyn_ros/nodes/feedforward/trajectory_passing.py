# SPDX-License-Identifier: Apache-2.0
"""Trajectories that pass a feed-forward without its torque."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rclpy.serialization import serialize_message

from robodyn_ros.bounds import MESSAGE, check_bound
from robodyn_ros.control.effort.declaration import EffortDeclaration, undeclared
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.robot.trajectory_message import checked_stamp, whole_trajectory
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.trajectory import TrajectoryArrays, read_trajectory, write_trajectory

Convert = Callable[[Array], Array]
"""Returns torques, shape (..., n), within the limits and in the unit of commands."""


class Passing:
    """Conversion of the efforts of these trajectories to the unit of the drives.

    :ivar limit: largest effort by joint, in [Nm] or [N]; a joint without limit has no effort
    """

    def __init__(self, declaration: EffortDeclaration | None) -> None:
        """Start without limits."""
        self._declaration = declaration
        self.limit: dict[str, float] = {}

    def passed(self, serialised: bytes) -> tuple[bytes, str]:
        """Convert the efforts of a trajectory to the unit of the drives, within the limits.

        :return: the trajectory, and '' or why its efforts are removed
        :raises MotionError: the bytes are no trajectory
        :raises BoundError: it is so large that a stop after it would have to wait
        """
        check_bound(MESSAGE, len(serialised))
        try:
            arrays = read_trajectory(serialised)
        except WireError:  # points with different fields: rclpy reads them
            return self._mixed(serialised)
        checked_stamp(arrays.stamp)
        *others, effort = arrays.fields
        if effort is None:
            return serialised, ''
        problem = ''
        try:
            effort = self._conversion(arrays.joints)(_finite(effort, range(len(effort))))
        except RobodynError as error:
            effort, problem = None, _lost(error)
        return _written(arrays, (*others, effort)), problem

    def _mixed(self, serialised: bytes) -> tuple[bytes, str]:
        """Convert a trajectory whose points give different quantities."""
        message = whole_trajectory(serialised)
        given = {number: point for number, point in enumerate(message.points) if point.effort}
        if not given:
            return serialised, ''
        problem = ''
        try:
            convert, width = self._conversion(message.joint_names), len(message.joint_names)
            for number, point in given.items():
                if len(point.effort) != width:
                    raise _unusable(number, width, point.effort)
            rows = np.array([point.effort for point in given.values()], dtype=float)
            efforts = [array('d', row.tobytes()) for row in convert(_finite(rows, [*given]))]
        except RobodynError as error:
            problem = _lost(error)
            efforts = [array('d')] * len(given)
        for point, effort in zip(given.values(), efforts, strict=True):
            point.effort = effort
        return bytes(serialize_message(message)), problem

    def _conversion(self, joints: Sequence[str]) -> Convert:
        """Return the conversion for these joints."""
        if self._declaration is None:
            raise undeclared('the trajectory')
        conversion = self._declaration.for_joints(joints)
        if unknown := [name for name in conversion.joints if name not in self.limit]:
            raise ControlError(
                f'the torque limit of joint {unknown[0]!r} is not known before a model is loaded'
            )
        limit = np.array([self.limit[name] for name in conversion.joints])
        return lambda torque: conversion.commands(np.clip(torque, -limit, limit))


def _finite(efforts: Array, numbers: Sequence[int]) -> Array:
    """Return efforts, shape (N, n), that are all finite."""
    if len(wrong := np.flatnonzero(~np.isfinite(efforts).all(axis=1))):
        row = efforts[wrong[0]]
        raise _unusable(numbers[wrong[0]], len(row), row)
    return efforts


def _unusable(number: int, width: int, effort: Iterable[float]) -> ControlError:
    return ControlError(
        f'point {number} must have one finite effort for each of the {width} joints or none, got '
        f'{list(map(float, effort))!s:.80}'
    )


def _lost(error: RobodynError) -> str:
    return f'the trajectory loses its effort: {error}'


def _written(arrays: TrajectoryArrays, fields: Sequence[Array | None]) -> bytes:
    """Serialise a trajectory with other fields."""
    return write_trajectory(
        stamp=arrays.stamp, joints=arrays.joints, time=arrays.time, fields=fields,
        frame=arrays.frame,
    )  # fmt: skip
