# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import stats

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.fit.least_squares import estimate

TRUE = np.array([2.0, -1.0, 0.5, 3.0])
SIGMA = np.array([0.1, 2.0])


def rows(samples, seed, sigma=SIGMA, scale=(1.0, 1.0, 100.0, 0.01)):
    """Regressors and torques of two joints; the second does not feel the first column."""
    random = np.random.default_rng(seed)
    result = []
    for joint, spread in enumerate(sigma):
        matrix = random.normal(size=(samples, 4)) * scale
        matrix[:, :joint] = 0.0
        result.append((matrix, matrix @ TRUE + spread * random.normal(size=samples)))
    return result


def factors(data):
    result = []
    for joint, (matrix, torque) in enumerate(data):
        columns = np.arange(joint, 4)
        triangle = np.linalg.qr(np.column_stack([matrix[:, columns], torque]), mode='r')
        result.append(JointFactor(columns=columns, triangle=triangle, samples=len(torque)))
    return result


def test_error_of_other_values_holds_the_covariance_and_the_distance():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=(50, 3)), random.normal(size=50)])
    fit = estimate([JointFactor(np.arange(3), np.linalg.qr(rows, mode='r'), 50)], 3)
    np.testing.assert_array_equal(fit.error_of(fit.values), fit.covariance)
    shift = np.array([0.1, 0.0, -0.2])
    expected = fit.covariance + shift[:, None] * shift
    np.testing.assert_allclose(fit.error_of(fit.values + shift), expected)


def test_ols_is_least_squares_of_all_rows():
    data = rows(300, 0)
    fit = estimate(factors(data), 4, estimator='ols')
    matrix = np.vstack([a for a, _ in data])
    expected = np.linalg.lstsq(matrix, np.concatenate([y for _, y in data]), rcond=None)[0]
    np.testing.assert_allclose(fit.values, expected, rtol=1e-10)
    assert fit.condition_number == pytest.approx(np.linalg.cond(matrix), rel=1e-9)
    scaled = matrix / np.linalg.norm(matrix, axis=0)
    assert fit.condition_number_scaled == pytest.approx(np.linalg.cond(scaled), rel=1e-9)


def test_wls_is_least_squares_of_rows_divided_by_each_joints_residual():
    data = rows(300, 1)
    fit = estimate(factors(data), 4)
    weighted = [(a / s, y / s) for (a, y), s in zip(data, fit.sigma, strict=True)]
    matrix = np.vstack([a for a, _ in weighted])
    expected = np.linalg.lstsq(matrix, np.concatenate([y for _, y in weighted]), rcond=None)[0]
    np.testing.assert_allclose(fit.values, expected, rtol=1e-9)
    np.testing.assert_allclose(fit.sigma, SIGMA, rtol=0.1)
    expected_covariance = np.linalg.inv(matrix.T @ matrix)
    scale = np.sqrt(np.outer(*[np.diag(expected_covariance)] * 2))
    np.testing.assert_allclose(fit.covariance / scale, expected_covariance / scale, atol=1e-7)
    assert 1 < fit.iterations < 20


def test_standard_deviations_cover_the_truth_with_independent_noise():
    hits = []
    for seed in range(120):
        fit = estimate(factors(rows(30, seed)), 4)
        hits.append(np.abs(fit.values - TRUE) < stats.norm.ppf(0.975) * fit.stddevs)
    assert 0.91 < np.mean(hits) < 0.97


def test_dependent_columns_are_found_and_named():
    data = rows(200, 3)
    for matrix, _ in data:
        matrix[:, 3] = 0.02 * matrix[:, 2]
    fit = estimate(factors(data), 4)
    assert fit.unseen.shape == (4, 1)
    direction = fit.unseen[:, 0] / fit.unseen[3, 0]
    np.testing.assert_allclose(direction, [0, 0, -0.02, 1], atol=1e-9)
    np.testing.assert_array_equal(np.isnan(fit.stddevs), [False, False, True, True])
    assert fit.condition_number_scaled > 1e12
    assert np.abs(fit.values[:2] - TRUE[:2]).max() < 0.5


def test_fewer_rows_than_columns_leave_directions_unseen():
    fit = estimate(factors(rows(1, 6)), 4)
    assert fit.unseen.shape == (4, 2) and np.isfinite(fit.values).all()


def test_a_joint_without_samples_does_not_count():
    data = factors(rows(100, 7))
    empty = JointFactor(columns=np.arange(2), triangle=np.zeros((0, 3)), samples=0)
    alone = estimate(data, 4)
    np.testing.assert_allclose(estimate([*data, empty], 4).values, alone.values, rtol=1e-8)


def test_unusable_input_is_refused():
    empty = JointFactor(columns=np.arange(2), triangle=np.zeros((0, 3)), samples=0)
    with pytest.raises(IdentificationError, match='no joint has a moving sample'):
        estimate([empty], 2)
