# SPDX-License-Identifier: Apache-2.0
"""Trajectories that pass a feed-forward without its torque."""

from __future__ import annotations

from array import array

import numpy as np
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort.declaration import EffortDeclaration, undeclared
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.nodes.robot.trajectory_message import whole_trajectory


class Passing:
    """Conversion of the efforts of these trajectories to the unit of the drives.

    :ivar limit: largest effort by joint, in [Nm] or [N]; a joint without limit has no effort
    """

    def __init__(self, declaration: EffortDeclaration | None) -> None:
        """Start without limits.

        :param declaration: declaration of the efforts that are sent; None: unknown
        """
        self._declaration = declaration
        self.limit: dict[str, float] = {}

    def passed(self, serialised: bytes) -> tuple[bytes, str]:
        """Convert the efforts of a trajectory to the unit of the drives, within the limits.

        :return: the trajectory, and '' or why its efforts are removed
        :raises MotionError: the bytes are no trajectory
        """
        message = whole_trajectory(serialised)
        if not any(point.effort for point in message.points):
            return serialised, ''
        problem = ''
        try:
            efforts = self._efforts(message)
        except RobodynError as error:
            problem = f'the trajectory loses its effort: {error}'
            efforts = [array('d')] * len(message.points)
        for point, effort in zip(message.points, efforts, strict=True):
            point.effort = effort
        return bytes(serialize_message(message)), problem

    def _efforts(self, message: JointTrajectory) -> list[array[float]]:
        """Return the efforts of the points within the limits, in the unit of commands.

        :raises RobodynError: they are not declared, a joint has no limit, or one is not a finite
            number per joint
        """
        if self._declaration is None:
            raise undeclared('the trajectory')
        conversion = self._declaration.for_joints(message.joint_names)
        if unknown := [name for name in conversion.joints if name not in self.limit]:
            raise ControlError(
                f'the torque limit of joint {unknown[0]!r} is not known before a model is loaded'
            )
        limit = np.array([self.limit[name] for name in conversion.joints])
        efforts = []
        for number, point in enumerate(message.points):
            torque = np.array(point.effort, dtype=float)
            if len(torque) not in (0, len(limit)) or not np.isfinite(torque).all():
                raise ControlError(
                    f'point {number} must have one finite effort for each of the {len(limit)} '
                    f'joints or none, got {torque.tolist()!s:.80}'
                )
            if len(torque):
                torque = conversion.command(np.clip(torque, -limit, limit))
            efforts.append(array('d', torque.tobytes()))
        return efforts
