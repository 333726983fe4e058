# SPDX-License-Identifier: Apache-2.0
"""Relative position of the axes of a robot, independent of the frames of its description."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.tree import Tree


def largest_difference(one: Tree, other: Tree) -> tuple[int, int, float]:
    """Return the two joints whose axes lie most differently to each other, and how, in [m].

    Distance and angle of two axes at zero do not depend on the frames of a description. Up to 1 %
    of the reach counts as none, as calibration moves axes by some mm. A slide has a direction
    only.
    """
    (directions, points), (others, other_points) = _axes(one), _axes(other)
    reach = max(0.1, *(float(np.ptp(each, axis=0).max()) for each in (points, other_points)))
    # Calibration turns parallel axes by mrad: their crossing point then has no meaning.
    sines = np.minimum(_sines(directions), _sines(others))
    distances = np.where(
        sines > 0.05,
        _crossing(directions, points) - _crossing(others, other_points),
        _parallel(directions, points) - _parallel(others, other_points),
    )
    slides = np.zeros(len(points), dtype=bool)
    slides[[body.joint for body in one.bodies if body.prismatic]] = True
    distances[slides[:, None] | slides] = 0.0
    turned = np.abs(_angles(directions) - _angles(others))
    gaps = np.maximum(np.abs(distances), reach * turned)
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


def _angles(directions: Array) -> Array:
    """Return the angles of all pairs of axes, in [rad], shape (n, n)."""
    return np.asarray(np.arccos(np.clip(directions @ directions.T, -1.0, 1.0)))


def _crossing(directions: Array, points: Array) -> Array:
    """Return the distances of all pairs of axes that are not parallel, in [m], shape (n, n)."""
    normal = np.cross(directions[:, None], directions[None])
    along = np.abs(np.sum((points[None] - points[:, None]) * normal, axis=2))
    return np.asarray(along / np.maximum(_sines(directions), 1e-300))


def _parallel(directions: Array, points: Array) -> Array:
    """Return the distances of the points from all axes, in [m], shape (n, n)."""
    between = points[None] - points[:, None]
    return np.asarray(np.linalg.norm(np.cross(directions[:, None], between), axis=2))
