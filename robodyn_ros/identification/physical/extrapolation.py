# SPDX-License-Identifier: Apache-2.0
"""Torque error to be expected on other motions, from the leverage of their states.

The variance of a regression's prediction at a row x is sigma^2 (1 + h), with the leverage
h = x^T (A^T A)^-1 x (Draper and Smith, "Applied regression analysis", 1998, section 8.1): far
from the rows of the fit a small error of the model is a large one. Here the estimate is a
regularised one, so that the prior lowers h where it decides, and sigma is that of held-out parts
of the recording, which holds what the model lacks too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.physical.chosen_estimate import Selection
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    Data,
    Problem,
    residual_sigma,
)
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array


def extrapolate_error(
    problem: Problem,
    base: BaseParameters,
    factors: Sequence[JointFactor],
    fit: Estimate,
    selection: Selection,
    states: tuple[Array, Array, Array],
) -> Array:
    """Return the RMS torque error of each joint to be expected at other states, shape (n,).

    :param states: q, qd, qdd (N, n), see `uncertainty.random_states`
    """
    sigma = residual_sigma(factors, fit.values)
    triangle = Data.of(factors, len(base.columns), sigma).triangle
    weight = selection.prior_weight if selection.prior_weight > 0.0 else WEAKEST
    square = triangle.T @ triangle
    inverse = np.linalg.pinv(square + problem.base_prior(weight)[1], 1e-12, hermitian=True)
    counts = np.array([factor.samples for factor in factors])
    independent = max(float(np.sum(counts / fit.inflation)), 1.0)
    spread = triangle @ inverse / np.sqrt(independent)
    rows = problem.model.select_columns(*states, base.columns)
    variance = np.mean(np.sum((rows @ spread.T) ** 2, axis=2), axis=0)
    return np.asarray(selection.growth * np.sqrt(sigma**2 + variance))
