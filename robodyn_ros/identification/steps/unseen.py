# SPDX-License-Identifier: Apache-2.0
"""Torque error of each joint on data that were not fitted: the validation, or held-out blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # its parts at their first use: scipy.spatial takes time

from robodyn_ros.identification.fit.choice import INDEPENDENT
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.success import reference_torque, relative_error
from robodyn_ros.identification.signals.processed import Mask, Processed
from robodyn_ros.identification.steps.estimation import ParameterEstimate
from robodyn_ros.models.interface import Array, DynamicModel

REPEATED = 0.01
"""Median distance of a motion's states from those of another one, in units of their spread and for
each coordinate, below which it repeats it: repeats have 0.001, other motions of arms 0.03 to 1."""
DENSE, FEW, JOINTS = 5000, 300, 3
"""States that are compared, and least number of joints: those of fewer fill their space."""


def unseen_error(
    model: DynamicModel,
    estimated: ParameterEstimate,
    report: FitReport,
    validation: FitReport | None,
    *,
    repeats: bool = False,
) -> tuple[Array, str]:
    """Return the error of each joint on data that were not fitted, (n,), and which data these are.

    What the low pass removes is the same in held-out and fitted errors, and cancels out.

    :param repeats: the validation is the motion that was fitted: held-out errors count, too
    :return: NaN and '' where nothing can be left out
    """
    if validation is not None:
        error = relative_error(validation, model)
        if not repeats:
            return error, 'the validation'
        return np.fmax(error, unseen_error(model, estimated, report, None)[0]), 'held-out blocks'
    mean = estimated.mean
    if mean is None or estimated.independent < INDEPENDENT:
        return np.full(len(model.joints), np.nan), ''
    growth = np.where(mean.held_out > 0.0, mean.held_out - mean.fitted, np.nan)
    square = np.maximum(report.rms_error**2 + growth, 0.0)
    return np.sqrt(square) / np.maximum(reference_torque(report, model), 1e-300), 'held-out blocks'


def is_repeated(fitted: Sequence[Processed], tested: Processed) -> bool:
    """Return True if a motion goes through the same positions and velocities as those fitted."""
    moving: Mask = np.asarray(fitted[0].used.any(axis=0))
    if moving.sum() < JOINTS:
        return False
    states = np.vstack([_thin_states(each, moving, DENSE) for each in fitted])
    spread = np.maximum(states.std(axis=0), 1e-12)
    tree = scipy.spatial.cKDTree(states / spread)
    distance, _ = tree.query(_thin_states(tested, moving, FEW) / spread)
    return bool(np.median(distance) < REPEATED * np.sqrt(len(spread)))


def _thin_states(signals: Processed, moving: Mask, count: int) -> Array:
    position, velocity, _ = signals.motion
    rows = np.linspace(0, len(signals) - 1, min(count, len(signals))).astype(np.intp)
    return np.hstack([position[rows][:, moving], velocity[rows][:, moving]])
