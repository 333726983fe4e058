# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.analysis.thresholds.tail import level_at, pareto_level, rate_bound


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


def test_two_sessions_that_differ_have_the_level_of_the_worse_one() -> None:
    random = np.random.default_rng(2)
    calm, rough = random.exponential(size=400), 3.0 * random.exponential(size=400)
    alone = pareto_level(rough, 0.5, 10.0)
    assert level_at([calm, rough], [0.5, 0.5], 10.0) == pytest.approx(alone, rel=0.02)
    pooled = pareto_level(np.concatenate([calm, rough]), 1.0, 10.0)
    assert pooled < 0.95 * alone


def test_many_equal_sessions_have_about_the_level_of_all() -> None:
    values = np.random.default_rng(3).exponential(size=(20, 100))
    together = pareto_level(values.ravel(), 4.0, 10.0)
    level = level_at(list(values), [0.2] * 20, 10.0)
    assert together <= level < 1.1 * together


def test_the_bound_of_a_rate_is_that_of_poisson_counts() -> None:
    for alarms in (0, 3, 10):
        # Fewer than 5 % of experiments with this rate have so few alarms.
        rate = rate_bound(alarms, hours=2.0)
        counts = np.random.default_rng(alarms).poisson(2.0 * rate, size=200_000)
        np.testing.assert_allclose(np.mean(counts <= alarms), 0.05, atol=0.002)
    np.testing.assert_allclose(rate_bound(0, 1.0), 3.0, rtol=0.01)
