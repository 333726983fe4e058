# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy import signal

from robodyn_ros.identification.fit.correlation import correlation_length


def test_independent_residuals_have_correlation_length_one():
    noise = np.random.default_rng(0).normal(size=(20000, 2))
    np.testing.assert_allclose(correlation_length(noise, noise < 9.0), 1.0, atol=0.1)


@pytest.mark.parametrize('pole', [0.5, 0.9])
def test_first_order_noise_has_the_length_known_in_closed_form(pole):
    noise = np.random.default_rng(1).normal(size=100000)
    coloured = signal.lfilter([1.0], [1.0, -pole], noise)[:, None]
    length = correlation_length(coloured, np.ones_like(coloured, dtype=bool))
    np.testing.assert_allclose(length, (1 + pole) / (1 - pole), rtol=0.15)


def test_unused_samples_and_zero_residuals_do_no_harm():
    residual = np.zeros((100, 2))
    residual[50:, 1] = 1e6
    used = np.ones((100, 2), dtype=bool)
    used[50:, 1] = False
    np.testing.assert_array_equal(correlation_length(residual, used), [1.0, 1.0])
