# SPDX-License-Identifier: Apache-2.0
"""Check that a result belongs to the robot of the robot file."""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ConfigError, RobodynError
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.serial.tree import Tree, body_tree
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
    first, second, gap = _largest_difference(body.tree, body_tree(known, body.joint_names))
    if gap:
        raise ConfigError(
            f'{source} is of another robot: the axes of {body.joint_names[first]} and '
            f'{body.joint_names[second]} lie otherwise than in the robot file {robot} ({urdf}), '
            f'by {1e3 * gap:.0f} mm at the reach of the robot: {remedy}'
        )


def _largest_difference(one: Tree, other: Tree) -> tuple[int, int, float]:
    """Return the two joints whose axes lie most differently to each other, and how, in [m].

    Distance and angle of two axes at zero do not depend on the frames of a description. Up to 1 %
    of the reach there is no difference: calibrated descriptions of a robot differ by some mm. A
    slide has a direction only.
    """
    (directions, points), (others, other_points) = _axes(one), _axes(other)
    reach = max(0.1, *(float(np.ptp(each, axis=0).max()) for each in (points, other_points)))
    # Calibration turns parallel axes by mrad: they then cross somewhere, which says nothing.
    sines = np.minimum(_sines(directions), _sines(others))
    distances = np.where(
        sines > 0.05,
        _crossing(directions, points) - _crossing(others, other_points),
        _parallel(directions, points) - _parallel(others, other_points),
    )
    slides = np.zeros(len(points), dtype=bool)
    slides[[body.joint for body in one.bodies if body.prismatic]] = True
    distances[slides[:, None] | slides] = 0.0
    angles = directions @ directions.T - others @ others.T
    gaps = np.maximum(np.abs(distances), reach * np.abs(angles))
    first, second = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    gap = float(gaps[first, second])
    return int(first), int(second), gap if gap > 0.01 * reach else 0.0


def _axes(tree: Tree) -> tuple[Array, Array]:
    """Return direction and a point (n, 3) of each axis at zero, in the frame of the root."""
    directions, points = np.zeros((2, len(tree.bodies), 3))
    poses: list[Array] = []
    for body in tree.bodies:
        pose = (poses[body.parent] if body.parent >= 0 else np.eye(4)) @ body.placement
        poses.append(pose)
        directions[body.joint], points[body.joint] = pose[:3, :3] @ body.axis, pose[:3, 3]
    return directions, points


def _sines(directions: Array) -> Array:
    """Return the sines of the angles of all pairs of axes, shape (n, n)."""
    return np.asarray(np.linalg.norm(np.cross(directions[:, None], directions[None]), axis=2))


def _crossing(directions: Array, points: Array) -> Array:
    """Return the distances of all pairs of axes that are not parallel, in [m], shape (n, n)."""
    normal = np.cross(directions[:, None], directions[None])
    along = np.abs(np.sum((points[None] - points[:, None]) * normal, axis=2))
    return np.asarray(along / np.maximum(_sines(directions), 1e-300))


def _parallel(directions: Array, points: Array) -> Array:
    """Return the distances of the points from all axes, in [m], shape (n, n)."""
    between = points[None] - points[:, None]
    return np.asarray(np.linalg.norm(np.cross(directions[:, None], between), axis=2))
