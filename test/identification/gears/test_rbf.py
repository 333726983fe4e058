# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.identification.gears.rbf import RbfFit, RbfMap, normalise_gaussians

RANDOM = np.random.default_rng(4)


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
