# SPDX-License-Identifier: Apache-2.0
"""Times and durations of ROS messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.nodes.base.clock import seconds_of, to_duration, to_stamp


@given(st.floats(0.0, 1e9))
def test_a_duration_comes_back(seconds):
    assert seconds_of(to_duration(seconds)) == pytest.approx(seconds, abs=1e-9, rel=1e-15)


def test_the_ends():
    assert to_duration(float('inf')).sec == 2**31 - 1
    assert to_duration(float('-inf')).sec == -(2**31)
    assert seconds_of(to_duration(float('nan'))) == 0.0
    assert seconds_of(to_duration(-0.5)) == -0.5
    stamp = to_stamp(5_000_000_001)
    assert (stamp.sec, stamp.nanosec) == (5, 1)
