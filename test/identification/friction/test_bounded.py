# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from robodyn_ros.identification.friction.bounded import (
    braking,
    largest,
    mixing,
    solve_bounded,
    solve_normal,
)
from robodyn_ros.models.friction_terms import LAWS


def problem(seed, wanted):
    """Normal equations of a well-conditioned problem whose least-squares solution is `wanted`."""
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(200, len(wanted)))
    target = matrix @ wanted + 0.1 * random.normal(size=200)
    return matrix, target, matrix.T @ matrix, matrix.T @ target


@pytest.mark.parametrize('seed', range(2))
def test_values_that_would_be_negative_are_zero_and_the_others_are_fitted_again(seed):
    held = np.array([False, True, True, True])
    matrix, target, gram, side = problem(seed, np.array([-2.0, -1.0, 1.5, 0.8]))
    found = solve_bounded(gram, side, held)
    expected = lsq_linear(matrix, target, (np.where(held, 0.0, -np.inf), np.inf)).x
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[1] == 0.0 and found[0] < -1.5


@pytest.mark.parametrize('seed', range(2))
def test_values_that_would_be_too_large_stay_at_their_bound(seed):
    held, most = np.array([False, True, False]), np.array([np.inf, np.inf, 1.0])
    matrix, target, gram, side = problem(seed, np.array([-2.0, -1.0, 2.5]))
    found = solve_bounded(gram, side, held, most)
    expected = lsq_linear(matrix, target, (np.where(held, 0.0, -np.inf), most)).x
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[1] == 0.0 and found[2] == 1.0
    assert largest(('viscous', 'load', 'spring')).tolist() == [np.inf, 1.0, np.inf]


def test_what_no_row_shows_is_zero():
    gram, side = np.diag([2.0, 0.0]), np.array([4.0, 0.0])
    np.testing.assert_allclose(solve_normal(gram, side), [2.0, 0.0], atol=1e-8)


def test_dry_friction_brakes_and_other_friction_may_come_out_negative():
    assert braking(LAWS['stribeck']).tolist() == [False, True, False, True]
    loaded = braking((*LAWS['smooth'], 'load', 'spring'))
    assert loaded.tolist() == [False, True, False, False, False]
    assert braking(LAWS['bidirectional']).tolist() == [True, True, *[False] * 6]


def test_a_peak_is_at_most_as_large_as_coulomb_friction():
    terms = LAWS['stribeck']
    assert dict(zip(terms, mixing(terms) @ [0.1, 0.0, -0.3, 2.0], strict=True)) == {
        'viscous': 0.1, 'coulomb': 2.0, 'offset': -0.3, 'breakaway': 2.0,
    }  # fmt: skip
    assert (mixing(LAWS['smooth']) == np.eye(3)).all()
