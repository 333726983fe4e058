# SPDX-License-Identifier: Apache-2.0
"""The mean of the candidates, its covariance, and what it predicts where it was not fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.identification.average.candidates import EstimateCandidate
from robodyn_ros.identification.average.parts import Parts
from robodyn_ros.identification.average.weights import EXACT, Judged, best_weights
from robodyn_ros.identification.physical.semidefinite import Problem
from robodyn_ros.models.interface import Array, Indices

ROUNDING = 1e-12
"""Ridge on columns of unit length: what neither rows nor prior determine becomes zero."""


@dataclass(frozen=True)
class Mean:
    """Weighted mean of candidates.

    :param values: base values, shape (b,)
    :param weights: of the candidates, shape (k,)
    :param levels: sum of the weights at each cut-off
    :param errors: held-out error of each candidate, relative to the torque, shape (k,)
    :param error: that of the mean
    :param precision: of the priors, the mean over the candidates, shape (b, b)
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
    precision: Array
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
    :param precisions: of the priors, shape (k, b, b)
    """

    candidates: Sequence[EstimateCandidate]
    parts: Sequence[Parts]
    values: Array
    inverses: Array
    precisions: Array


def fit_candidates(
    candidates: Sequence[EstimateCandidate], parts: Sequence[Parts], problem: Problem
) -> Fits:
    """Fit candidates, each to the recording at its cut-off."""
    priors = {each: problem.base_prior(each) for each in {c.prior_weight for c in candidates}}
    fits = [_fit(each, parts[each.cutoff], *priors[each.prior_weight]) for each in candidates]
    values, inverses = (np.array(each) for each in zip(*fits, strict=True))
    precisions = np.array([priors[each.prior_weight][1] for each in candidates])
    return Fits(candidates, parts, values, inverses, precisions)


def judge_candidates(fits: Fits, states: Sequence[Array]) -> list[Judged]:
    """Judge candidates at the two highest cut-offs.

    At the highest one alone, those win that predict noise of the position: their inertias are too
    small. At a lower one alone, what is fast does not count.

    :param states: mean products of the rows of each joint on random states, shape (b, b)
    """
    return [Judged.of(each, fits.values, states) for each in fits.parts[:2]]


def average(
    candidates: Sequence[EstimateCandidate],
    parts: Sequence[Parts],
    problem: Problem,
    states: Sequence[Array],
) -> Mean:
    """Return the mean of candidates that predicts left-out folds best.

    Its errors are those at the second cut-off, or at the only one.

    :param parts: the recording at every cut-off, the highest first
    :param states: mean products of the rows of each joint on random states, shape (b, b)
    """
    fits = fit_candidates(candidates, parts, problem)
    judged = judge_candidates(fits, states)
    weights = best_weights(np.sum([each.cost() for each in judged], axis=0))
    values, judge = fits.values[:, -1], judged[-1]
    mean = weights @ values
    apart = (values - mean) * np.sqrt(weights)[:, None]
    held_out, spread = (
        np.einsum('k,jkl,l->j', weights, each, weights) for each in (judge.errors, judge.spread)
    )
    held_out = np.maximum(held_out, EXACT * judge.torque)
    size = max(float(judge.weigh(judge.torque)), float(np.finfo(float).tiny))
    errors = np.diagonal(judge.errors, axis1=1, axis2=2)
    return Mean(
        mean,
        weights,
        np.bincount([each.cutoff for each in candidates], weights).astype(np.float64),
        np.sqrt(np.maximum(judge.weigh(errors), 0.0) / size),
        float(np.sqrt(judge.weigh(held_out) / size)),
        np.einsum('k,kab->ab', weights, fits.precisions),
        np.einsum('k,kab->ab', weights, fits.inverses),
        apart.T @ apart,
        held_out,
        _mean_squares(judge.parts, mean),
        np.maximum(spread, 0.0),
    )


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

    A slip that is negative with all samples is left out. The limits of a possible robot would
    cut it later, and let everything else make up for it.

    :return: shapes (f + 1, b) and (b, b)
    """
    kept = np.flatnonzero(candidate.kept)
    while True:
        values, inverse = _solve(kept, parts, prior, precision)
        drives = [slip for slip in candidate.slips if values[-1, slip] < 0.0]
        if not drives:
            return values, inverse
        kept = np.setdiff1d(kept, drives)


def _solve(kept: Indices, parts: Parts, prior: Array, precision: Array) -> tuple[Array, Array]:
    """Return what `_fit` does, of these base values; the others are zero."""
    matrix = parts.normal[:, kept[:, None], kept] + precision[kept[:, None], kept]
    side = parts.normal[:, kept, -1] + (precision @ prior)[kept]
    length = np.sqrt(np.maximum(np.diagonal(matrix, axis1=1, axis2=2), np.finfo(float).tiny))
    matrix = matrix / (length[:, :, None] * length[:, None, :]) + ROUNDING * np.eye(len(kept))
    values = np.zeros((len(matrix), parts.width))
    values[:, kept] = np.linalg.solve(matrix, (side / length)[:, :, None])[:, :, 0] / length
    inverse = np.zeros((parts.width, parts.width))
    inverse[kept[:, None], kept] = np.linalg.inv(matrix[-1]) / np.outer(length[-1], length[-1])
    return values, inverse
