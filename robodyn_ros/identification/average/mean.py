# SPDX-License-Identifier: Apache-2.0
"""The mean of the candidates, its covariance, and what it predicts where it was not fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.identification.average.candidates import EstimateCandidate
from robodyn_ros.identification.average.parts import Parts
from robodyn_ros.identification.average.weights import (
    SPREAD,
    best_weights,
    multiply_errors,
    multiply_spreads,
)
from robodyn_ros.identification.physical.semidefinite import Problem
from robodyn_ros.models.interface import Array

ROUNDING = 1e-12
"""Ridge on columns of unit length: what neither rows nor prior determine becomes zero."""


EXACT = 1e-14
"""Share of the squared torque below which squared errors are rounding errors."""


@dataclass(frozen=True)
class Mean:
    """Weighted mean of candidates.

    :param values: base values, shape (b,)
    :param weights: of the candidates, shape (k,)
    :param levels: sum of the weights at each cut-off
    :param errors: held-out error of each candidate, relative to the torque, shape (k,)
    :param error: that of the mean
    :param noise: maps errors of the normal equations' right side to the values, shape (b, b)
    :param between: covariance of the candidates' values around the mean, shape (b, b)
    :param held_out: mean squared held-out error of each joint, shape (n,), in [Nm^2] or [N^2]
    :param fitted: the same of the mean on the samples that it was fitted to
    :param spread: mean squared spread of the torque on random states, likewise
    """

    values: Array
    weights: Array
    levels: Array
    errors: Array
    error: float
    noise: Array
    between: Array
    held_out: Array
    fitted: Array
    spread: Array


@dataclass(frozen=True)
class Fits:
    """Base values of candidates, without each fold and with all samples.

    :param values: the last one with all samples, shape (k, f + 1, b)
    :param inverses: of the normal equations of all samples, shape (k, b, b)
    """

    candidates: Sequence[EstimateCandidate]
    parts: Sequence[Parts]
    values: Array
    inverses: Array


def fit_candidates(
    candidates: Sequence[EstimateCandidate], parts: Sequence[Parts], problem: Problem
) -> Fits:
    """Fit candidates, each to the recording at its cut-off."""
    priors = {each: problem.base_prior(each) for each in {c.prior_weight for c in candidates}}
    fits = [_fit(each, parts[each.cutoff], *priors[each.prior_weight]) for each in candidates]
    values, inverses = (np.array(each) for each in zip(*fits, strict=True))
    return Fits(candidates, parts, values, inverses)


def choose_judge(parts: Sequence[Parts]) -> Parts:
    """Return the recording that errors are reported on: at the second cut-off, or the only one."""
    return parts[min(1, len(parts) - 1)]


def weigh_candidates(fits: Fits, states: Sequence[Array]) -> Array:
    """Return the weights of candidates, by their costs at the two highest cut-offs.

    At the highest one alone, those win that predict noise of the position: their inertias are too
    small. At a lower one alone, what is fast does not count.

    :param states: mean products of the rows of each joint on random states, shape (b, b)
    """
    costs = []
    for parts in fits.parts[:2]:
        errors = multiply_errors(parts, fits.values)
        spread = multiply_spreads(parts, fits.values, states)
        scale = parts.samples / parts.sigma**2
        cost = np.einsum('j,jkl->kl', scale, errors + SPREAD * spread)
        size = float(np.sum(_torque_squares(parts) / parts.sigma**2))
        costs.append(cost / max(float(np.diag(cost).min()), EXACT * size, np.finfo(float).tiny))
    return best_weights(np.sum(costs, axis=0))


def average(
    candidates: Sequence[EstimateCandidate],
    parts: Sequence[Parts],
    problem: Problem,
    states: Sequence[Array],
) -> Mean:
    """Return the mean of candidates that predicts left-out folds best.

    :param parts: the recording at every cut-off, the highest first
    :param states: mean products of the rows of each joint on random states, shape (b, b)
    """
    fits, judge = fit_candidates(candidates, parts, problem), choose_judge(parts)
    held_out = multiply_errors(judge, fits.values)
    spread = multiply_spreads(judge, fits.values, states)
    scale = judge.samples / judge.sigma**2
    weights = weigh_candidates(fits, states)
    values = fits.values[:, -1]
    mean = weights @ values
    apart = (values - mean) * np.sqrt(weights)[:, None]
    errors = np.einsum('j,jkl->kl', scale, held_out)
    torque = _torque_squares(judge)
    size = max(float(np.sum(torque / judge.sigma**2)), np.finfo(float).tiny)
    return Mean(
        mean,
        weights,
        np.bincount([each.cutoff for each in candidates], weights).astype(np.float64),
        np.sqrt(np.maximum(np.diag(errors), 0.0) / size),
        float(np.sqrt(max(weights @ errors @ weights, 0.0) / size)),
        np.einsum('k,kab->ab', weights, fits.inverses),
        apart.T @ apart,
        np.maximum(
            np.einsum('k,jkl,l->j', weights, held_out, weights), EXACT * torque / judge.samples
        ),
        _mean_squares(judge, mean),
        np.maximum(np.einsum('k,jkl,l->j', weights, spread, weights), 0.0),
    )


def _torque_squares(parts: Parts) -> Array:
    return np.array([each[-1, -1] for each in parts.every])


def _mean_squares(parts: Parts, values: Array) -> Array:
    """Return the mean squared error of base values (b,) at each joint, (n,)."""
    rest, squares = np.append(values, -1.0), []
    for columns, square, count in zip(parts.columns, parts.every, parts.samples, strict=True):
        here = rest[np.append(columns, parts.width)]
        squares.append(here @ square @ here / count)
    result: Array = np.maximum(np.array(squares), 0.0)
    return result


def _fit(
    candidate: EstimateCandidate, parts: Parts, prior: Array, precision: Array
) -> tuple[Array, Array]:
    """Return the base values without each fold and with all samples, and the inverse of these.

    :return: shapes (f + 1, b) and (b, b)
    """
    kept = np.flatnonzero(candidate.kept)
    matrix = parts.normal[:, kept[:, None], kept] + precision[kept[:, None], kept]
    side = parts.normal[:, kept, -1] + (precision @ prior)[kept]
    length = np.sqrt(np.maximum(np.diagonal(matrix, axis1=1, axis2=2), np.finfo(float).tiny))
    matrix = matrix / (length[:, :, None] * length[:, None, :]) + ROUNDING * np.eye(len(kept))
    values = np.zeros((len(matrix), parts.width))
    values[:, kept] = np.linalg.solve(matrix, (side / length)[:, :, None])[:, :, 0] / length
    inverse = np.zeros((parts.width, parts.width))
    inverse[kept[:, None], kept] = np.linalg.inv(matrix[-1]) / np.outer(length[-1], length[-1])
    return values, inverse
