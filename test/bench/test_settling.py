# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from settling import group_error, settling

from robodyn_ros.errors import ControlError

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


def test_what_lies_before_the_end_of_the_profile_does_not_count():
    error = np.append(np.full(50, 9.0), np.zeros(50))
    assert settle(error, end=0.1).time == pytest.approx(0.01)
    assert settle(error, end=0.05).entered == pytest.approx(0.05)


def test_an_error_that_comes_back_begins_a_new_window_or_is_told():
    error = np.zeros(100)
    error[[2, 4, 60]] = 1.0
    found = settle(error)
    assert found.entered == pytest.approx(5 * PERIOD)
    assert found.last_outside == pytest.approx(60 * PERIOD)
    assert settle(error, duration=0.0).time == 0.0
    assert settle(error, duration=0.108).entered == pytest.approx(5 * PERIOD)
    assert np.isnan(settle(error, duration=0.15).time)


def test_the_limit_itself_is_within_and_a_number_that_is_none_is_not():
    assert settle(np.full(50, 0.5)).entered == 0.0
    assert np.isnan(settle(np.full(50, np.nan)).entered)
    assert np.isnan(settle(np.full(50, 0.6)).time)
    assert settle(np.full(50, 0.6)).last_outside == pytest.approx(49 * PERIOD)


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


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'end': 7.0}, 'there is no sample after the motion ended at 7 s'),
        ({'tolerance': 0.0}, 'settling needs a tolerance above 0'),
        ({'duration': -1.0}, 'a duration not below 0, got 0.5 and -1.0'),
    ],
)
def test_refuses_with_one_sentence(change, message):
    with pytest.raises(ControlError, match=message):
        settle(np.zeros(5), **change)
