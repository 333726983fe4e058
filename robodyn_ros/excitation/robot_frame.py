"""What a dynamic model tells about its robot: limits, and a frame to draw the path of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.constraints import Points, frame_points
from robodyn_ros.excitation.limits import JointLimits
from robodyn_ros.models.interface import DynamicModel, SumModel
from robodyn_ros.models.urdf import UrdfModel


def model_limits(model: DynamicModel) -> JointLimits:
    """Limits of the model's URDF; of another model none: all are infinite.

    :raises MotionError: limits in the URDF that are none
    """
    body = _urdf_part(model)
    if body is not None:
        return JointLimits.from_urdf(body.urdf, model.joint_names)
    endless = np.full(len(model.joints), np.inf)
    units = tuple(joint.position_unit for joint in model.joints)
    return JointLimits(
        model.joint_names, units, -endless, endless, endless, endless, endless, endless
    )


def shown_frame(model: DynamicModel, frames: Sequence[str] = ()) -> Points | None:
    """Places of the frame whose path is drawn: the first named, else the last link or the tool.

    :return: see `frame_points`; None where the model has no kinematics
    """
    body = _urdf_part(model)
    last = 'tool' if body is None else _last_link(body)
    try:
        return frame_points(model, [*frames, last][:1])
    except MotionError:
        return None


def _last_link(body: UrdfModel) -> str:
    carried = {joint.name: joint.child for joint in body.urdf.joints}
    return carried[body.joint_names[-1]]


def _urdf_part(model: DynamicModel) -> UrdfModel | None:
    parts = model.parts if isinstance(model, SumModel) else (model,)
    return next((part for part in parts if isinstance(part, UrdfModel)), None)
