# SPDX-License-Identifier: Apache-2.0
"""Torque error of each joint on data that were not fitted: the validation, or held-out blocks."""

from __future__ import annotations

import numpy as np

from robodyn_ros.identification.fit.choice import INDEPENDENT
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.folds import Folds, labels_of, products_of, sum_squared_errors
from robodyn_ros.identification.fit.success import reference_torque, relative_error
from robodyn_ros.identification.physical.selection import make_refit
from robodyn_ros.identification.physical.semidefinite import Problem, starting_prior
from robodyn_ros.identification.steps.estimation import ParameterEstimate, Regression
from robodyn_ros.models.interface import Array


def unseen_error(
    regression: Regression,
    estimated: ParameterEstimate,
    report: FitReport,
    validation: FitReport | None,
) -> tuple[Array, str]:
    """Return the error of each joint on data that were not fitted, (n,), and which data these are.

    :return: NaN and '' where nothing can be left out
    """
    model = regression.model
    if validation is not None:
        return relative_error(validation, model), 'the validation'
    growth = _growth(regression, estimated)
    if growth is None:
        return np.full(len(model.joints), np.nan), ''
    square = np.maximum(report.rms_error**2 + growth, 0.0)
    return np.sqrt(square) / np.maximum(reference_torque(report, model), 1e-300), 'held-out blocks'


def _growth(regression: Regression, estimated: ParameterEstimate) -> Array | None:
    """Return how much larger the mean squared error is on blocks of time that are left out, (n,).

    What the low pass of the fit removes is the same in both, and cancels out. Joints without
    samples have NaN.

    :return: None: too few samples to leave some out
    """
    sample = regression.factors().sample.few()
    folds = Folds.of_sample(sample, estimated.fit.sigma)
    if folds is None or folds.independent < INDEPENDENT:
        return None
    prior, _ = starting_prior(regression.model, regression.options.prior)
    fit = make_refit(Problem.of(regression.model, regression.base, prior), estimated.selection)
    parts, total = sample.segments, folds.weighted[0].sum(axis=0)
    blocks = labels_of(np.concatenate([part.position for part in parts]))[0]
    left_out = [fit(total - left) for left in folds.weighted[0]]
    values = regression.base.values(estimated.values)[None]
    growth = np.full(len(sample.columns), np.nan)
    for joint, columns in enumerate(sample.columns):
        rows = np.concatenate([part.rows[joint] for part in parts])
        count = int(sum(part.used[:, joint].sum() for part in parts))
        products = products_of(rows, blocks)
        if count:
            unseen = sum(
                float(sum_squared_errors(each[:, columns], product)[0])
                for each, product in zip(left_out, products, strict=True)
            )
            fitted = float(sum_squared_errors(values[:, columns], products.sum(axis=0))[0])
            growth[joint] = (unseen - fitted) / count
    return growth
