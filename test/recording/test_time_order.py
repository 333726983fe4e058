# SPDX-License-Identifier: Apache-2.0
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.recording.time_order import _heaviest_chain, in_order


def test_times_in_order_are_kept():
    time = np.array([0.0, 0.1, 0.1, 0.2, 5.0])
    assert in_order(time).all()


def test_of_two_clocks_the_one_with_more_samples_is_kept():
    time = np.r_[0.0:1.0:0.01, 50.0:50.3:0.01, 1.3:2.0:0.01]
    np.testing.assert_array_equal(in_order(time), time < 10.0)
    longer = np.r_[0.0:1.0:0.01, 50.0:53.0:0.01, 1.3:2.0:0.01]
    np.testing.assert_array_equal(in_order(longer), (longer < 1.0) | (longer > 10.0))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(1, 5)), min_size=1,
                max_size=9))  # fmt: skip
def test_no_other_chain_is_heavier(segments):
    start, length, weight = np.array(segments).T
    end = start + length
    found = _heaviest_chain(start.astype(float), end.astype(float), weight)

    def valid(rows):
        return (start[rows][1:] >= end[rows][:-1]).all()

    each = range(len(start))
    sets = [np.flatnonzero([k >> i & 1 for i in each]) for k in range(2 ** len(start))]
    assert valid(np.flatnonzero(found))
    assert weight[found].sum() == max(weight[rows].sum() for rows in sets if valid(rows))
