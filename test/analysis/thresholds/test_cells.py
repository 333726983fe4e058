# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from robodyn_ros.analysis.thresholds.cells import level_at, rate_bound


def test_an_exponential_tail_is_continued_to_the_rate() -> None:
    found = []
    for seed in range(40):
        maxima = np.random.default_rng(seed).exponential(size=2000)
        found.append(level_at(maxima, hours=10.0, rate=1.0 / 100.0))
    # 200 blocks per hour: a block exceeds the level with the probability 1 / 20000.
    np.testing.assert_allclose(np.median(found), np.log(20000.0), rtol=0.05)


def test_it_is_an_order_statistic_within_the_data_and_never_below_the_largest_value_beyond() -> (
    None
):
    maxima = np.array([1.0, 1.1, 0.9, 5.0])
    assert level_at(maxima, 1.0, 0.9) == 5.0
    assert level_at(maxima, 2.0, 1.0) == 1.0  # two of four values are above it
    assert level_at(maxima, 1.0, 1e6) == 0.9
    assert level_at(np.array([2.0]), 1.0, 0.1) == 2.0


def test_the_bound_of_a_rate_is_that_of_poisson_counts() -> None:
    for alarms in (0, 3, 10):
        # Fewer than 5 % of experiments with this rate have so few alarms.
        rate = rate_bound(alarms, hours=2.0)
        counts = np.random.default_rng(alarms).poisson(2.0 * rate, size=200_000)
        np.testing.assert_allclose(np.mean(counts <= alarms), 0.05, atol=0.002)
    np.testing.assert_allclose(rate_bound(0, 1.0), 3.0, rtol=0.01)
