# SPDX-License-Identifier: Apache-2.0
"""Tables of static poses: each row is position and torque of a robot at rest."""

from __future__ import annotations

import numpy as np

from robodyn_ros.findings import finding
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import Signals

STEP = 0.05
"""Least median step of the fastest joint from row to row, as a share of its range."""

MOST = 10_000
"""Most poses of a table."""


def read_poses(signals: Signals) -> Recording | None:
    """Return rows that are static poses as a recording; None: they follow as a motion does.

    Rows of poses lie apart, and the direction from one to the next changes like chance: second
    differences are larger than first ones. Velocities, if there are any, are zero. The recording
    has velocities and accelerations of zero, and a pose each second.
    """
    position, velocity = signals.values['position'], signals.values.get('velocity')
    if not 4 <= len(position) <= MOST or (velocity is not None and np.nan_to_num(velocity).any()):
        return None
    range_ = np.ptp(np.nan_to_num(position), axis=0)
    if not range_.any():
        return None
    share = position[:, range_ > 0.0] / range_[range_ > 0.0]
    first, second = (np.abs(np.diff(share, order, axis=0)).max(axis=1) for order in (1, 2))
    if not (np.median(first) > STEP and np.median(second) > np.median(first)):
        return None
    still = np.zeros_like(position)
    return Recording(
        time=np.arange(len(position), dtype=np.float64),
        joints=signals.joints,
        position=position,
        torque=signals.values['torque'],
        velocity=still,
        acceleration=still,
        source=signals.source,
        findings=(*signals.findings, finding('static_poses', count=len(position))),
    )
