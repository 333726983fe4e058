# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.stats import multivariate_normal

from robodyn_ros.identification.gears.fits import GmrFit, RbfFit, fit_mixture
from robodyn_ros.identification.gears.maps import GmrMap, RbfMap, normalise_gaussians

RANDOM, MIXED = np.random.default_rng(4), np.random.default_rng(6)


def test_normalised_functions_by_their_formula():
    values = RANDOM.normal(size=(20, 2))
    centres, width = RANDOM.normal(size=(2, 4)), np.array([0.3, 0.7])
    got = normalise_gaussians(values, centres, width)
    for sample in range(20):
        for joint in range(2):
            size = [np.exp(-((values[sample, joint] - c) ** 2) / (2 * width[joint] ** 2))
                    for c in centres[joint]]  # fmt: skip
            np.testing.assert_allclose(got[sample, joint], np.array(size) / sum(size))


def test_a_map_over_a_grid_is_the_sum_over_all_its_points():
    """Eq. 28 point by point, where the map uses that a Gaussian is a product."""
    centres = (RANDOM.normal(size=(1, 3)), RANDOM.normal(size=(1, 4)))
    weights, widths = RANDOM.normal(size=(1, 3, 4)), np.array([[0.5, 0.8]])
    u = RANDOM.normal(size=(1, 1, 2))
    above = below = 0.0
    for i, first in enumerate(centres[0][0]):
        for k, second in enumerate(centres[1][0]):
            off = (u[0, 0] - [first, second]) / widths[0]
            psi = np.exp(-0.5 * off @ off)
            above, below = above + weights[0, i, k] * psi, below + psi
    np.testing.assert_allclose(RbfMap(centres, widths, weights).predict(u), [[above / below]])


def smooth(u):
    return np.sin(3.0 * u[:, 0]) * u[:, 1] + 0.5 * u[:, 2]


def test_a_smooth_function_is_found_again_on_other_samples():
    u = RANDOM.uniform(-1, 1, (4000, 3))
    fit = RbfFit([(u[:2000], smooth(u[:2000])), (u[2000:], smooth(u[2000:]))])
    other = RANDOM.uniform(-0.9, 0.9, (500, 3))
    for found in (fit.map(), fit.map(without=1)):
        error = found.predict(other[:, None])[:, 0] - smooth(other)
        assert np.sqrt(np.mean(error**2)) < 0.1 * np.std(smooth(other))


def test_regression_is_the_conditional_mean_of_the_joint_density():
    """Integrated over the torque numerically, without Eq. 34 to 38."""
    roots = MIXED.normal(size=(3, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(3)
    weights, means = np.array([0.5, 0.3, 0.2]), MIXED.normal(size=(3, 3))
    u = np.array([0.3, -0.4])
    torque = np.linspace(-40, 40, 40_001)
    points = np.column_stack([np.broadcast_to(u, (len(torque), 2)), torque])
    density = sum(
        weight * multivariate_normal(mean, covariance).pdf(points)
        for weight, mean, covariance in zip(weights, means, covariances, strict=True)
    )
    expected = (density * torque).sum() / density.sum()
    found = GmrMap(weights[None], means[None], covariances[None])
    np.testing.assert_allclose(found.predict(u[None, None]), [[expected]], rtol=1e-6)
    assert np.isfinite(found.predict(1e3 * u[None, None])).all()  # no density there


def test_a_mixture_is_found_again():
    centres = np.array([[-2.0, 0.0], [2.0, 1.0], [0.0, -2.0]])
    counts = [600, 300, 100]
    samples = np.concatenate(
        [MIXED.normal(centre, 0.3, (count, 2)) for centre, count in zip(centres, counts)]  # noqa: B905
    )
    weights, means, covariances = fit_mixture(samples, 3)
    order = [int(((means - centre) ** 2).sum(axis=1).argmin()) for centre in centres]
    np.testing.assert_allclose(weights[order], [0.6, 0.3, 0.1], atol=0.01)
    np.testing.assert_allclose(means[order], centres, atol=0.1)
    np.testing.assert_allclose(covariances, np.tile(0.09 * np.eye(2), (3, 1, 1)), atol=0.03)


def test_a_torque_that_never_changes_is_no_trouble():
    u = MIXED.normal(size=(300, 2))
    found = GmrFit([(u, np.zeros(300))]).map()
    np.testing.assert_allclose(found.predict(u[:, None]), 0.0, atol=1e-9)
