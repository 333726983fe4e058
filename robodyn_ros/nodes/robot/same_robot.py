# SPDX-License-Identifier: Apache-2.0
"""Check that a result belongs to the robot of the robot file."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.robot_file import load_robot
from robodyn_ros.xacro_file import is_xacro


def check_same_robot(robot: str, joints: Sequence[str], source: str) -> None:
    """Refuse a result with joints that the URDF of the robot file does not have.

    Without a URDF that can be read without xacro, nothing is checked: the result is the model.

    :param robot: reference of a robot file, or '' for none
    :raises RobodynError: the result is of another robot, or the robot file cannot be used
    """
    urdf = load_robot(robot).urdf if robot else ''
    if not urdf or is_xacro(urdf):
        return
    try:
        known = [joint.name for joint in read_urdf(urdf).joints]
    except RobodynError:
        return
    if missing := [name for name in joints if name not in known]:
        raise ConfigError(
            f'{source} is of another robot: it has the joints {", ".join(joints)}, but the robot '
            f'file {robot} ({urdf}) has no {", ".join(missing)}: give the robot that was '
            f'identified as parameter robot'
        )
