# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.identification.factors.joint_fit import fit_joint, root_mean_square


def regressor(seed=0, samples=200):
    """Five columns, of which the third is twice the first and the last does not act."""
    matrix = np.random.default_rng(seed).normal(size=(samples, 5)) * [1.0, 100.0, 1.0, 0.01, 0.0]
    matrix[:, 2] = 2.0 * matrix[:, 0]
    return matrix


def test_a_joint_alone_is_fitted_exactly():
    matrix, columns = regressor(), np.array([0, 1, 3])
    truth = np.array([2.0, -0.3, 50.0])
    used = np.arange(200) % 3 > 0
    fit = fit_joint(matrix, columns, matrix[:, columns] @ truth, used)
    np.testing.assert_allclose(fit.values, truth, rtol=1e-9)
    assert len(fit.rows) == used.sum() and fit.basis.shape[1] == 3
    assert root_mean_square(fit.rest) < 1e-12 and fit.sigma == pytest.approx(0.01 * fit.rms)


def test_dependent_columns_share_and_the_rest_is_what_no_values_explain():
    matrix, columns = regressor(1), np.array([0, 1, 2, 3])
    noise = np.random.default_rng(2).normal(size=200)
    torque = 3.0 * matrix[:, 0] + noise
    fit = fit_joint(matrix, columns, torque, np.ones(200, dtype=bool))
    assert fit.basis.shape[1] == 3
    expected = torque - matrix[:, columns] @ np.linalg.lstsq(matrix[:, columns], torque)[0]
    np.testing.assert_allclose(fit.rest, expected, atol=1e-9)
    assert fit.sigma == pytest.approx(np.linalg.norm(expected) / np.sqrt(197))


def test_too_few_samples_are_not_fitted():
    matrix = regressor()
    used = np.arange(200) < 11
    assert fit_joint(matrix, np.array([0, 1, 3]), matrix[:, 0], used) is None
    assert fit_joint(matrix, np.array([0, 1]), matrix[:, 0], used) is not None
