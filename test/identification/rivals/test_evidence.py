# SPDX-License-Identifier: Apache-2.0
"""Numerics of the rivals: fits, held-out errors and gains against plain numpy and scipy."""

from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import plant, reading_of
from scipy.optimize import lsq_linear

from robodyn_ros.identification.rivals.evidence import RIDGE, _solve, gain


@pytest.fixture(scope='module')
def present():
    return reading_of(*plant('scara3')).present


def gram_of(matrix, target):
    whole = np.column_stack([matrix, target])
    return whole.T @ whole


@pytest.mark.parametrize('seed', range(20))
def test_friction_is_held_non_negative_as_by_scipy(seed):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(300, 9)) * random.uniform(0.01, 100.0, 9)
    braking = np.arange(9) >= 5
    truth = random.normal(size=9) / np.abs(matrix).max(axis=0)
    target = matrix @ truth + 0.05 * random.normal(size=300)
    values = _solve(gram_of(matrix, target)[None], braking, RIDGE)[0]
    low = np.where(braking, 0.0, -np.inf)
    expected = lsq_linear(matrix, target, (low, np.inf), method='bvls').x
    assert (truth[braking] < 0.0).any() and (values[braking] >= 0.0).all()
    # A friction that was held is not released again, which costs next to nothing.
    error, least = (np.linalg.norm(target - matrix @ each) for each in (values, expected))
    assert error == pytest.approx(least, rel=1e-2)
    if ((values > 0.0) == (expected > 1e-9 * np.abs(expected).max()))[braking].all():
        size = np.abs(matrix).max(axis=0)
        np.testing.assert_allclose(values * size, expected * size, atol=1e-3)


def test_a_column_that_does_not_act_has_the_value_zero():
    random = np.random.default_rng(3)
    matrix = random.normal(size=(50, 3))
    matrix[:, 1] = 0.0
    values = _solve(gram_of(matrix, matrix[:, 0])[None], np.zeros(3, dtype=bool), RIDGE)[0]
    np.testing.assert_allclose(values, [1.0, 0.0, 0.0], atol=1e-4)


def refitted(evidence, labels):
    """Held-out errors of a fit by least squares with the same ridge, shape (folds, n)."""
    rows, errors = evidence.rows, []
    for fold in range(labels.max() + 1):
        kept = rows[labels != fold].reshape(-1, rows.shape[2])
        length = np.linalg.norm(kept[:, :-1], axis=0)
        known = length > 1e-9 * length.max()
        scaled = kept[:, :-1][:, known] / length[known]
        ridge = np.sqrt(RIDGE) * np.eye(known.sum())
        target = np.append(kept[:, -1], np.zeros(known.sum()))
        found = np.linalg.lstsq(np.vstack([scaled, ridge]), target, rcond=None)[0]
        values = np.zeros(len(known))
        values[known] = found / length[known]
        left = rows[labels == fold]
        errors.append(np.mean((left[:, :, -1] - left[:, :, :-1] @ values) ** 2, axis=0))
    return np.array(errors)


def test_held_out_errors_are_those_of_a_fit_without_the_fold(present):
    expected = np.vstack([refitted(present, labels) for labels in present.labels])
    np.testing.assert_allclose(present.held_out, expected, rtol=1e-6)
    inside = np.array([present.error, 0.0])
    assert inside[0] < present.held_out[:10].sum(axis=1).mean()


def test_the_error_is_that_of_the_fit_to_all_samples(present):
    rest = (present.torque - present.predicted) * present.used / present.size
    assert present.error == pytest.approx(float(np.mean(np.sum(rest**2, axis=1))), rel=1e-6)


def test_samples_that_are_not_used_are_neither_fitted_nor_compared(present):
    used = present.used.copy()
    used[100:300] = False
    spoiled = present.torque.copy()
    spoiled[100:300] = 1e3
    expected = replace(present, used=used)
    np.testing.assert_allclose(replace(expected, torque=spoiled).held_out, expected.held_out)
    seen = replace(expected, torque=spoiled, compared=present.used)
    assert seen.held_out.max() > 1e3 * expected.held_out.max()


