# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from robodyn_ros.analysis.thresholds.tail import Tails, fit_tail, rate_bound
from robodyn_ros.models.interface import Array


def pareto_level(values: Array, hours: float, rate: float) -> float:
    tail = fit_tail(values, hours)
    return float(brentq(lambda level: tail.rate(level) - rate, tail.base, 1e3))


@pytest.mark.parametrize('shape', [0.0, 0.2])
def test_a_tail_is_continued_to_the_rate(shape: float) -> None:
    found = []
    for seed in range(40):
        uniform = np.random.default_rng(seed).uniform(size=2000)
        values = (uniform**-shape - 1.0) / shape if shape else -np.log(uniform)
        found.append(pareto_level(values, hours=10.0, rate=1.0 / 10.0))
    # 200 blocks per hour: a block exceeds the level with the probability 1 / 2000.
    expected = (2000.0**shape - 1.0) / shape if shape else np.log(2000.0)
    np.testing.assert_allclose(np.median(found), expected, rtol=0.1)


def test_within_the_data_it_is_exceeded_as_often_as_wanted() -> None:
    values = np.random.default_rng(1).exponential(size=2000)
    for allowed in (20, 100):
        level = pareto_level(values, hours=2.0, rate=0.5 * allowed)
        assert (values > level).sum() == pytest.approx(allowed, rel=0.25)


def test_the_mean_over_sets_has_the_wanted_rate_on_new_parts() -> None:
    """Also of parts that differ, and of few of them: the mean of many experiments is right."""
    random, rates = np.random.default_rng(2), []
    for _ in range(60):
        size = np.exp(0.2 * random.normal(size=12))
        values = size[:, None] * random.exponential(size=(12, 60))
        level = Tails(list(values), [1.0 / 12.0] * 12).level(10.0)
        new = np.exp(0.2 * random.normal(size=4000))
        rates.append(720.0 * np.exp(-level / new).mean())
    assert 8.0 < np.mean(rates) < 13.0


def test_many_equal_parts_have_about_the_level_of_all() -> None:
    values = np.random.default_rng(3).exponential(size=(20, 100))
    together = pareto_level(values.ravel(), 4.0, 10.0)
    tails = Tails(list(values), [0.2] * 20)
    assert tails.level(10.0) == pytest.approx(together, rel=0.06)
    assert tails.rates(tails.level(10.0)).mean() == pytest.approx(10.0 - 0.5 / 4.0)


def test_the_bound_of_a_rate_is_that_of_poisson_counts() -> None:
    for alarms in (0, 3, 10):
        # Fewer than 5 % of experiments with this rate have so few alarms.
        rate = rate_bound(alarms, hours=2.0)
        counts = np.random.default_rng(alarms).poisson(2.0 * rate, size=200_000)
        np.testing.assert_allclose(np.mean(counts <= alarms), 0.05, atol=0.002)
    np.testing.assert_allclose(rate_bound(0, 1.0), 3.0, rtol=0.01)
