# SPDX-License-Identifier: Apache-2.0
"""Motions away from a collision: braking on the path, and back along the travelled path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import PchipInterpolator

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.braking import FIRST
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.models.interface import Array


def brake_on_path(
    joints: Sequence[str], position: Array, velocity: Array, max_acceleration: Array
) -> TrajectoryPoints:
    """Return points to rest along the direction of motion, all joints in proportion.

    q(t) = q0 + v t - v t^2 / (2 T), with T = max |v| / a: the joint that needs the longest time
    brakes with its limit, the others with less. A robot at rest is held. Within FIRST, the time of
    the first point, the controller corrects the delay of the measurement.

    :param position: shape (n,), in [rad] or [m]
    :param velocity: shape (n,), in [rad/s] or [m/s]
    :param max_acceleration: shape (n,), above 0, in [rad/s^2] or [m/s^2]
    """
    needed = float((np.abs(velocity) / max_acceleration).max())
    time = np.linspace(FIRST, max(needed, 1.1 * FIRST), 12)
    moving = np.minimum(time, needed)[:, None]
    per_time = 1.0 / needed if needed else 0.0
    return TrajectoryPoints(
        tuple(joints),
        time,
        position + velocity * (moving - 0.5 * per_time * moving**2),
        velocity * (1.0 - per_time * moving),
    )


def retract(
    joints: Sequence[str],
    path: Array,
    velocity: Array,
    max_velocity: Array,
    max_acceleration: Array,
) -> TrajectoryPoints:
    """Return points that brake on the path, and then go back along it to its far end, to rest.

    The way back is the interpolation of the path (Fritsch and Carlson 1980, which does not
    overshoot), travelled with the minimum-jerk law u = 10 s^3 - 15 s^4 + 6 s^5 of Flash and Hogan
    (1985). Velocities scale with 1 / duration and accelerations with 1 / duration^2. The duration
    is the shortest one within all limits.

    :param path: positions from the present one back, shape (K, n), in [rad] or [m]
    :param velocity: present one, shape (n,), in [rad/s] or [m/s]
    :param max_velocity: shape (n,), above 0, in [rad/s] or [m/s]
    :param max_acceleration: shape (n,), above 0, in [rad/s^2] or [m/s^2]
    :raises MotionError: no path is known
    """
    stop = brake_on_path(joints, path[0], velocity, max_acceleration)
    rows = _distinct(np.vstack([stop.position[-1:], path]))
    if len(rows) < 2 or len(path) < 2:
        raise MotionError('the robot has not travelled a path that it could go back')
    length = np.concatenate([[0.0], np.abs(np.diff(rows, axis=0)).max(axis=1).cumsum()])
    curve = PchipInterpolator(length / length[-1], rows)
    share = np.linspace(0.0, 1.0, 101)
    u = share**3 * (10.0 + share * (6.0 * share - 15.0))
    rate = (30.0 * share**2 * (1.0 - share) ** 2)[:, None]
    change = (60.0 * share * (1.0 - share) * (1.0 - 2.0 * share))[:, None]
    along = curve(u, 1)
    fast = np.abs(along * rate) / max_velocity
    steep = np.abs(curve(u, 2) * rate**2 + along * change) / max_acceleration
    duration = 1.05 * max(float(fast.max()), float(np.sqrt(steep.max())), 0.1)
    return TrajectoryPoints(
        tuple(joints),
        np.concatenate([stop.time, stop.time[-1] + duration * share[1:]]),
        np.concatenate([stop.position, curve(u)[1:]]),
        np.concatenate([stop.velocity, (along * rate)[1:] / duration]),
    )


def leads_away(path: Array, torque_error: Array) -> bool:
    """Return True if the contact does positive work all along the way back.

    The torque error is J^T f for a force f at the contact. Its product with the way back is
    therefore the product of the force and the way of the point of contact. A robot that is pushed
    from behind would be pressed into what pushes it.

    :param path: positions from the present one back, shape (K, n), in [rad] or [m]
    :param torque_error: external torque at the collision, shape (n,), in [Nm] or [N]; 0 at joints
        that are not monitored
    """
    work = (path[1:] - path[0]) @ torque_error
    # A twentieth of it may be against the contact: noise of the first steps, a curved path.
    return bool(len(work) and work[-1] > 0.0 and work.min() >= -0.05 * work.max())


def _distinct(rows: Array) -> Array:
    """Return rows without repetitions of the previous one."""
    moved = np.abs(np.diff(rows, axis=0)).max(axis=1) > 1e-9
    return np.vstack([rows[:1], rows[1:][moved]])
