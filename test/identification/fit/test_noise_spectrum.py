# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import signal
from scipy.linalg import toeplitz

from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.factors.row_sample import RowSample, RowSegment
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.fit.noise_spectrum import score_covariance

SAMPLES = 1200


def rows(seed, pole, count=2):
    """Rows [Y | tau] of joints with a slow, a fast and a common column, noise of variance 1."""
    random = np.random.default_rng(seed)
    time = np.arange(SAMPLES)
    noise = signal.lfilter(
        [np.sqrt(1.0 - pole**2)], [1.0, -pole], random.normal(size=(3000, 2)), axis=0
    )[-SAMPLES:]
    matrices = []
    for joint in range(count):
        slow, fast = np.sin(0.02 * time + joint), np.sin(1.3 * time + joint)
        both = np.sign(np.sin(0.05 * time)) * (1.0 + joint)
        matrix = np.column_stack([slow, fast, both])
        matrices.append(np.column_stack([matrix, matrix.sum(axis=1) + noise[:, joint]]))
    return matrices


def sampled(matrices, used=None):
    used = np.ones((SAMPLES, len(matrices)), dtype=bool) if used is None else used
    columns = tuple(np.arange(3) for _ in matrices)
    kept = tuple(m * used[:, k, None] for k, m in enumerate(matrices))
    factors = [
        JointFactor(columns[k], np.linalg.qr(m[used[:, k]], mode='r'), int(used[:, k].sum()))
        for k, m in enumerate(matrices)
    ]
    return RowSample(columns, 3, (RowSegment(kept, used, np.zeros(used.shape)),), SAMPLES), factors


@pytest.mark.parametrize('pole', [0.0, 0.6, 0.95])
def test_scores_are_what_the_autocovariance_makes_of_the_columns(pole):
    matrices = rows(0, pole)
    sample, factors = sampled(matrices)
    scores = score_covariance(sample, estimate(factors, 3))
    correlation = toeplitz(pole ** np.arange(SAMPLES))
    for joint, matrix in enumerate(matrices):
        columns = matrix[:, :3]
        expected = columns.T @ correlation @ columns
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        np.testing.assert_allclose(scores[joint, joint] / scale, expected / scale, atol=0.4)


@pytest.mark.parametrize('poles', [(0.0, 0.0), (0.9, 0.9), (0.9, 0.3)])
def test_scores_of_two_joints_are_those_of_errors_that_go_together(poles):
    """Innovations of the second joint are -0.8 of the first's: the sum over all lags."""
    matrices, random = rows(3, 0.0), np.random.default_rng(6)
    innovations = random.normal(size=(SAMPLES + 500, 2)) @ [[1.0, -0.8], [0.0, 0.6]]
    colours = []
    for joint, pole in enumerate(poles):
        noise = signal.lfilter([1.0], [1.0, -pole], innovations[:, joint])[500:]
        matrices[joint][:, -1] = matrices[joint][:, :3].sum(axis=1) + noise
        response = pole ** np.arange(200)
        colours.append(response / np.linalg.norm(response))
    lags = np.arange(SAMPLES)
    cross = -0.8 * signal.correlate(colours[0], colours[1], method='direct')
    middle = len(colours[1]) - 1  # cross[middle + k]: first joint k samples later
    found = np.clip(lags[:, None] - lags + middle, 0, len(cross) - 1)
    expected = matrices[0][:, :3].T @ cross[found] @ matrices[1][:, :3]
    sample, factors = sampled(matrices)
    scores = score_covariance(sample, estimate(factors, 3))
    np.testing.assert_array_equal(scores[0, 1], scores[1, 0].T)
    size = np.sqrt(np.outer(np.diag(scores[0, 0]), np.diag(scores[1, 1])))
    np.testing.assert_allclose(scores[0, 1] / size, expected / size, atol=0.25)
    assert np.abs(expected / size).max() > 0.6


@pytest.mark.parametrize('pole', [0.0, 0.9])
def test_standard_deviations_are_those_seen_over_many_runs(pole):
    random = np.random.default_rng(5)
    used = random.uniform(size=(SAMPLES, 2)) < 0.9
    values, stddevs = [], []
    for seed in range(60):
        sample, factors = sampled(rows(seed, pole), used)
        fit = estimate(factors, 3, scores=score_covariance(sample, estimate(factors, 3)))
        values.append(fit.values)
        stddevs.append(fit.stddevs)
    np.testing.assert_allclose(np.mean(stddevs, axis=0), np.std(values, axis=0), rtol=0.3)


def test_decoupled_joints_have_scores_of_their_mixture():
    matrices = rows(1, 0.6)
    sample, _ = sampled(matrices)
    mixing = np.array([[1.0, 0.0], [-0.7, 1.0]])
    second = matrices[1] - 0.7 * matrices[0]
    mixed, own = sampled([matrices[0], second])
    fit = estimate(own, 3)
    one, other = score_covariance(sample, fit, mixing=mixing), score_covariance(mixed, fit)
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
