# SPDX-License-Identifier: Apache-2.0
"""Least squares on condensed factors: values, covariance, conditioning, what cannot be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.models.interface import Array

Estimator = Literal['ols', 'wls']
ESTIMATORS: tuple[Estimator, ...] = ('wls', 'ols')

RANK_TOLERANCE = 1e-7
"""Singular values of the column-scaled regressor below this share of the largest are zero."""


ROUNDING = RANK_TOLERANCE**2
"""Length of a column, as a share of the longest, below which it is rounding errors."""


@dataclass(frozen=True)
class Estimate:
    """Base parameter values and how far to trust them.

    :param values: base parameter values, shape (b,)
    :param covariance: of the values, shape (b, b); NaN where a value cannot be seen
    :param sigma: residual standard deviation per joint, shape (n,), in [Nm] or [N]
    :param condition_number: of the weighted regressor, columns as they are
    :param condition_number_scaled: the same with columns scaled to unit length
    :param unseen: directions of the values the data do not determine, shape (b, b - rank)
    """

    values: Array
    covariance: Array
    sigma: Array
    condition_number: float
    condition_number_scaled: float
    unseen: Array
    iterations: int

    @property
    def stddevs(self) -> Array:
        """Standard deviations of the values, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))

    def embed(self, kept: NDArray[np.bool_]) -> Estimate:
        """Return the same with zeros for further base values; `kept` (b,): which these are."""
        size, place = len(kept), np.ix_(kept, kept)
        values, covariance = np.zeros(size), np.zeros((size, size))
        values[kept], covariance[place] = self.values, self.covariance
        unseen = np.zeros((size, self.unseen.shape[1]))
        unseen[kept] = self.unseen
        return replace(self, values=values, covariance=covariance, unseen=unseen)

    def error_of(self, values: Array) -> Array:
        """Return the mean squared error (b, b) of regularised values (b,) instead of these.

        The covariance of these and the square of the distance: intervals around the others hold
        what they should, whether the reason (a prior, what can exist) is a good one or not.
        """
        shift = values - self.values
        return np.asarray(self.covariance + np.outer(shift, shift))


def estimate(
    factors: Sequence[JointFactor],
    width: int,
    *,
    estimator: Estimator = 'wls',
    scores: Array | None = None,
) -> Estimate:
    """Return the ordinary or weighted least squares over all joints.

    'ols' weighs all rows alike. 'wls' weighs each joint's rows by its own residual standard
    deviation, computed again until it converges (Gautier, "Dynamic identification of robots with
    power model", 1997; Swevers et al. 2007, Eq. 12). Directions that the data do not determine
    are set to zero in column-scaled coordinates (minimum norm) and returned in `unseen`.

    The covariance is (A^T A)^-1 (sum_j s_j^2 A_j^T A_j) (A^T A)^-1 with each joint's residual
    variance s_j^2, as of independent samples. With `scores` S_ij, which know that filtered samples
    are not, the sum is that of s_i s_j S_ij over all pairs of joints.

    :param factors: one per joint, on `width` columns in all
    :param scores: see `noise_spectrum.score_covariance`, shape (n, n, width, width)
    :raises InsufficientData: no samples at all
    """
    counts = np.array([factor.samples for factor in factors])
    if not counts.any():
        raise InsufficientData('no joint has a moving sample to estimate parameters from')
    rows = [factor.rows(width) for factor in factors]
    scale = np.array([factor.torque_norm for factor in factors]) / np.sqrt(np.maximum(counts, 1))
    floor = np.maximum(1e-10 * scale, 1e-12)  # data without noise leave no residual to weigh by
    weights = 1.0 / np.maximum(scale, floor)
    if estimator == 'ols':
        weights = np.ones(len(factors))
    iterations = 0
    while True:
        iterations += 1
        solution = _Solution(rows, weights)
        used = solution.degrees_of_freedom(scores)
        sigma = np.maximum(solution.sigma(counts, used), floor)
        change = np.abs(weights * sigma - 1.0).max(where=counts > 0, initial=0.0)
        if estimator == 'ols' or change < 1e-9 or iterations == 50:
            break
        weights = 1.0 / sigma
    return Estimate(
        values=solution.values,
        covariance=solution.covariance(sigma, scores),
        sigma=sigma,
        condition_number=_condition(solution.triangle * solution.length),
        condition_number_scaled=_condition(solution.triangle),
        unseen=solution.unseen,
        iterations=iterations,
    )


