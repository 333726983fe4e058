# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import SIX_AXIS
from scipy.stats import multivariate_normal

from robodyn_ros.control.collision.contact import FORCE, FORCES, LEVER, RADIUS, ContactEstimator
from robodyn_ros.models.serial.jacobians import LinkJacobians
from robodyn_ros.models.serial.urdf import UrdfModel

JACOBIANS = LinkJacobians(UrdfModel.from_file(SIX_AXIS))
ESTIMATOR = ContactEstimator(JACOBIANS)
SIGMA = 0.2 * np.array([10.0, 15.0, 6.0, 1.0, 0.9, 0.5])
BENT = np.array([0.3, 0.5, -0.7, 0.8, 0.9, 0.2])


def test_wrench_and_covariance_are_those_of_the_information_form():
    """Oracle: (J S^-1 J^T + P^-1)^-1, where the code has Kalman's form."""
    error = np.array([12.0, -30.0, 9.0, 2.0, -4.0, 0.3])
    found = ESTIMATOR.estimate(BENT, error, SIGMA)
    tool = JACOBIANS.at(BENT).tool
    weighted = tool / SIGMA**2
    prior = np.repeat([FORCE, FORCE * LEVER], 3) ** 2
    covariance = np.linalg.inv(weighted @ tool.T + np.diag(1.0 / prior))
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.wrench, covariance @ weighted @ error, rtol=1e-6)


def test_what_no_joint_feels_is_not_claimed():
    found = ESTIMATOR.estimate(np.zeros(6), np.zeros(6), SIGMA)
    # Stretched out along x: no joint has a lever arm against a moment about z but the first.
    assert found.observable[0] > 0.9
    alone = ContactEstimator(LinkJacobians(UrdfModel.from_file(SIX_AXIS, joints=['joint1'])))
    seen = alone.estimate(np.zeros(1), np.array([30.0]), np.array([2.0]))
    np.testing.assert_allclose(seen.observable[[0, 2, 3, 4]], 0.0, atol=1e-12)
    np.testing.assert_allclose(seen.wrench[[0, 2, 3, 4]], 0.0, atol=1e-12)
    # 100 N at 3 cm are 3 Nm, measured with 2 Nm of noise.
    assert seen.wrench[5] == pytest.approx(30.0 * 3.0**2 / (3.0**2 + 2.0**2))


def test_links_have_the_likelihood_of_a_force_with_a_random_lever_arm():
    arm = JACOBIANS.at(BENT)
    error = np.linspace(-20.0, 30.0, 6)
    likelihood = [
        np.mean([
            multivariate_normal.pdf(
                error,
                cov=np.diag(SIGMA**2)
                + force**2 * (point.T @ point + 2 * RADIUS**2 * turn.T @ turn),
            )
            for point in points
            for force in FORCES
        ])
        for points, turn in zip(arm.linear, arm.angular, strict=True)
    ]  # fmt: skip
    found = ESTIMATOR.estimate(BENT, error, SIGMA).probability
    np.testing.assert_allclose(found, np.array(likelihood) / np.sum(likelihood), rtol=1e-6)


@pytest.mark.parametrize('link', [3, 4, 5])
def test_link_is_the_last_joint_loaded(link):
    arm = JACOBIANS.at(BENT)
    side = np.cross(arm.angular[link, :, link], [0.3, 0.5, 0.8])
    moment = arm.angular[link].T @ (5.0 * arm.angular[link, :, link])
    error = arm.linear[link, 1].T @ (80.0 * side / np.linalg.norm(side)) + moment
    found = ESTIMATOR.estimate(BENT, error, SIGMA)
    assert found.link == link
    assert found.confidence == found.probability.max()
    assert found.probability.sum() == pytest.approx(1.0)
    assert found.confidence > 0.6
