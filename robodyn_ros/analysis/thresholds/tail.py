# SPDX-License-Identifier: Apache-2.0
"""Threshold for a rate of false alarms, from the largest values of blocks of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaincinv

from robodyn_ros.models.interface import Array

SHAPES = np.linspace(0.0, 0.25, 6)
"""Shapes of the tail: 0 is exponential; above 0.25 it would have no fourth moment, but torques of
drives are bounded."""
SIZES = np.geomspace(0.4, 1.6, 40)
"""Sizes of the tail to choose from, relative to the mean excess."""
DRAWS, UPPER = 200, 0.8
"""Sets of sessions that are drawn, and the quantile of their levels: of two sessions it is the
level of the worse one."""


def level_at(maxima: Sequence[Array], hours: Sequence[float], rate: float) -> float:
    """Return the level that is exceeded at most `rate` times per hour.

    The session is the unit: the level is an upper quantile over sets of sessions that are drawn
    with replacement (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 8).

    :param maxima: largest values of the blocks of each session
    :param hours: of each session
    :param rate: in [1/h]
    """
    random, count = np.random.default_rng(1), len(maxima)
    levels = []
    for drawn in random.integers(count, size=(DRAWS, count)):
        values = np.concatenate([maxima[k] for k in drawn])
        levels.append(pareto_level(values, sum(hours[k] for k in drawn), rate))
    return float(np.quantile(levels, UPPER))


def pareto_level(values: Array, hours: float, rate: float) -> float:
    """Return the level that some blocks exceed `rate` times per hour.

    Their upper quarter follows a generalised Pareto distribution (Coles, "An Introduction to
    Statistical Modeling of Extreme Values", 2001, chapter 4) of the most likely shape and size.

    :param values: largest values of the blocks
    :param hours: of the blocks together, in [h]
    :param rate: in [1/h]
    """
    base = float(np.sort(values)[int(0.75 * len(values))])
    excess = values[values > base] - base
    share = rate * hours / max(len(excess), 1)
    if not len(excess) or share >= 1.0:
        return base
    sizes = float(excess.mean()) * SIZES[:, None]
    scaled = excess / sizes
    best = (-np.inf, 0.0, 0.0)
    for shape in SHAPES.tolist():
        fall = (1.0 + 1.0 / shape) * np.log1p(shape * scaled) if shape else scaled
        likelihood = -(np.log(sizes) + fall).sum(axis=1)
        row = int(likelihood.argmax())
        best = max(best, (float(likelihood[row]), shape, float(sizes[row, 0])))
    _, shape, size = best
    grown = (share**-shape - 1.0) / shape if shape else -np.log(share)
    return base + size * float(grown)


def rate_bound(alarms: int, hours: float) -> float:
    """Return the rate that is not exceeded with 95 % confidence, in [1/h]: 3 / T for no alarm.

    Alarms are a Poisson process (Garwood, "Fiducial Limits for the Poisson Distribution", 1936).
    """
    return float(gammaincinv(alarms + 1, 0.95) / hours)