class _Solution:
    """Weighted least squares of stacked rows for given weights."""

    def __init__(self, rows: list[tuple[Array, Array]], weights: Array) -> None:
        self.rows = rows
        self.weights = weights
        self.weighted = [w * a for (a, _), w in zip(rows, weights, strict=True)]
        matrix = np.vstack(self.weighted)
        target = np.concatenate([w * y for (_, y), w in zip(rows, weights, strict=True)])
        length = np.linalg.norm(matrix, axis=0)
        # Joints at rest leave columns of rounding errors, which are not scaled up to numbers.
        self.length = np.where(length > ROUNDING * length.max(initial=0.0), length, 1.0)
        self.scaled = matrix / self.length
        width = self.scaled.shape[1]
        triangle = np.asarray(np.linalg.qr(np.column_stack([self.scaled, target]), mode='r'))
        self.triangle = triangle[:, :width]  # has the singular values of the scaled matrix
        inverse = _inverse(triangle[:width, :width])
        if inverse is not None:
            self._solve_regular(inverse, triangle[:width, -1])
        else:
            self._solve_singular(target)

    def _solve_regular(self, inverse: Array, target: Array) -> None:
        """Solve by a triangle that is far from singular: quicker than by singular values."""
        # Its square is (A^T A)^-1, as far as the rank goes.
        self.root: Array = inverse / self.length[:, None]
        self.values: Array = self.root @ target
        self.unseen: Array = np.zeros((len(inverse), 0))
        self.hidden = np.zeros(len(inverse), dtype=bool)

    def _solve_singular(self, target: Array) -> None:
        left, singular, right = np.linalg.svd(self.scaled, full_matrices=False)
        if len(singular) < self.scaled.shape[1]:  # fewer rows than columns
            right = np.linalg.svd(self.scaled)[2]
        rank = int((singular > RANK_TOLERANCE * singular[0]).sum())
        self.root = right[:rank].T / singular[:rank] / self.length[:, None]
        self.values = self.root @ (left[:, :rank].T @ target)
        unseen = right[rank:].T / self.length[:, None]
        self.unseen = unseen / np.maximum(np.linalg.norm(unseen, axis=0), 1e-300)
        self.hidden = np.abs(right[rank:]).max(axis=0, initial=0.0) > 1e-6

    def degrees_of_freedom(self, scores: Array | None) -> Array:
        """Return degrees of freedom (n,) that errors of each joint alone explain of themselves."""
        if scores is None:
            return np.array([np.sum((a @ self.root) ** 2) for a in self.weighted])
        inverse = self.root @ self.root.T
        diagonal = np.array([score[joint] for joint, score in enumerate(scores)])
        used: Array = self.weights**2 * np.einsum('bc,jbc->j', inverse, diagonal)
        return used

    def sigma(self, counts: Array, used: Array) -> Array:
        """Return residual standard deviation per joint, with the degrees of freedom it used up."""
        left = [np.linalg.norm(a @ self.values - y) for a, y in self.rows]
        return np.asarray(left / np.sqrt(np.maximum(counts - used, 1.0)))

    def covariance(self, sigma: Array, scores: Array | None) -> Array:
        """Return the covariance of the values, NaN for those that hidden directions touch."""
        size = self.weights * sigma
        if scores is None:
            parts = zip(size, self.weighted, strict=True)
            seen = np.vstack([each * (a @ self.root) for each, a in parts])
            inner = seen.T @ seen
        else:
            size *= self.weights
            inner = self.root.T @ np.einsum('i,j,ijbc->bc', size, size, scores) @ self.root
        result: Array = self.root @ inner @ self.root.T
        result[self.hidden, :] = np.nan
        result[:, self.hidden] = np.nan
        return result


def _inverse(triangle: Array) -> Array | None:
    """Return the inverse of a square triangle; None: it is too near to a singular one."""
    if triangle.shape[0] < triangle.shape[1] or not np.diag(triangle).all():
        return None
    inverse = solve_triangular(triangle, np.eye(len(triangle)), check_finite=False)
    condition = np.linalg.norm(triangle) * np.linalg.norm(inverse)  # at least the true one
    # From here on only singular values tell what is observable.
    return np.asarray(inverse) if condition < 0.1 / RANK_TOLERANCE else None


def _condition(matrix: Array) -> float:
    """Return the condition number; infinite when the matrix does not have full column rank."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    if len(singular) < matrix.shape[1] or singular[-1] <= 1e-300:
        return float('inf')
    return float(singular[0] / singular[-1])
