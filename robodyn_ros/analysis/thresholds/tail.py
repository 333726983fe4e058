# SPDX-License-Identifier: Apache-2.0
"""Level that the largest values of blocks exceed at a given rate."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from robodyn_ros.models.interface import Array


def level_at(maxima: Array, hours: float, rate: float) -> float:
    """Return the level that is exceeded `rate` times per hour.

    If the blocks were exceeded at least once at this rate, it is an order statistic. Beyond the
    largest value, the excesses over a high level are taken as exponential, the limit of light
    tails (Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 4).
    That level is exceeded by a tenth of the blocks, at least by 5 of them.

    :param maxima: largest value of each block, shape (blocks,)
    :param hours: time of the blocks together, in [h]
    :param rate: in [1/h]
    """
    ordered = np.sort(maxima)[::-1]
    if (allowed := int(rate * hours)) >= 1:
        return float(ordered[min(allowed, len(ordered) - 1)])
    count = min(max(5, len(ordered) // 10), len(ordered) - 1)
    largest = float(ordered[0])
    if count < 1:
        return largest
    base = float(ordered[count])
    excess = float(np.mean(ordered[:count] - base))
    return max(largest, base + excess * max(0.0, float(np.log(count / (rate * hours)))))


def rate_bound(alarms: int, hours: float) -> float:
    """Return the rate that is not exceeded with 95 % confidence, in [1/h]: 3 / T for no alarm.

    Alarms are a Poisson process (Garwood, "Fiducial Limits for the Poisson Distribution", 1936).
    """
    return float(gammaincinv(alarms + 1, 0.95) / hours)
