# SPDX-License-Identifier: Apache-2.0
"""Threshold for a rate of false alarms, from the largest values of blocks of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from robodyn_ros.models.interface import Array

SHAPES = np.linspace(0.0, 0.25, 6)
"""Shapes of the tail: 0 is exponential; above 0.25 it would have no fourth moment, but torques of
drives are bounded."""
SIZES = np.geomspace(0.4, 1.6, 40)
"""Sizes of the tail to choose from, relative to the mean excess."""
DRAWS = 200
"""Sets of parts that are drawn: the mean of their rates has an error of a tenth or less."""


@dataclass(frozen=True)
class Tail:
    """Generalised Pareto distribution of the largest values of blocks.

    (Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 4)

    :param base: start of the tail
    :param often: rate at which blocks exceed it, in [1/h]
    """

    base: float
    often: float
    shape: float
    size: float

    def rate(self, level: float) -> float:
        """Return the rate at which blocks exceed a level, in [1/h]."""
        above = max(level - self.base, 0.0) / self.size
        fall = np.log1p(self.shape * above) / self.shape if self.shape else above
        return float(self.often * np.exp(-fall))


def fit_tail(values: Array, hours: float) -> Tail:
    """Return the most likely tail of the upper quarter of the largest values of blocks.

    :param hours: of the blocks together, in [h]
    """
    base = float(np.sort(values)[int(0.75 * len(values))])
    excess = values[values > base] - base
    if not len(excess):
        return Tail(base, 1.0 / hours, 0.0, 1e-9 * max(base, 1.0))
    sizes = float(excess.mean()) * SIZES[:, None]
    scaled = excess / sizes
    best = (-np.inf, 0.0, 0.0)
    for shape in SHAPES.tolist():
        fall = (1.0 + 1.0 / shape) * np.log1p(shape * scaled) if shape else scaled
        likelihood = -(np.log(sizes) + fall).sum(axis=1)
        row = int(likelihood.argmax())
        best = max(best, (float(likelihood[row]), shape, float(sizes[row, 0])))
    return Tail(base, len(excess) / hours, best[1], best[2])


class Tails:
    """Tails of sets of parts that are drawn with replacement.

    (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 8)
    """

    def __init__(self, maxima: Sequence[Array], hours: Sequence[float]) -> None:
        """Fit them.

        :param maxima: largest values of the blocks of each part
        :param hours: of each part
        """
        random, count, self.hours = np.random.default_rng(1), len(maxima), sum(hours)
        sets = [np.arange(count), *random.integers(count, size=(DRAWS, count))]
        drawn = [(np.concatenate([maxima[k] for k in each]), sum(hours[k] for k in each))
                 for each in sets]  # fmt: skip
        self.all = [fit_tail(*each) for each in drawn if len(each[0]) and each[1] > 0.0]

    def rates(self, level: float) -> Array:
        """Return the rates at which blocks exceed a level, (sets,), in [1/h]."""
        return np.array([each.rate(level) for each in self.all])

    def level(self, rate: float) -> float:
        """Return the level at which `rate` per hour is expected, as the mean over the sets.

        After k alarms in T hours it is (k + 1/2) / T (Jeffreys, "Theory of Probability", 1961).
        """
        low = min(each.base for each in self.all)

        def missing(level: float) -> float:
            return float(np.log((self.rates(level).mean() + 0.5 / self.hours) / rate))

        if missing(low) <= 0.0:
            return low
        high = 2.0 * max(max(each.base for each in self.all), 1e-300)
        while missing(high) > 0.0:
            high *= 2.0
        return float(brentq(missing, low, high))


def rate_bound(alarms: int, hours: float) -> float:
    """Return the rate that is not exceeded with 95 % confidence, in [1/h]: 3 / T for no alarm.

    Alarms are a Poisson process (Garwood, "Fiducial Limits for the Poisson Distribution", 1936).
    """
    return float(gammaincinv(alarms + 1, 0.95) / hours)
