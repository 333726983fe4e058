# SPDX-License-Identifier: Apache-2.0
"""Torque error of each joint on data that were not fitted: the validation, or held-out blocks."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.choice import INDEPENDENT
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.success import reference_torque, relative_error
from robodyn_ros.identification.steps.estimation import ParameterEstimate
from robodyn_ros.models.interface import Array, DynamicModel


def unseen_error(
    model: DynamicModel,
    estimated: ParameterEstimate,
    report: FitReport,
    validation: FitReport | None,
) -> tuple[Array, str]:
    """Return the error of each joint on data that were not fitted, (n,), and which data these are.

    What the low pass removes is the same in held-out and fitted errors, and cancels out.

    :return: NaN and '' where nothing can be left out
    """
    if validation is not None:
        return relative_error(validation, model), 'the validation'
    mean = estimated.mean
    if mean is None or estimated.independent < INDEPENDENT:
        return np.full(len(model.joints), np.nan), ''
    growth = np.where(mean.held_out > 0.0, mean.held_out - mean.fitted, np.nan)
    square = np.maximum(report.rms_error**2 + growth, 0.0)
    return np.sqrt(square) / np.maximum(reference_torque(report, model), 1e-300), 'held-out blocks'
