# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from scipy import signal
from simulation import arm, sines

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import acting_columns, condense, triangle
from robodyn_ros.identification.factors.passes import together
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.models.base_parameters import base_parameters


@pytest.fixture(scope='module')
def case():
    model, values = arm(random_urdf(4, 3))
    _, *motion = sines(4, 900)
    random = np.random.default_rng(0)
    torque = model.torque(*motion, values) + random.normal(size=(900, 4))
    used = random.uniform(size=torque.shape) < 0.8
    return model, tuple(motion), torque, used, base_parameters(model).columns


def gram(factor, width):
    """R^T R of a factor in all columns: what least squares sees of the data."""
    matrix, target = factor.rows(width)
    rows = np.column_stack([matrix, target])
    return rows.T @ rows


def expected_gram(model, motion, torque, used, columns, joint):
    keep = used[:, joint]
    matrix = model.regressor(*motion)[keep, joint][:, columns]
    rows = np.column_stack([matrix, torque[keep, joint]])
    return rows.T @ rows


def test_factors_hold_what_least_squares_needs(case):
    model, motion, torque, used, columns = case
    condensed = condense(model, motion, torque, used, columns)
    assert condensed.joints == model.joint_names
    np.testing.assert_array_equal(condensed.samples, used.sum(axis=0))
    for joint, factor in enumerate(condensed.factors):
        expected = expected_gram(model, motion, torque, used, columns, joint)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(gram(factor, len(columns)), expected, atol=1e-12 * scale)
        assert factor.triangle.shape == (len(factor.columns) + 1,) * 2
        norm = np.linalg.norm(torque[used[:, joint], joint])
        assert factor.torque_norm == pytest.approx(norm, rel=1e-12)


def test_factors_of_recordings_add(case):
    model, motion, torque, used, columns = case
    parts = [
        condense(model, tuple(q[rows] for q in motion), torque[rows], used[rows], columns)
        for rows in (slice(0, 180), slice(180, 500), slice(500, 900))
    ]
    whole = condense(model, motion, torque, used, columns).factors
    for a, b in zip(whole, together(parts).factors, strict=True):
        np.testing.assert_allclose(gram(a, len(columns)), gram(b, len(columns)), rtol=1e-9)
        assert a.samples == b.samples


def test_thinning_filters_regressor_and_torque_alike(case, monkeypatch):
    model, motion, torque, used, columns = case
    monkeypatch.setattr('robodyn_ros.identification.factors.condense.BLOCK_SIZE', 100)
    taps = signal.firwin(25, 0.2)
    thinning = Thinning(taps=taps, stride=3)
    condensed = condense(model, motion, torque, used, columns, thinning=thinning)
    regressor = model.regressor(*motion)[:, :, columns]
    for joint, factor in enumerate(condensed.factors):
        rows = np.column_stack([regressor[:, joint], torque[:, joint]])
        filtered = np.array([np.convolve(column, taps, 'valid') for column in rows.T]).T[::3]
        keep = used[12 : 900 - 12 : 3, joint]
        expected = filtered[keep].T @ filtered[keep]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(gram(factor, len(columns)), expected, atol=1e-12 * scale)
        assert factor.samples == keep.sum()


@pytest.mark.parametrize('samples', [24, 25, 27, 28, 29, 100])
def test_thinning_counts_what_it_returns(samples):
    thinning = Thinning(taps=np.ones(25) / 25, stride=3)
    count = thinning.count(samples)
    assert len(thinning.apply(np.zeros((samples, 2)))) == count
    assert len(range(samples)[thinning.centres(samples)]) == count
    if count:
        assert thinning.rows(0, count).stop <= samples


def test_outer_joints_feel_fewer_columns():
    model, _ = arm(random_urdf(4, 3, types=('revolute',)))
    columns = base_parameters(model).columns
    counts = [len(own) for own in acting_columns(model, columns)]
    assert counts == sorted(counts, reverse=True)
    names = [model.parameters[k].name for k in columns]
    last = [names[k] for k in acting_columns(model, columns)[-1]]
    assert all('4' in name for name in last)


def test_joint_without_samples_has_an_empty_factor(case):
    model, motion, torque, used, columns = case
    used = used.copy()
    used[:, 1] = False
    factor = condense(model, motion, torque, used, columns).factors[1]
    assert factor.samples == 0 and not factor.triangle.any() and factor.torque_norm == 0.0


def test_fewer_samples_than_the_low_pass_needs_are_refused(case):
    model, motion, torque, used, columns = case
    short, low_pass = tuple(values[:3] for values in motion), Thinning(np.ones(5) / 5.0)
    with pytest.raises(IdentificationError, match='cannot condense 3 samples'):
        condense(model, short, torque[:3], used[:3], columns, thinning=low_pass)


@pytest.mark.parametrize('heights', [(0,), (3,), (700, 0, 5, 1030)])
def test_triangle_has_the_products_of_the_rows(heights):
    random = np.random.default_rng(sum(heights))
    parts = [random.normal(size=(height, 40)) for height in heights]
    whole, start = np.vstack(parts), np.triu(random.normal(size=(40, 40)))
    found = triangle(parts)
    np.testing.assert_array_equal(found, np.triu(found))
    np.testing.assert_allclose(found.T @ found, whole.T @ whole, atol=1e-10)
    again = triangle(parts, start)
    np.testing.assert_allclose(again.T @ again, found.T @ found + start.T @ start, atol=1e-10)
    scale = random.uniform(size=len(whole))
    scaled = triangle([whole], start, scale=scale)
    rows = whole * scale[:, None]
    np.testing.assert_allclose(scaled.T @ scaled, rows.T @ rows + start.T @ start, atol=1e-10)


def test_rows_are_kept_where_they_are_asked_for(case):
    model, motion, torque, used, columns = case
    long = [np.tile(each, (40, 1)) for each in (*motion, torque, used)]
    whole = condense(model, long[:3], long[3], long[4], columns)
    few = condense(model, long[:3], long[3], long[4], columns, keep=False)
    assert whole.sample.complete and not few.sample.complete
    for one, other in zip(whole.sample.few().segments, few.sample.segments, strict=True):
        np.testing.assert_array_equal(one.used, other.used)
        for rows, same in zip(one.rows, other.rows, strict=True):
            np.testing.assert_array_equal(rows, same)
    for one, other in zip(whole.factors, few.factors, strict=True):
        np.testing.assert_array_equal(one.triangle, other.triangle)


def test_coupled_factor_is_the_direct_sum_over_samples(case):
    model, motion, torque, used, columns = case
    condensed = condense(model, motion, torque, np.ones_like(used), columns, coupled=True)
    whole, regressor = condensed.coupled, model.regressor(*motion)[:, :, columns]
    count, width = torque.shape[1], len(columns)
    weight = np.linalg.inv(np.cov(np.random.default_rng(0).normal(size=(count, 9))))
    information = np.einsum('tia,ij,tjb->ab', regressor, weight, regressor)
    side = np.einsum('tia,ij,tj->a', regressor, weight, torque)
    rows = [whole.rows(joint, width) for joint in range(count)]
    found = np.einsum('ita,ij,jtb->ab', np.array(rows), weight, np.array(rows))
    np.testing.assert_allclose(found[:-1, :-1], information, atol=1e-9 * information.max())
    np.testing.assert_allclose(found[:-1, -1], side, atol=1e-9 * np.abs(side).max())
