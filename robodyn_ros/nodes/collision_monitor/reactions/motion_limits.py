# SPDX-License-Identifier: Apache-2.0
"""Limits of the motions that the collision monitor commands."""

from __future__ import annotations

import numpy as np

from robodyn_ros.excitation.limits.joint_limits import QUANTITIES, JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.paths import resource


def motion_limits(
    model: IdentifiedModel, file: str, velocity: float, acceleration: float
) -> JointLimits:
    """Return the limits of the model's joints, as the excitation node uses them.

    :param file: joint limits file or robot file, on top of the URDF in the model; '': none
    :param velocity: share of the velocity limits that may be used, as `acceleration`
    :raises RobodynError: a file that cannot be used, or a joint without any limit
    """
    limits = _of_urdf(model.model) or _unlimited(model)
    if file:
        limits = load_limits(resource(file), limits)
    limits = limits.scaled(velocity=velocity, acceleration=acceleration)
    return limits.select(model.joints).with_default_acceleration()


def _of_urdf(model: DynamicModel) -> JointLimits | None:
    if isinstance(model, UrdfModel):
        return JointLimits.from_urdf(model.urdf)
    parts = model.parts if isinstance(model, SumModel) else ()
    return next(filter(None, map(_of_urdf, parts)), None)


def _unlimited(model: IdentifiedModel) -> JointLimits:
    endless = np.full(len(model.joints), np.inf)
    arrays = {name: -endless if name == 'lower' else endless for name in QUANTITIES}
    units = tuple('m' if joint.torque_unit == 'N' else 'rad' for joint in model.model.joints)
    return JointLimits(joints=tuple(model.joints), units=units, **arrays)
