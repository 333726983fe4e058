"""Essential parameters: those that a recording needs, the others are zero.

Pham and Gautier, "Essential parameters of robots" (1991): the base parameter with the largest
relative standard deviation is left out, the others are estimated again, and so on, as long as
what it explains is no more than noise. With fewer parameters each is known better, and none of
them is there to fit noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from robodyn_ros.identification.factors.condense import Condensed, Indices, JointFactor
from robodyn_ros.identification.fit.least_squares import Estimate, estimate
from robodyn_ros.models.interface import Array

SIGNIFICANT = 0.05
"""Probability with which noise alone may make a parameter look essential."""


@dataclass(frozen=True)
class Essential:
    """An estimate with essential parameters only.

    :param fit: values of the others are zero; standard deviations count what that may be off by
    :param left_out: indices of base parameters that are zero
    """

    fit: Estimate
    left_out: tuple[int, ...]


def essential(
    factors: Sequence[JointFactor], whole: Estimate, scores: Array | None = None
) -> Essential:
    """Leave out parameters that are not essential, one at a time.

    :param whole: the estimate with all parameters
    :param scores: as for `estimators.estimate`
    """
    width = len(whole.values)
    kept, fit = np.arange(width), whole
    while len(kept) > 1:
        deviations = np.maximum(np.nan_to_num(fit.stddevs, nan=np.inf), 1e-300)
        size = np.abs(fit.values) / deviations
        worst = int(np.argmin(size))
        # Its square is what leaving the parameter out adds to the weighted residual.
        if size[worst] > _quantile():
            break
        kept = np.delete(kept, worst)
        fit = _restricted(factors, kept, width, scores)
    return Essential(_widened(fit, kept, whole), tuple(np.setdiff1d(np.arange(width), kept)))


def restrict(condensed: Condensed, kept: Indices) -> Condensed:
    """The same factors with only these columns."""
    segments = tuple(
        tuple(_columns(factor, kept, condensed.width) for factor in part)
        for part in condensed.segments
    )
    return replace(condensed, width=len(kept), segments=segments, coupled=())


def _quantile() -> float:
    return float(ndtri(1.0 - SIGNIFICANT / 2.0))


def _columns(factor: JointFactor, kept: Indices, width: int) -> JointFactor:
    """The same factor with only some of the selected columns, numbered anew."""
    place = np.full(width, -1)
    place[kept] = np.arange(len(kept))
    stay = np.flatnonzero(place[factor.columns] >= 0)
    columns = place[factor.columns[stay]]
    return replace(factor, columns=columns, triangle=factor.triangle[:, [*stay, -1]])


def _restricted(
    factors: Sequence[JointFactor], kept: Indices, width: int, scores: Array | None
) -> Estimate:
    fewer = [_columns(factor, kept, width) for factor in factors]
    own = None if scores is None else scores[:, :, kept[:, None], kept]
    return estimate(fewer, len(kept), scores=own)


def _widened(fit: Estimate, kept: Indices, whole: Estimate) -> Estimate:
    """The estimate with zeros for what is left out.

    With fewer parameters each varies less, but what was left out is not zero for certain.
    """
    width = len(whole.values)
    values = np.zeros(width)
    values[kept] = fit.values
    unseen = np.zeros((width, fit.unseen.shape[1]))
    unseen[kept] = fit.unseen
    return replace(fit, values=values, covariance=whole.error_of(values), unseen=unseen)
