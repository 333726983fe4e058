# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.stats import multivariate_normal

from robodyn_ros.identification.gears.gmr import GmrFit, GmrMap, fit_mixture

RANDOM = np.random.default_rng(6)


def test_regression_is_the_conditional_mean_of_the_joint_density():
    """Integrated over the torque numerically, without Eq. 34 to 38."""
    roots = RANDOM.normal(size=(3, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(3)
    weights, means = np.array([0.5, 0.3, 0.2]), RANDOM.normal(size=(3, 3))
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
        [RANDOM.normal(centre, 0.3, (count, 2)) for centre, count in zip(centres, counts)]  # noqa: B905
    )
    weights, means, covariances = fit_mixture(samples, 3)
    order = [int(((means - centre) ** 2).sum(axis=1).argmin()) for centre in centres]
    np.testing.assert_allclose(weights[order], [0.6, 0.3, 0.1], atol=0.01)
    np.testing.assert_allclose(means[order], centres, atol=0.1)
    np.testing.assert_allclose(covariances, np.tile(0.09 * np.eye(2), (3, 1, 1)), atol=0.03)


def test_a_torque_that_never_changes_is_no_trouble():
    u = RANDOM.normal(size=(300, 2))
    found = GmrFit([(u, np.zeros(300))]).map()
    np.testing.assert_allclose(found.predict(u[:, None]), 0.0, atol=1e-9)
