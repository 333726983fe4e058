# SPDX-License-Identifier: Apache-2.0
"""Conversion between serialised JointTrajectory messages and points of a motion."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.bounds import MESSAGE, MIXED_POINTS, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.nodes.base.clock import nanoseconds_of
from robodyn_ros.wire import trajectory
from robodyn_ros.wire.cursor import BODY, TIME, WireError
from robodyn_ros.wire.joint_state import STAMP_END


def write_points(points: TrajectoryPoints) -> bytes:
    """Serialise points as a JointTrajectory without a stamp, ready for `Publisher.publish`."""
    fields = (points.position, points.velocity, points.acceleration, points.effort)
    return trajectory.write_trajectory(
        stamp=0, joints=points.joints, time=points.time, fields=fields
    )


def _read_mixed(serialised: bytes) -> Any:
    """Read a serialised trajectory_msgs/JointTrajectory as the message of rclpy."""
    with suppress(WireError):  # damaged there: rclpy says how
        check_bound(MIXED_POINTS, trajectory.point_count(serialised))
    try:
        message = deserialize_message(serialised, JointTrajectory)
    except Exception as error:  # RMWError of rclpy, which exports no such class
        raise MotionError(f'it cannot be read: {" ".join(str(error).split())}') from error
    _check_stamp(message.header.stamp.sec)
    return message


def _check_stamp(stamp: int) -> None:
    """Refuse a negative stamp, which ends the process of a joint_trajectory_controller (4.42)."""
    if stamp < 0:
        raise MotionError('its stamp is negative, so it must not reach a controller')


def with_valid_stamp(serialised: bytes) -> bytes:
    """Return a serialised trajectory without points; a negative stamp becomes 0, see above."""
    if len(serialised) < STAMP_END or TIME.unpack_from(serialised, BODY)[0] >= 0:
        return serialised
    return trajectory.with_stamp(serialised, 0)


def without_effort(serialised: bytes) -> bytes:
    """Return a serialised trajectory without the effort of its points.

    :raises MotionError: a controller cannot read it
    :raises BoundError: it is so large that a stop after it would have to wait
    """
    check_bound(MESSAGE, len(serialised))
    if trajectory.is_empty(serialised):
        return with_valid_stamp(serialised)
    try:
        arrays = trajectory.read_trajectory(serialised)
    except WireError:  # points with different fields: rclpy reads them
        message = _read_mixed(serialised)
        for point in message.points:
            point.effort = []
        return bytes(serialize_message(message))
    _check_stamp(arrays.stamp)
    *others, effort = arrays.fields
    if effort is None:
        return serialised
    return trajectory.write_trajectory(
        stamp=arrays.stamp, joints=arrays.joints, time=arrays.time, fields=(*others, None),
        frame=arrays.frame,
    )  # fmt: skip


def read_trajectory(serialised: bytes) -> tuple[int, TrajectoryPoints | None]:
    """Read a serialised trajectory_msgs/JointTrajectory.

    :param serialised: from a subscription with `raw=True`
    :return: header stamp in [ns], 0 if there is none, and the points, or None without points
    :raises MotionError: a trajectory that no controller could follow
    :raises BoundError: points with different fields are too many
    """
    with suppress(WireError):  # points with different fields: rclpy reads them
        arrays = trajectory.read_trajectory(serialised)
        _check_stamp(arrays.stamp)
        if not len(arrays.time):
            return arrays.stamp, None
        position, velocity, acceleration, effort = arrays.fields
        if position is not None:
            return arrays.stamp, TrajectoryPoints(
                arrays.joints, arrays.time, position, velocity, acceleration, effort
            )
    message = _read_mixed(serialised)
    stamp = nanoseconds_of(message.header.stamp)
    return stamp, TrajectoryPoints.from_message(message) if message.points else None
