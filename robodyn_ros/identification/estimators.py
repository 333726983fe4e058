"""Least squares on condensed factors: values, covariance, conditioning, what cannot be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn_ros.errors import IdentificationError, InsufficientData
from robodyn_ros.identification.condense import JointFactor
from robodyn_ros.models.interface import Array

Estimator = Literal['ols', 'wls']
ESTIMATORS: tuple[Estimator, ...] = ('wls', 'ols')

RANK_TOLERANCE = 1e-7
"""Singular values of the column-scaled regressor below this share of the largest are zero."""

_ITERATIONS = 50
_SETTLED = 1e-9
_NOISE_FLOOR = 1e-10
"""Smallest residual, as a share of the joint's RMS torque, that a weight is computed from."""


@dataclass(frozen=True)
class Estimate:
    """Base parameter values and how far to trust them.

    :param values: base parameter values, shape (b,)
    :param covariance: of the values, shape (b, b); NaN where a value cannot be seen
    :param sigma: residual standard deviation per joint, shape (n,), in [Nm] or [N]
    :param inflation: samples per independent sample that the covariance was computed with, (n,)
    :param condition_number: of the weighted regressor, columns as they are
    :param condition_number_scaled: the same with columns scaled to unit length
    :param unseen: directions of the values the data do not determine, shape (b, b - rank)
    :param iterations: how often the weights were computed
    """

    values: Array
    covariance: Array
    sigma: Array
    inflation: Array
    condition_number: float
    condition_number_scaled: float
    unseen: Array
    iterations: int

    @property
    def stddevs(self) -> Array:
        """Standard deviations of the values, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))


def estimate(
    factors: Sequence[JointFactor],
    width: int,
    *,
    estimator: Estimator = 'wls',
    inflation: Array | None = None,
    scores: Sequence[Array] | None = None,
) -> Estimate:
    """Ordinary or weighted least squares over all joints.

    'ols' weighs all rows alike. 'wls' weighs each joint's rows by its own residual standard
    deviation, computed again until settled (Gautier, "Dynamic identification of robots with
    power model", 1997; Swevers et al. 2007, Eq. 12). Directions that the data do not determine
    are set to zero in column-scaled coordinates (minimum norm) and returned in `unseen`.

    The covariance is (A^T A)^-1 (sum_j c_j s_j^2 A_j^T A_j) (A^T A)^-1 with each joint's
    residual variance s_j^2. Filtered samples are not independent: c_j is `inflation`, the
    number of samples per independent one (see `validation.correlation_length`), default 1. With
    `scores` S_j, c_j A_j^T A_j is S_j^T S_j, which is more exact.

    :param factors: one per joint, on `width` columns in all
    :param inflation: c_j, shape (n,), at least 1
    :param scores: see `colour.coloured_scores`, each of shape (m, width)
    :raises IdentificationError: unknown estimator, or no samples at all
    """
    if estimator not in ESTIMATORS:
        raise IdentificationError(
            f'there is no estimator {estimator!r}, there are {", ".join(ESTIMATORS)}'
        )
    counts = np.array([factor.samples for factor in factors])
    if not counts.any():
        raise InsufficientData('no joint has a moving sample to estimate parameters from')
    inflation = np.ones(len(factors)) if inflation is None else np.asarray(inflation, dtype=float)
    rows = [factor.rows(width) for factor in factors]
    scale = np.array([factor.torque_norm for factor in factors]) / np.sqrt(np.maximum(counts, 1))
    floor = np.maximum(_NOISE_FLOOR * scale, 1e-12)
    weights = 1.0 / np.maximum(scale, floor)
    if estimator == 'ols':
        weights = np.ones(len(factors))
    iterations = 0
    while True:
        iterations += 1
        solution = _Solution(rows, weights)
        spread = solution.spread(inflation, scores)
        sigma = np.maximum(solution.sigma(counts, spread), floor)
        change = np.abs(weights * sigma - 1.0).max(where=counts > 0, initial=0.0)
        if estimator == 'ols' or change < _SETTLED or iterations == _ITERATIONS:
            break
        weights = 1.0 / sigma
    return Estimate(
        values=solution.values,
        covariance=solution.covariance(sigma, spread),
        sigma=sigma,
        inflation=inflation,
        condition_number=_condition(solution.matrix),
        condition_number_scaled=_condition(solution.scaled),
        unseen=solution.unseen,
        iterations=iterations,
    )


class _Solution:
    """Weighted least squares of stacked rows for given weights."""

    def __init__(self, rows: list[tuple[Array, Array]], weights: Array) -> None:
        self.rows = rows
        self.weights = weights
        self.matrix = np.vstack([w * a for (a, _), w in zip(rows, weights, strict=True)])
        target = np.concatenate([w * y for (_, y), w in zip(rows, weights, strict=True)])
        length = np.linalg.norm(self.matrix, axis=0)
        self.length = np.where(length > 0.0, length, 1.0)
        self.scaled = self.matrix / self.length
        left, singular, right = np.linalg.svd(self.scaled, full_matrices=False)
        if len(singular) < self.scaled.shape[1]:  # fewer rows than columns
            right = np.linalg.svd(self.scaled)[2]
        rank = int((singular > RANK_TOLERANCE * singular[0]).sum())
        # The pseudo-inverse, columns scaled back: values = inverse @ target.
        self.inverse = ((right[:rank].T / singular[:rank]) @ left[:, :rank].T) / self.length[
            :, None
        ]
        self.values: Array = self.inverse @ target
        unseen = right[rank:].T / self.length[:, None]
        self.unseen: Array = unseen / np.maximum(np.linalg.norm(unseen, axis=0), 1e-300)
        self.hidden = np.abs(right[rank:]).max(axis=0, initial=0.0) > 1e-6

    def spread(self, inflation: Array, scores: Sequence[Array] | None) -> list[Array]:
        """Per joint, what errors of variance 1 make of the values: its square is a covariance."""
        if scores is not None:
            return [
                w**2 * (self.inverse @ (self.inverse.T @ score.T))
                for w, score in zip(self.weights, scores, strict=True)
            ]
        ends = np.cumsum([len(a) for a, _ in self.rows])[:-1]
        blocks = np.split(self.inverse, ends, axis=1)
        return [
            w * np.sqrt(c) * block
            for w, c, block in zip(self.weights, inflation, blocks, strict=True)
        ]

    def sigma(self, counts: Array, spread: list[Array]) -> Array:
        """Residual standard deviation per joint, with the degrees of freedom it used up."""
        result = np.zeros(len(self.rows))
        whole = self.matrix.T
        for joint, (a, y) in enumerate(self.rows):
            # tr(A_j P S^T S / c ..): what errors of this joint alone explain of themselves.
            used = float(np.sum((spread[joint].T @ whole) ** 2)) / self.weights[joint] ** 2
            freedom = max(counts[joint] - used, 1.0)
            result[joint] = np.linalg.norm(a @ self.values - y) / np.sqrt(freedom)
        return result

    def covariance(self, sigma: Array, spread: list[Array]) -> Array:
        """Covariance of the values, NaN for those that hidden directions touch."""
        root = np.hstack([s * block for s, block in zip(sigma, spread, strict=True)])
        result: Array = root @ root.T
        result[self.hidden, :] = np.nan
        result[:, self.hidden] = np.nan
        return result


def _condition(matrix: Array) -> float:
    """Condition number; infinite when the matrix does not have full column rank."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    if len(singular) < matrix.shape[1] or singular[-1] <= 1e-300:
        return float('inf')
    return float(singular[0] / singular[-1])
