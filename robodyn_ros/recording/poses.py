# SPDX-License-Identifier: Apache-2.0
"""Tables of static poses: each row is position and torque of a robot at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP = 0.05
"""Least median step of the fastest joint from row to row, as a share of its range."""

MOST = 10_000
"""Most poses of a table."""


def are_poses(position: Array, velocity: Array | None) -> bool:
    """Return True if rows are static poses; False: they follow as a motion does.

    Rows of poses lie apart, and the direction from one to the next changes like chance: second
    differences are larger than first ones. Velocities, if there are any, are zero.

    :param position: shape (N, n), as velocity
    """
    if not 4 <= len(position) <= MOST or (velocity is not None and np.nan_to_num(velocity).any()):
        return False
    range_ = np.ptp(np.nan_to_num(position), axis=0)
    share = position[:, range_ > 0.0] / range_[range_ > 0.0]
    steps = (np.abs(np.diff(share, order, axis=0)).max(axis=1, initial=0.0) for order in (1, 2))
    first, second = map(np.median, steps)
    return bool(first > STEP and second > first)
