# SPDX-License-Identifier: Apache-2.0
"""Healthy and touched recordings of the small arm, and a map of its thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from control_arm import small_arm

from robodyn_ros.analysis.collision_thresholds import ThresholdProposal
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.control.collision.thresholds_file import LearnedThresholds
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.recording import Recording

MODEL, VALUES = small_arm()
PERIOD = 0.01


def recorded(seconds: float, seed: int, pushes: dict[float, float] | None = None) -> Recording:
    """A motion at 100 Hz with noise of the torque that grows with speed.

    :param pushes: torque on joint 2 for 0.3 s, in [Nm], by start in [s]
    """
    random = np.random.default_rng(seed)
    time = 10.0 + PERIOD * np.arange(round(seconds / PERIOD))
    rate, phase = np.array([3.0, 4.0]), random.uniform(0.0, 6.0, 2)
    angle = rate * time[:, None] + phase
    q, qd, qdd = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle), -0.5 * rate**2 * np.sin(angle)
    torque = MODEL.torque(q, qd, qdd, VALUES)
    torque += random.normal(size=q.shape) * (0.05 + 0.2 * np.abs(qd))
    for start, push in (pushes or {}).items():
        torque[(time >= start) & (time < start + 0.3), 1] -= push
    return Recording(time, MODEL.joint_names, q, torque, qd, source=f'run{seed}')


def with_thresholds(settings: CollisionSettings, proposal: ThresholdProposal) -> CollisionSettings:
    """Return settings with proposed thresholds."""
    return replace(
        settings,
        max_torque_error=proposal.max_torque_error,
        contact_threshold=proposal.contact_threshold,
        low_velocity_torque=proposal.low_velocity_torque,
    )


def flat_map(
    model_hash: str, threshold: Array, *, change: Array | None = None, **detector: object
) -> LearnedThresholds:
    """Thresholds that are the same in all cells; `change` at rest."""
    width = len(threshold)
    bands = Bands(np.full(width, 0.05), *np.zeros((3, width, 0)))
    limits = np.full((2, width), 100.0)
    given = ThresholdMap(bands, np.repeat(threshold[:, None], 3, axis=1), 0.6, *limits, change)
    settings = {
        'period': 0.002, 'filter_cutoff': 40.0, 'torque_error_filter': 0.5, 'debounce': 2,
        **detector,
    }  # fmt: skip
    return LearnedThresholds(MODEL.joint_names, model_hash, settings, given, 1.0, 3.0)
