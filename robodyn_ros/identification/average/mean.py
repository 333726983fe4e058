# SPDX-License-Identifier: Apache-2.0
"""The mean of the candidates, its covariance, and what it predicts where it was not fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.identification.average.candidates import Candidate
from robodyn_ros.identification.average.parts import Parts
from robodyn_ros.identification.average.weights import (
    SPREAD,
    best_weights,
    held_out_products,
    spread_products,
)
from robodyn_ros.identification.physical.semidefinite import Problem
from robodyn_ros.models.interface import Array

ROUNDING = 1e-12
"""Ridge on columns of unit length: what neither rows nor prior determine becomes zero."""


@dataclass(frozen=True)
class Mean:
    """Weighted mean of candidates.

    :param values: base values, shape (b,)
    :param weights: of the candidates, shape (k,)
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
    errors: Array
    error: float
    noise: Array
    between: Array
    held_out: Array
    fitted: Array
    spread: Array


def average(
    candidates: Sequence[Candidate], parts: Sequence[Parts], problem: Problem,
    states: Sequence[Array],
) -> Mean:  # fmt: skip
    """Return the mean of candidates that predicts left-out folds best.

    :param parts: the recording at every cut-off, the highest first. Held-out errors are judged at
        the second one, where the noise of the position is small: the parameters that predict
        noise best are too small
    :param states: mean products of the rows of each joint on random states, shape (b, b)
    """
    fits = [_fit(each, parts[each.cutoff], problem) for each in candidates]
    values = np.array([each for each, _ in fits])
    judge = parts[min(1, len(parts) - 1)]
    held_out = held_out_products(judge, values)
    spread = spread_products(judge, values, states)
    scale = judge.samples / judge.sigma**2
    cost = np.einsum('j,jkl->kl', scale, held_out + SPREAD * spread)
    weights = best_weights(cost)
    mean = weights @ values[:, -1]
    apart = (values[:, -1] - mean) * np.sqrt(weights)[:, None]
    torque = [float(each[-1, -1]) for each in judge.every]
    size = max(float(np.sum(np.array(torque) / judge.sigma**2)), np.finfo(float).tiny)
    errors = np.einsum('j,jkl->kl', scale, held_out)
    rest = np.append(mean, -1.0)
    fitted = [
        rest[place] @ square @ rest[place] / count
        for place, square, count in zip(
            (np.append(columns, judge.width) for columns in judge.columns),
            judge.every, judge.samples, strict=True,
        )
    ]  # fmt: skip
    return Mean(
        mean,
        weights,
        np.sqrt(np.maximum(np.diag(errors), 0.0) / size),
        float(np.sqrt(max(weights @ errors @ weights, 0.0) / size)),
        np.einsum('k,kab->ab', weights, np.array([noise for _, noise in fits])),
        apart.T @ apart,
        np.maximum(np.einsum('k,jkl,l->j', weights, held_out, weights), 0.0),
        np.maximum(np.array(fitted), 0.0),
        np.maximum(np.einsum('k,jkl,l->j', weights, spread, weights), 0.0),
    )


def _fit(candidate: Candidate, parts: Parts, problem: Problem) -> tuple[Array, Array]:
    """Return the base values without each fold and with all samples, and the inverse of these.

    :return: shapes (f + 1, b) and (b, b)
    """
    kept = np.flatnonzero(candidate.kept)
    prior, precision = problem.base_prior(candidate.prior_weight)
    matrix = parts.normal[:, kept[:, None], kept] + precision[kept[:, None], kept]
    side = parts.normal[:, kept, -1] + (precision @ prior)[kept]
    length = np.sqrt(np.maximum(np.diagonal(matrix, axis1=1, axis2=2), np.finfo(float).tiny))
    matrix = matrix / (length[:, :, None] * length[:, None, :]) + ROUNDING * np.eye(len(kept))
    values = np.zeros((len(matrix), parts.width))
    values[:, kept] = np.linalg.solve(matrix, (side / length)[:, :, None])[:, :, 0] / length
    inverse = np.zeros((parts.width, parts.width))
    inverse[kept[:, None], kept] = np.linalg.inv(matrix[-1]) / np.outer(length[-1], length[-1])
    return values, inverse
