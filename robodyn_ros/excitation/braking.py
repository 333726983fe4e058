# SPDX-License-Identifier: Apache-2.0
"""Braking of a robot from a measured state, if the motion that it follows is not known.

Each joint brakes with its acceleration limit. A motion within these limits cannot reverse earlier,
so that no joint moves farther than with its motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.excitation.trajectory import Array

FIRST = 0.1
"""Time of the first point, in [s], in which the controller corrects the delay of measurement."""


def plan_braking(
    joints: Sequence[str], position: Array, velocity: Array, max_acceleration: Array
) -> TrajectoryPoints:
    """Return the points of a trajectory to rest; a robot at rest is held.

    :param position: shape (n,), in [rad] or [m]
    :param velocity: shape (n,), in [rad/s] or [m/s]
    :param max_acceleration: shape (n,), above 0, in [rad/s^2] or [m/s^2]
    :raises MotionError: limits of another count, or not above 0
    """
    limit = np.asarray(max_acceleration, dtype=float)
    if limit.shape != (len(joints),) or not (limit > 0.0).all():
        raise MotionError(f'braking needs {len(joints)} acceleration limits above 0, got {limit}')
    needed = np.abs(velocity) / limit
    duration = max(float(needed.max(initial=0.0)), 1.1 * FIRST)
    count = int(np.ceil(10.0 * (duration - FIRST) / FIRST)) + 1
    time = np.linspace(FIRST, duration, count)
    moving = np.minimum(time[:, None], needed)
    brake = np.sign(velocity) * limit
    return TrajectoryPoints(
        tuple(joints),
        time,
        position + moving * (velocity - 0.5 * brake * moving),
        np.where(time[:, None] < needed, velocity - brake * moving, 0.0),
    )