def test_errors_stay_in_the_units_and_columns_of_the_recording(present):
    """A factor that all joints have in common explains nothing: errors are not scaled by it."""
    halved = present.scale(np.full(3, 2.0))
    np.testing.assert_allclose(halved.held_out, present.held_out, rtol=1e-6)
    order = np.array([2, 0, 1])
    motion = tuple(values[:, order] for values in present.motion)
    same = replace(present, torque=present.torque[:, order], used=present.used[:, order])
    other = replace(same, column=order, size=present.size, motion=motion)
    rows = np.abs(other.rows[:, :, -1])
    np.testing.assert_allclose(rows, np.abs(present.rows[:, order, -1]))


def test_mixed_positions_have_mixed_velocities_and_accelerations(present):
    turned = present.mix(np.diag(present.factors(1, -2.0)), 0.5)
    (q, qd, qdd), (before, velocity, acceleration) = turned.motion, present.motion
    np.testing.assert_allclose(q[:, 1], -2.0 * before[:, 1] + 0.5)
    np.testing.assert_allclose(qd[:, 1], -2.0 * velocity[:, 1])
    np.testing.assert_allclose(qdd[:, 1], -2.0 * acceleration[:, 1])
    np.testing.assert_array_equal(q[:, [0, 2]], before[:, [0, 2]] + 0.5)
    back = turned.mix(np.eye(3), -0.5).mix(np.diag(present.factors(1, -0.5)))
    assert back.error == pytest.approx(present.error, rel=1e-9)


@pytest.mark.parametrize(('beside', 'count'), [(('friction',), 4), (('springs',), 3)])
def test_ordinary_effects_act_on_their_own_joint(present, beside, count):
    wider = replace(present, beside=beside)
    added = wider.regressor[:, :, present.regressor.shape[2] :].reshape(-1, 3, 3, count)
    for row, column in np.argwhere(~np.eye(3, dtype=bool)):
        assert not added[:, row, column].any()
    assert all(added[:, joint, joint].any(axis=0).all() for joint in range(3))
    assert wider.error <= present.error * (1.0 + 1e-9)


def test_products_of_scaled_torques_are_those_of_their_rows(present):
    scaled = present.scale(np.array([2.0, -0.5, 1.0])).scale(np.array([1.5, 1.0, -1.0]))
    anew = replace(scaled)  # from its rows
    assert scaled.origin[0] is present and anew.origin[0] is anew
    for name in ('error', 'cost', 'optimism'):
        assert getattr(scaled, name) == pytest.approx(getattr(anew, name), rel=1e-7), name
    for name in ('values', 'masses', 'held_out'):
        expected = getattr(anew, name)
        np.testing.assert_allclose(getattr(scaled, name), expected, rtol=1e-6, atol=1e-9)
    assert abs(scaled.cost - present.cost) > 0.1


def test_positions_out_of_reach_explain_nothing():
    delta = reading_of(*plant('delta3')).present
    assert (
        np.isfinite(delta.error)
        and delta.mix(np.eye(3), np.array([2.5, 0.0, 0.0])).error == np.inf
    )


def test_the_gain_is_the_mean_logarithm_of_squared_errors():
    before = np.array([[np.e - 1.0, 0.0], [np.e**3 - 1.0, 0.0]])
    after = np.zeros((2, 2))
    mean, certainty = gain(before, after)
    assert mean == pytest.approx(2.0)  # logarithms 1 and 3: standard error 1
    assert certainty == pytest.approx(2.0)
    assert gain(after, before)[0] == pytest.approx(-2.0)
    assert gain(before, before)[0] == 0.0
    tiny = gain(np.full((2, 2), 1e-4), np.zeros((2, 2)))[0]
    assert tiny < 1e-3  # errors below `size` count as `size`
