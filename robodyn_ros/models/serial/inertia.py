# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters of a rigid body: ten numbers, or the pseudo-inertia (4, 4).

The pseudo-inertia is the integral of [x, 1] [x, 1]^T dm: second moments, first moments and mass.
In a frame of which the body's frame has the pose T it is T P T^T.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array

INERTIAL_NAMES = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
"""Ten parameters of a link, in Pinocchio's order; inertia about the joint frame's origin."""

INERTIAL_UNITS = ('kg',) + ('kg m',) * 3 + ('kg m^2',) * 6
_ROWS, _COLUMNS = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]


def ten_parameters(pseudo: Array) -> Array:
    """Return the ten parameters, shape (10,), of a pseudo-inertia (4, 4)."""
    moments = np.trace(pseudo[:3, :3]) * np.eye(3) - pseudo[:3, :3]
    return np.concatenate([pseudo[3:, 3], pseudo[:3, 3], moments[_ROWS, _COLUMNS]])


def pseudo_inertia(ten: Array) -> Array:
    """Return the pseudo-inertia, shape (..., 4, 4), of ten parameters (..., 10)."""
    moments = inertia_tensor(ten)
    result = np.zeros((*ten.shape[:-1], 4, 4))
    result[..., :3, :3] = -moments
    result[..., range(3), range(3)] += 0.5 * np.trace(moments, axis1=-2, axis2=-1)[..., None]
    result[..., :3, 3] = result[..., 3, :3] = ten[..., 1:4]
    result[..., 3, 3] = ten[..., 0]
    return result


def body_of(pseudo: Array) -> tuple[Array, float, Array]:
    """Return centre of mass (3,), mass, and inertia (3, 3) about the centre, of (4, 4)."""
    mass = float(pseudo[3, 3])
    center = pseudo[:3, 3] / mass
    spread = pseudo[:3, :3] - mass * np.outer(center, center)
    return center, mass, np.trace(spread) * np.eye(3) - spread


def inertia_tensor(ten: Array) -> Array:
    """Return the inertia tensor, shape (..., 3, 3), of ten parameters (..., 10)."""
    result = np.empty((*ten.shape[:-1], 3, 3))
    result[..., _ROWS, _COLUMNS] = result[..., _COLUMNS, _ROWS] = ten[..., 4:]
    return result
