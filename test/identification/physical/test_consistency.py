# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from scipy import sparse
from scipy.optimize import lsq_linear
from simulation import arm

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical import consistency
from robodyn_ros.identification.physical.consistency import (
    bodies_of,
    consistent,
    is_consistent,
    minimise,
    minimise_within,
    nearest,
)
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model


def test_bodies_and_rotors_are_found_by_name():
    model, values = arm(random_urdf(3, 0))
    bodies = bodies_of(model)
    assert [name for name, _ in bodies.links] == ['link1', 'link2', 'link3']
    assert model.parameters[bodies.links[1][1][9]].name == 'link2.Izz'
    assert [model.parameters[k].name for k in bodies.rotors] == [
        f'joint{k}.rotor_inertia' for k in (1, 2, 3)
    ]
    assert is_consistent(model, values)
    values[bodies.rotors[0]] = -1e-6
    assert not is_consistent(model, values)


@pytest.mark.parametrize('joints', [1, 6])
def test_consistent_robot_is_found_where_one_exists(joints):
    model, truth = arm(random_urdf(joints, 5))
    base = base_parameters(model)
    # A bad prior: other masses, no rotors, and links nobody can build.
    random = np.random.default_rng(joints)
    prior = np.nan_to_num(model.prior()) * random.uniform(-0.5, 2.0, size=len(truth))
    values = consistent(model, base.grouping, base.values(truth), prior)
    assert is_consistent(model, values)
    expected = base.values(truth)
    np.testing.assert_allclose(
        base.values(values), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )


def test_impossible_base_values_are_refused():
    model, truth = arm(random_urdf(3, 7, types=('revolute',)))
    base = base_parameters(model)
    wrong = np.array(truth)
    wrong[[item.name for item in model.parameters].index('link3.Izz')] -= 20.0
    wrong[-12] = 0.0
    with pytest.raises(IdentificationError, match='no physically consistent robot'):
        consistent(model, base.grouping, base.values(wrong), truth)


def test_rotor_at_exactly_zero_is_possible():
    model, truth = arm(random_urdf(3, 9))
    truth[list(bodies_of(model).rotors)] = 0.0
    base = base_parameters(model)
    noisy = base.values(truth) - 1e-12
    assert is_consistent(model, consistent(model, base.grouping, noisy, truth))


def test_parameters_with_a_prior_keep_it_and_the_others_take_the_rest():
    # DELTA: M_T adds to M_P, and M_BC and Theta_BC are spread over the others.
    lengths = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7, 'h_O': 0.1}
    model = build_model(
        {'kind': 'delta', 'dynamic_model': 1, 'joints': list('abcd'), 'geometry': lengths}
    )
    base = base_parameters(model)
    names = [item.name for item in model.parameters]
    truth = np.random.default_rng(0).uniform(0.1, 1.0, len(names))
    prior = np.full(len(names), np.nan)
    for name in ('M_T', 'M_BC'):
        prior[names.index(name)] = truth[names.index(name)]
    values = nearest(model, base.grouping, base.values(truth), prior)
    np.testing.assert_allclose(values, truth, atol=1e-9)  # the two fix all the freedom there is
    prior[names.index('M_BC')] = np.nan
    values = nearest(model, base.grouping, base.values(truth), prior)
    assert values[names.index('M_T')] == pytest.approx(truth[names.index('M_T')], abs=1e-12)
    np.testing.assert_allclose(base.values(values), base.values(truth), atol=1e-9)
    # Of all with that M_T the one of least norm.
    free = np.delete(base.grouping, names.index('M_T'), axis=1)
    inside = np.linalg.svd(free)[2][np.linalg.matrix_rank(free) :]
    np.testing.assert_allclose(inside @ np.delete(values, names.index('M_T')), 0.0, atol=1e-9)


def test_nothing_known_gives_the_minimum_norm():
    model = build_model(
        {'kind': 'puma', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(6)]}
    )
    base = base_parameters(model)
    values = np.random.default_rng(0).normal(size=base.rank)
    found = nearest(model, base.grouping, values, np.full(len(model.parameters), np.nan))
    np.testing.assert_allclose(found, np.linalg.pinv(base.grouping) @ values, atol=1e-9)


class PanicException(BaseException):
    """Error of pyo3 where Rust code panics: it is no Exception."""


@pytest.mark.parametrize('error', [PanicException('eigenvalues'), ValueError('eigenvalues')])
def test_a_solver_that_breaks_down_is_an_error_like_any_other(monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(consistency.clarabel, 'DefaultSolver', broken)
    with pytest.raises(IdentificationError, match='failed: eigenvalues'):
        minimise(np.eye(1), np.ones(1), sparse.csc_matrix((1, 1)), np.ones(1), [])


def test_ctrl_c_stays_what_it_is(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(consistency.clarabel, 'DefaultSolver', interrupted)
    with pytest.raises(KeyboardInterrupt):
        minimise(np.eye(1), np.ones(1), sparse.csc_matrix((1, 1)), np.ones(1), [])


@pytest.mark.parametrize('seed', range(2))
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
