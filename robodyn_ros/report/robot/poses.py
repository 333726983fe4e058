# SPDX-License-Identifier: Apache-2.0
"""Poses of the moving bodies of a robot."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.rigid_columns import Body, cross_matrix


def poses(tree: tuple[Body, ...], q: Array) -> Array:
    """Return the pose of each body in the base frame, shape (N, bodies, 4, 4), lengths in [m].

    :param tree: each body after its parent
    :param q: joint positions, shape (N, n), in [rad] or [m]
    """
    result = np.empty((len(q), len(tree), 4, 4))
    for number, body in enumerate(tree):
        carrier = np.eye(4) if body.parent < 0 else result[:, body.parent]
        result[:, number] = carrier @ body.placement @ _joint_motion(body, q[:, body.joint])
    return result


def _joint_motion(body: Body, q: Array) -> Array:
    """Return the motion of a joint, shape (N, 4, 4): Rodrigues' formula, or a shift."""
    motion = np.tile(np.eye(4), (len(q), 1, 1))
    if body.prismatic:
        motion[:, :3, 3] = q[:, None] * body.axis
        return motion
    cross = cross_matrix(body.axis)
    sine, cosine = np.sin(q)[:, None, None], np.cos(q)[:, None, None]
    motion[:, :3, :3] += sine * cross + (1.0 - cosine) * (cross @ cross)
    return motion
