# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.recording.time_order import in_order


def test_of_two_clocks_the_one_with_more_samples_is_kept():
    time = np.r_[0.0:1.0:0.01, 50.0:50.3:0.01, 1.3:2.0:0.01]
    np.testing.assert_array_equal(in_order(time), time < 10.0)
    longer = np.r_[0.0:1.0:0.01, 50.0:53.0:0.01, 1.3:2.0:0.01]
    np.testing.assert_array_equal(in_order(longer), (longer < 1.0) | (longer > 10.0))


@pytest.mark.parametrize(('back', 'lost'), [(0.0125, 1), (0.0525, 5)])
def test_a_clock_that_was_set_back_costs_the_times_that_occur_twice(back, lost):
    time = np.arange(1000) * 0.01
    time[500:] -= back
    assert (~in_order(time)).sum() == lost


def test_late_messages_cost_one_sample_each_whatever_the_jitter():
    random = np.random.default_rng(0)
    time = 0.002 * (np.arange(10_000) + random.uniform(-0.3, 0.3, 10_000))
    for place in range(100, 10_000, 500):
        time[[place, place + 1]] = time[[place + 1, place]]
    assert (~in_order(time)).sum() == 20


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9))
def test_no_larger_set_is_in_order(values):
    time = np.array(values, dtype=float)
    kept = in_order(time)
    every = range(len(time))
    sets = [np.flatnonzero([k >> i & 1 for i in every]) for k in range(2 ** len(time))]
    assert (np.diff(time[kept]) >= 0.0).all()
    assert kept.sum() == max(len(rows) for rows in sets if (np.diff(time[rows]) >= 0.0).all())
