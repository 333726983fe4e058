# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.identification.factors.shift_search import best_shift


@pytest.mark.parametrize('true', [-2.3, 0.0, 1.7])
def test_the_shift_of_the_smallest_residual_is_found_between_samples(true):
    def residual(shift):
        return (shift - true) ** 2

    shifts = np.arange(-5, 6)
    assert best_shift(residual(shifts), -5, residual) == pytest.approx(true, abs=1e-5)


def test_a_shift_at_the_end_of_the_range_is_none():
    assert best_shift(np.array([0.0, 1.0, 2.0]), 0, float) is None
    assert best_shift(np.array([2.0, 1.0, 0.0]), 0, float) is None
