# SPDX-License-Identifier: Apache-2.0
"""Torque error to be expected on other motions, from the leverage of their states.

The variance of a regression's prediction at a row x is sigma^2 (1 + h), with the leverage
h = x^T (A^T A)^-1 x (Draper and Smith, "Applied regression analysis", 1998, section 8.1). The
prior lowers h where it decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.physical.semidefinite import (
    WEAKEST,
    Data,
    Problem,
    residual_sigma,
)
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


def extrapolate_error(
    problem: Problem,
    base: BaseParameters,
    factors: Sequence[JointFactor],
    fit: Estimate,
    states: tuple[Array, Array, Array],
) -> Array:
    """Return the RMS torque error of each joint to be expected at other states, shape (n,).

    :param states: q, qd, qdd (N, n), see `random_states`
    """
    sigma = residual_sigma(factors, fit.values)
    triangle = Data.of(factors, len(base.columns), sigma).triangle
    square = triangle.T @ triangle
    inverse = np.linalg.pinv(square + problem.base_prior(WEAKEST)[1], 1e-12, hermitian=True)
    samples = max(float(sum(factor.samples for factor in factors)), 1.0)
    spread = triangle @ inverse / np.sqrt(samples)
    rows = problem.model.select_columns(*states, base.columns)
    variance = np.mean(np.sum((rows @ spread.T) ** 2, axis=2), axis=0)
    return np.asarray(np.sqrt(sigma**2 + variance))


def random_states(model: DynamicModel, signals: Processed) -> tuple[Array, Array, Array]:
    """Return random q, qd, qdd (N, n): any position, as fast as the fastest joint of a type."""
    unit = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3, 200, len(model.joints)))
    linear = np.array([joint.type == 'prismatic' for joint in model.joints])
    alike = linear[:, None] == linear
    fastest = [
        np.max(alike * np.abs(values).max(axis=0), axis=1)
        for values in (signals.velocity, signals.acceleration)
    ]
    return model.positions(unit[0]), fastest[0] * unit[1], fastest[1] * unit[2]


def random_states_of(
    model: DynamicModel, signals: Processed, rests: Sequence[bool]
) -> tuple[Array, Array, Array]:
    """Return `random_states` with the joints that rest where they are."""
    q, qd, qdd = random_states(model, signals)
    still = np.asarray(rests, dtype=bool)
    q[:, still], qd[:, still], qdd[:, still] = signals.position[0, still], 0.0, 0.0
    return q, qd, qdd


def torque_uncertainty(
    model: DynamicModel, base: BaseParameters, fit: Estimate, signals: Processed
) -> Array:
    """Return the standard deviation of each joint's torque on any motion, relative to that torque.

    Root mean square of Y C Y^T over random states, C the covariance of the base values.

    :return: shape (n,); NaN where the recording leaves values undetermined
    """
    regressor = model.regressor(*random_states(model, signals))
    regressor = regressor[:, :, base.columns]
    variance = np.einsum('snb,bc,snc->n', regressor, fit.covariance, regressor)
    torque = np.sum((regressor @ fit.values) ** 2, axis=0)
    with np.errstate(invalid='ignore', divide='ignore'):
        return np.asarray(np.sqrt(variance / torque))


def average_products(
    model: DynamicModel, base: BaseParameters, states: tuple[Array, Array, Array]
) -> list[Array]:
    """Return the mean product of the rows of each joint on states, shapes (b, b)."""
    rows = model.select_columns(*states, base.columns)
    return [rows[:, joint].T @ rows[:, joint] / len(rows) for joint in range(rows.shape[1])]
