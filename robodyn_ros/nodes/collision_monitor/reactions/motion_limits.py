# SPDX-License-Identifier: Apache-2.0
"""Limits of the motions that the collision monitor commands."""

from __future__ import annotations

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.paths import resource


def motion_limits(
    model: IdentifiedModel, file: str, velocity: float, acceleration: float
) -> JointLimits:
    """Return the limits of the model's joints, as the excitation node uses them.

    :param file: joint limits file or robot file, on top of the URDF in the model; '': none
    :param velocity: share of the velocity limits that may be used, as `acceleration`
    :raises RobodynError: a file that cannot be used, or a joint without any limit
    """
    body = rigid_part(model.model)
    limits = model_limits(model.model) if body is None else JointLimits.from_urdf(body.urdf)
    if file:
        limits = load_limits(resource(file), limits)
    limits = limits.scaled(velocity=velocity, acceleration=acceleration)
    return limits.select(model.joints).with_default_acceleration()
