# SPDX-License-Identifier: Apache-2.0
"""Bands of motion from the distribution of the recordings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.threshold_map import Bands
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.signals import white_noise

Layout = tuple[int, int, int]
"""Number of bands of speed, acceleration and time since reversal."""


def still_speed(sessions: Sequence[Session], *, share: float = 0.05) -> Array:
    """Return the speed of standstill: a share of the joint's high speeds, above its noise.

    :param share: of the 95 % quantile of the speed, 0..1
    :return: shape (n,), in [rad/s] or [m/s], above 0
    """
    used = [each.velocity[each.used] for each in sessions]
    speed = np.abs(np.concatenate(used))
    noise = [white_noise(each) for each in used if len(each) > 3]
    high: Array = share * np.quantile(speed, 0.95, axis=0)
    still: Array = np.max([high, *(3.0 * each for each in noise)], axis=0)
    bounded: Array = np.maximum(still.astype(float), np.finfo(np.float32).tiny)
    return bounded


def bands_of(sessions: Sequence[Session], still: Array, layout: Layout) -> Bands:
    """Return bands with equal numbers of moving samples of each joint.

    Bands of time since reversal are narrower at its start.
    """
    edges = [np.zeros((len(still), bands - 1)) for bands in layout]
    levels = [np.linspace(0.0, 1.0, bands + 1)[1:-1] for bands in layout]
    levels[2] = levels[2] ** 2
    motions = [each.motion(still) for each in sessions]
    for joint in range(len(still)):
        moving = [
            (motion[0][:, joint] >= still[joint]) & each.used
            for motion, each in zip(motions, sessions, strict=True)
        ]
        if not any(rows.any() for rows in moving):
            continue  # all bands are empty: the joint rests
        for kind in range(3):
            chosen = [m[kind][rows, joint] for m, rows in zip(motions, moving, strict=True)]
            edges[kind][joint] = np.quantile(np.concatenate(chosen), levels[kind])
    speed, acceleration, reversal = edges
    return Bands(still, speed, acceleration, reversal)
