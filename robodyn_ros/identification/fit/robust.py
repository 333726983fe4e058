# SPDX-License-Identifier: Apache-2.0
"""Weights of samples that make an estimate robust against contact and other outliers.

M-estimators by iteratively reweighted least squares (Huber, "Robust Statistics", 1981, chapter
7): a sample's weight falls with its residual, in units of the joint's own spread. The spread and
the values are found on a few thousand rows; then all samples get their weights at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.identification.factors.condense import Condensed, Indices, JointFactor, triangle
from robodyn_ros.identification.factors.row_sample import RowSample
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.options import Loss
from robodyn_ros.models.interface import Array

TUNING = {'huber': 1.345, 'tukey': 4.685}
"""Residuals, in standard deviations, from which weights fall (Huber) or are zero (Tukey): with
normal errors the estimate is 95 % as good as least squares."""

OUTLIER = 10.0
"""Residuals beyond so many robust standard deviations are no matter of the model: contact."""


@dataclass(frozen=True)
class Robust:
    """A robust estimate on a sample.

    :param values: base values, shape (b,)
    :param spread: robust standard deviation of the residuals per joint, shape (n,)
    :param gross: share of each joint's samples that are far outliers, shape (n,)
    :param widening: of standard deviations against those of least squares with these weights,
        from the scores of `pseudo_observed` rows (Huber 1981, Eq. 7.6.3), shape (n,)
    """

    values: Array
    spread: Array
    gross: Array
    widening: Array
    loss: Loss

    def weights(self, residual: Array) -> Array:
        """Return the weights (M, n) of residuals (M, n)."""
        return weight(residual / self.spread, self.loss)


def weight(size: Array, loss: Loss) -> Array:
    """Weight of the square of a residual, 0 to 1, in units of its standard deviation."""
    size, limit = np.abs(size), TUNING[loss]
    if loss == 'huber':
        return np.asarray(limit / np.maximum(size, limit))
    return np.asarray(np.square(1.0 - np.minimum(size / limit, 1.0) ** 2))


def slope(size: Array, loss: Loss) -> Array:
    """Return the derivative of weight times residual by the residual."""
    size, limit = np.abs(size), TUNING[loss]
    if loss == 'huber':
        return np.asarray((size < limit).astype(np.float64))
    share = np.minimum(size / limit, 1.0) ** 2
    return np.asarray((1.0 - share) * (1.0 - 5.0 * share))


def robust_spread(residual: Array) -> float:
    """Return the standard deviation of a residual (m,) from the median of its absolute values."""
    # The median of the absolute value of a normal variable of variance 1 is 0.6745.
    return float(np.median(np.abs(residual))) / 0.6745 if len(residual) else 0.0


def robust_fit(sample: RowSample, start: Array, loss: Loss) -> Robust:
    """Fit a sample robustly: by Huber's weights first, which have one minimum only.

    :param start: base values to start from, shape (b,)
    """
    rows = [sample.matrix(joint) for joint in range(len(sample.columns))]
    values = np.array(start)
    phases: tuple[Loss, ...] = ('huber',) if loss == 'huber' else ('huber', 'tukey')
    for phase in phases:
        for _ in range(30):
            residuals = _residuals(rows, sample, values)
            spread = _spreads(rows, residuals)
            factors = []
            for matrix, indices, rest, size in zip(
                rows, sample.columns, residuals, spread, strict=True
            ):
                share = weight(rest / size, phase)
                # Rows in units of their spread, so that joints need no other weights.
                factor = triangle([matrix], scale=np.sqrt(share) / size)
                factors.append(JointFactor(indices, factor, round(float(share.sum()))))
            before, values = values, estimate(factors, sample.width, estimator='ols').values
            if np.abs(values - before).max() <= 1e-4 * np.abs(values).max():
                break
    residuals = _residuals(rows, sample, values)
    spread = _spreads(rows, residuals)
    sizes = [rest / size for rest, size in zip(residuals, spread, strict=True)]
    return Robust(
        values=values,
        spread=spread,
        gross=np.array([np.mean(np.abs(u) > OUTLIER) if len(u) else 0.0 for u in sizes]),
        widening=np.array([_widening(size, loss) for size in sizes]),
        loss=loss,
    )


def _widening(size: Array, loss: Loss) -> float:
    """Return the factor on standard deviations of weighted least squares with these residuals."""
    share = weight(size, loss)
    bend, energy = float(slope(size, loss).sum()), float(share @ size**2)
    if not (bend > 0.0 and energy > 0.0):
        return 1.0
    variance = float(share**2 @ size**2) / len(size)  # of a residual, by its weight
    return float(share.sum() / bend * np.sqrt(variance * share.sum() / energy))


def pseudo_observed(sample: RowSample, robust: Robust, values: Array) -> RowSample:
    """Return a sample with the residuals of base values (b,), reduced by their weights.

    Its torques are A v + w r (Huber 1981, section 7.8): with these, all rows weighed alike, the
    robust estimate is that of least squares, and its uncertainty is that of the residuals w r.
    """
    segments = []
    for part in sample.segments:
        rows = []
        for matrix, indices, spread in zip(part.rows, sample.columns, robust.spread, strict=True):
            fitted = matrix[:, :-1] @ values[indices]
            rest = matrix[:, -1] - fitted
            torque = fitted + weight(rest / spread, robust.loss) * rest
            rows.append(np.column_stack([matrix[:, :-1], torque]))
        segments.append(replace(part, rows=tuple(rows)))
    return replace(sample, segments=tuple(segments))


def reweigh(condensed: Condensed, fit: Robust) -> Condensed:
    """Condense the rows of a complete sample again, with robust weights."""
    (segment,) = condensed.sample.segments
    factors = []
    for joint, indices in enumerate(condensed.sample.columns):
        rows, used = segment.rows[joint], segment.used[:, joint]
        if not used.all():
            rows = rows[used]
        share = weight(_residual(rows, indices, fit.values) / fit.spread[joint], fit.loss)
        factor = triangle([rows], scale=np.sqrt(share))
        factors.append(JointFactor(indices, factor, round(float(share.sum()))))
    return replace(condensed, factors=tuple(factors), coupled=None)


def _residuals(rows: list[Array], sample: RowSample, values: Array) -> list[Array]:
    """Return the residuals of each joint."""
    return [_residual(m, indices, values) for m, indices in zip(rows, sample.columns, strict=True)]


def _residual(rows: Array, columns: Indices, values: Array) -> Array:
    """Return the residual of rows [Y | tau]."""
    rest: Array = rows[:, -1] - rows[:, :-1] @ values[columns]
    return rest


def _spreads(rows: list[Array], residuals: list[Array]) -> Array:
    """Return the robust spread per joint, shape (n,), not below a share of its torque."""
    result = []
    for matrix, rest in zip(rows, residuals, strict=True):
        rms = float(np.linalg.norm(matrix[:, -1])) / np.sqrt(max(len(matrix), 1))
        result.append(max(robust_spread(rest), 1e-4 * rms, 1e-12))
    return np.array(result)
