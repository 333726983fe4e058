# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from settling import group_error, settling

PERIOD = 0.002


def settle(error, *, end=0.0, tolerance=0.5, duration=0.01):
    time = PERIOD * np.arange(len(error))
    return settling(time, np.array(error), end=end, tolerance=tolerance, duration=duration)


def test_a_decaying_error_settles_when_the_window_has_lasted():
    time = PERIOD * np.arange(500)
    found = settle(np.exp(-time / 0.05), end=0.02, tolerance=0.01)
    crossing = 0.05 * np.log(100.0)  # exp(-t / 0.05) = 0.01
    assert found.entered == pytest.approx(crossing - 0.02, abs=PERIOD)
    assert found.time == pytest.approx(found.entered + 0.01)
    assert found.last_outside == pytest.approx(found.entered - PERIOD)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 12))
def test_is_the_first_window_a_plain_search_finds(outside, cycles):
    found = settle(np.array(outside, dtype=float), duration=cycles * PERIOD)
    expected = np.nan
    for begin in range(len(outside) - cycles):
        if not any(outside[begin : begin + cycles + 1]):
            expected = begin * PERIOD
            break
    assert found.entered == pytest.approx(expected, nan_ok=True)


def test_errors_are_combined_orthogonally_in_degrees_and_millimetres():
    error = np.array([[np.deg2rad(3.0), -0.004], [0.0, 0.0]])
    np.testing.assert_allclose(group_error(error, [False, True]), [5.0, 0.0])
