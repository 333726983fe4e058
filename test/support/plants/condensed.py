# SPDX-License-Identifier: Apache-2.0
"""Condensed recordings of a known robot, without the signal processing."""

from __future__ import annotations

import numpy as np
from simulation import record

from robodyn_ros.identification.factors.condense import Condensed, condense
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.interface import Array, DynamicModel


def condensed(
    model: DynamicModel, values: Array, samples: int = 800, *, seed: int = 0, noise: float = 0.05,
    size: float = 1.0,
) -> Condensed:  # fmt: skip
    """Condense a motion, all samples of which count, in the columns of the base parameters."""
    recording = record(model, values, samples, seed=seed, noise=noise, size=size)
    motion = (recording.position, recording.velocity, recording.acceleration)
    used = np.ones(recording.torque.shape, dtype=bool)
    columns = base_parameters(model).columns
    return condense(model, motion, recording.torque, used, columns)
