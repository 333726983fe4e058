# SPDX-License-Identifier: Apache-2.0
"""Check that a result belongs to the robot of the robot file."""

from __future__ import annotations

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.axes import largest_difference
from robodyn_ros.models.serial.tree import body_tree
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import is_xacro


def check_same_robot(robot: str, model: DynamicModel, source: str) -> None:
    """Refuse a result with other joints or lengths than the URDF of the robot file.

    Without a URDF that can be read without xacro, nothing is checked: the result is the model.
    Lengths are compared if the result has a URDF too.

    :param robot: reference of a robot file, or '' for none
    :param model: of the result
    :param source: of the result
    :raises RobodynError: the result is of another robot, or the robot file cannot be used
    """
    urdf = load_robot(robot).urdf if robot else ''
    if not urdf or is_xacro(urdf):
        return
    try:
        known = read_urdf(urdf)
    except RobodynError:
        return
    joints, names = model.joint_names, [joint.name for joint in known.joints]
    remedy = 'give the robot that was identified as parameter robot'
    if missing := [name for name in joints if name not in names]:
        raise ConfigError(
            f'{source} is of another robot: it has the joints {", ".join(joints)}, but the robot '
            f'file {robot} ({urdf}) has no {", ".join(missing)}: {remedy}'
        )
    body = rigid_part(model)
    if body is None:
        return
    first, second, gap = largest_difference(body.tree, body_tree(known, body.joint_names))
    if gap:
        raise ConfigError(
            f'{source} is of another robot: the axes of {body.joint_names[first]} and '
            f'{body.joint_names[second]} lie otherwise than in the robot file {robot} ({urdf}), '
            f'by {1e3 * gap:.0f} mm at the reach of the robot: {remedy}'
        )
