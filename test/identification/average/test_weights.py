# SPDX-License-Identifier: Apache-2.0
"""Weights of candidates: shares that no other optimiser betters."""

import numpy as np
import pytest
from scipy.optimize import minimize

from robodyn_ros.identification.average.weights import EVEN, best_weights


@pytest.mark.parametrize('count', [1, 2, 5, 20, 70])
def test_no_other_weights_cost_less_says_another_optimiser(count):
    random = np.random.default_rng(count)
    root = random.normal(size=(count // 2 + 1, count)) + random.normal(size=(count // 2 + 1, 1))
    cost = 1e3 * root.T @ root
    weights = best_weights(cost)
    assert (weights >= 0.0).all() and weights.sum() == pytest.approx(1.0, abs=1e-12)
    total = cost / np.diag(cost).min() + EVEN * np.eye(count)
    found = minimize(
        lambda w: w @ total @ w,
        np.full(count, 1.0 / count),
        jac=lambda w: 2.0 * total @ w,
        method='SLSQP',
        bounds=[(0.0, 1.0)] * count,
        constraints={'type': 'eq', 'fun': lambda w: w.sum() - 1.0, 'jac': np.ones_like},
        options={'ftol': 1e-12, 'maxiter': 1000},
    )
    assert weights @ total @ weights == pytest.approx(found.fun, rel=1e-6)
    np.testing.assert_allclose(weights, found.x, atol=1e-4)


def test_equal_candidates_share_their_weight():
    cost = np.zeros((4, 4))
    cost[:3, :3], cost[3, 3] = 1.0, 10.0
    weights = best_weights(cost)
    np.testing.assert_allclose(weights[:3], weights[0], rtol=1e-6)
    assert 0.05 < weights[3] < 0.15


@pytest.mark.parametrize('least', [0.0, -1e-12, 1e-300, 1e-12])
def test_a_candidate_without_errors_has_all_the_weight(least):
    """Noise-free data leave nothing but rounding, which has either sign."""
    weights = best_weights(np.diag([5.0, least, 20.0]))
    np.testing.assert_allclose(weights, [0.0, 1.0, 0.0], atol=1e-9)


def test_data_without_torque_give_finite_weights():
    np.testing.assert_allclose(best_weights(np.zeros((3, 3))), 1.0 / 3.0)
