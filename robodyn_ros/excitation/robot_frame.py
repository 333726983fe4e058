# SPDX-License-Identifier: Apache-2.0
"""Limits and frames of a robot, from its model and URDF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.constraints import Points, frame_points
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.models.serial.urdf_file import UrdfFile


def model_limits(model: DynamicModel) -> JointLimits:
    """Return the limits of the model's URDF; without a URDF all are infinite.

    :raises MotionError: invalid limits in the URDF
    """
    body = rigid_part(model)
    if body is not None:
        return JointLimits.from_urdf(body.urdf, model.joint_names)
    endless = np.full(len(model.joints), np.inf)
    units = tuple(joint.position_unit for joint in model.joints)
    return JointLimits(
        model.joint_names, units, -endless, endless, endless, endless, endless, endless
    )


def choose_frame(model: DynamicModel, frames: Sequence[str] = ()) -> Points | None:
    """Return places of the frame whose path is drawn: the first name, else last link or tool.

    :return: see `frame_points`; None if the model has no kinematics
    """
    body = rigid_part(model)
    last = 'tool' if body is None else tip_link(body.urdf, body.joint_names[-1])
    try:
        return frame_points(model, [*frames, last][:1])
    except MotionError:
        return None


def frame_in_urdf(
    urdf: UrdfFile, joints: Sequence[str], *, link: str = '', model: DynamicModel | None = None
) -> Points | None:
    """Return places of a frame in the root link of a URDF, at positions of these joints.

    :param link: the frame; empty: the tip of the arm, if all joints move it, else the tool of
        the model, because the URDF of a parallel robot has no tool
    :return: see `frame_points`; None if there is no such frame
    :raises ModelError: joints that the URDF does not have
    """
    body = UrdfModel(urdf=urdf, joints=joints)
    tips = (tip_link(urdf, joint) for joint in joints)
    link = link or next((tip for tip in tips if _carriers(urdf, tip) >= set(joints)), '')
    if link:
        try:
            return frame_points(body, [link])
        except MotionError:
            return None
    points = None if model is None else choose_frame(model)
    if points is None or model is None or set(model.joint_names) != set(joints):
        return None
    columns = [list(joints).index(name) for name in model.joint_names]
    return lambda q: points(q[:, columns])


def tip_link(urdf: UrdfFile, joint: str) -> str:
    """Return the link that a joint moves, or the end of the single chain fixed to it."""
    link = next(item.child for item in urdf.joints if item.name == joint)
    while len(fixed := [j for j in urdf.joints if j.parent == link and j.type == 'fixed']) == 1:
        link = fixed[0].child
    return link


def _carriers(urdf: UrdfFile, link: str) -> set[str]:
    """Return the names of all joints between the root and a link."""
    above = {joint.child: joint for joint in urdf.joints}
    names = set()
    while link in above:
        names.add(above[link].name)
        link = above[link].parent
    return names
