# SPDX-License-Identifier: Apache-2.0
"""Programmes over cones: a known minimum, and a solver that breaks down."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical import cone_solver
from robodyn_ros.identification.physical.cone_solver import minimise, minimise_within


class PanicException(BaseException):
    """Error of pyo3 where Rust code panics: it is no Exception."""


@pytest.mark.parametrize('error', [PanicException('eigenvalues'), ValueError('eigenvalues')])
def test_a_solver_that_breaks_down_is_an_error_like_any_other(monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(cone_solver.clarabel, 'DefaultSolver', broken)
    with pytest.raises(IdentificationError, match='failed: eigenvalues'):
        minimise(np.eye(1), np.ones(1), sparse.csc_matrix((1, 1)), np.ones(1), [])


def test_ctrl_c_stays_what_it_is(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cone_solver.clarabel, 'DefaultSolver', interrupted)
    with pytest.raises(KeyboardInterrupt):
        minimise(np.eye(1), np.ones(1), sparse.csc_matrix((1, 1)), np.ones(1), [])


@pytest.mark.parametrize('seed', range(6))
def test_smallest_within_limits_is_that_of_another_solver(seed):
    random = np.random.default_rng(seed)
    matrix, target = random.normal(size=(12, 7)), random.normal(size=12)
    lower = random.normal(size=7)
    upper, none = lower + 0.3, np.full(7, np.inf)
    found = minimise_within(matrix.T @ matrix, matrix.T @ target, lower, upper)
    expected = lsq_linear(matrix, target, (lower, upper), tol=1e-14).x
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert ((found == lower) | (found == upper)).any()  # limits that matter
    free = minimise_within(matrix.T @ matrix, matrix.T @ target, -none, none)
    np.testing.assert_allclose(free, np.linalg.lstsq(matrix, target, rcond=None)[0], atol=1e-9)


def test_no_numbers_give_no_smallest():
    none = np.full(2, np.inf)
    assert minimise_within(np.full((2, 2), np.nan), np.ones(2), np.zeros(2), none) is None
    assert minimise_within(np.zeros((2, 2)), np.ones(2), -none, none) is None
