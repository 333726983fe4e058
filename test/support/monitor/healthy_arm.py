# SPDX-License-Identifier: Apache-2.0
"""Healthy and touched recordings of the small arm, and learned thresholds of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from control_arm import small_arm

from robodyn_ros.analysis.collision_thresholds import ThresholdProposal
from robodyn_ros.control.collision.motion_bands import Bands
from robodyn_ros.control.collision.ramp_law import KINDS, LEVEL, ORDER, SCORES, RampLaw
from robodyn_ros.control.collision.settings import CollisionSettings
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


def flat_law(
    model_hash: str, threshold: Array, *, rest: Array | None = None, **detector: Any
) -> LearnedThresholds:
    """Thresholds of the torque error alone that are the same in all motions; others at `rest`."""
    width = len(threshold)
    bands = Bands(np.full(width, 0.05), *np.zeros((2, width, 0)))
    scale = np.full((width, bands.cells, SCORES), 1e9)
    scale[:, :, LEVEL] = threshold[:, None]
    if rest is not None:
        scale[:, bands.moving + 1 :, LEVEL] = rest[:, None]
    settings = {
        'period': 0.002, 'filter_cutoff': 40.0, 'torque_error_filter': 0.5, 'debounce': 2,
        **detector,
    }  # fmt: skip
    law = RampLaw(
        settings['period'], bands, *np.full((2, width), 100.0),
        mean=np.zeros((1 + KINDS * width, width)), whitening=np.zeros((width, 2, ORDER)),
        scale=scale, covariance=np.repeat(np.eye(width)[None], SCORES, axis=0), joint=1e9,
    )  # fmt: skip
    return LearnedThresholds(MODEL.joint_names, model_hash, settings, law, 0.6, 1.0, 10.0, 3.0)
