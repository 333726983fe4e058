# SPDX-License-Identifier: Apache-2.0
"""A residual torque that is known by heart: nearly a line over the deflection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.identification.gears.fits import GRID
from robodyn_ros.identification.gears.maps import RbfMap
from robodyn_ros.models.gear_torque import GearTorqueLaw

STIFFNESS = 1000.0
LIMIT = 10.0
GEAR_RATIO = -50.0


def proportional(joints: Sequence[str]) -> GearTorqueLaw:
    """Torque of 1000 Nm per rad of deflection up to 10 Nm: a basis so narrow that it is a line."""
    count = len(joints)
    centres = [np.tile(np.linspace(-1, 1, points), (count, 1)) for points in GRID]
    centres[0] *= 0.01
    widths = np.array([0.5 * (each[0, 1] - each[0, 0]) for each in centres])
    weights = np.broadcast_to(STIFFNESS * centres[0][:, :, None, None], (count, *GRID))
    ends = np.tile([0.01, 1.0, 1.0], (count, 1))
    return GearTorqueLaw(
        joints=tuple(joints),
        inputs=('deflection', 'deflection_rate', 'motor_velocity'),
        map=RbfMap((centres[0], centres[1], centres[2]), np.tile(widths, (count, 1)), weights),
        low=-ends,
        high=ends,
        limit=np.full(count, LIMIT),
        gear_ratio=np.full(count, GEAR_RATIO),
        cutoff=20.0,
    )
