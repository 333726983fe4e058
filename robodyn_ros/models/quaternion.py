# SPDX-License-Identifier: Apache-2.0
"""Attitudes as unit quaternions, whose rates have no singularities.

Cheng, Bi and Yuan, "Dynamic parameters identification method of 6-DOF industrial robot based on
quaternion" (2022). A quaternion (w, x, y, z), the document's Lambda, turns the axes of the world
into those of a body; rates are along the body's axes. Arrays have shape (..., 4) and (..., 3).
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import make_interp_spline

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array


def normalise(attitude: Array, what: str = 'the attitude') -> Array:
    """Normalise quaternions, which files hold rounded.

    :raises ModelError: one is not finite, or its length differs from 1 by more than 0.001
    """
    length = np.linalg.norm(attitude, axis=-1, keepdims=True)
    wrong = ~(np.abs(length - 1.0) < 1e-3)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ModelError(
            f'{what} in row {row + 1} is no unit quaternion: its length is '
            f'{length.reshape(-1)[row]:.6g}'
        )
    result: Array = attitude / length
    return result


def rate_matrix(attitude: Array) -> Array:
    """Return R (..., 3, 4) of Eq. 8: half the angular velocity is R @ rate of the quaternion."""
    w, x, y, z = np.moveaxis(attitude, -1, 0)
    rows = [[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angular(attitude: Array, derivative: Array) -> Array:
    """Return 2 R Lambda' or 2 R Lambda'' (Eq. 7), along the body's axes, shape (..., 3).

    :param derivative: the quaternion's first derivative in [1/s], for the angular velocity in
        [rad/s], or its second in [1/s^2], for the angular acceleration in [rad/s^2]
    """
    result: Array = 2.0 * np.einsum('...ij,...j->...i', rate_matrix(attitude), derivative)
    return result


def rates(time: Array, attitude: Array) -> tuple[Array, Array]:
    """Compute angular velocity and acceleration (N, 3) of attitudes (N, 4) over time (N,).

    Splines of degree 5 are differentiated. As q and -q are the same attitude, signs are made
    continuous first. Noise is not smoothed.

    :raises ModelError: fewer than 6 samples, or stamps that do not increase
    """
    if len(time) < 6 or not (np.diff(time) > 0.0).all():
        raise ModelError(
            f'rates of an attitude need at least 6 samples of increasing time, got {len(time)}'
        )
    turned = np.sum(attitude[1:] * attitude[:-1], axis=1) < 0.0
    sign = np.where(np.cumsum(np.concatenate([[False], turned])) % 2, -1.0, 1.0)
    attitude = sign[:, None] * attitude
    spline = make_interp_spline(time, attitude, k=5)
    return angular(attitude, spline(time, 1)), angular(attitude, spline(time, 2))


def euler_matrix(velocity: Array, acceleration: Array) -> Array:
    """Return idS (..., 3, 3) of Eq. 18: moment about the centre of mass = idS @ (J11, J22, J33).

    Euler's equations J w' + w x (J w) along the principal axes, linear in the moments of inertia;
    Eq. 19 writes them out in quaternions.

    :param velocity: along the body's principal axes, (..., 3), in [rad/s]
    :param acceleration: the same, in [rad/s^2]
    """
    a, b, c = np.moveaxis(velocity, -1, 0)
    da, db, dc = np.moveaxis(acceleration, -1, 0)
    rows = [[da, -b * c, b * c], [a * c, db, -a * c], [-a * b, a * b, dc]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
