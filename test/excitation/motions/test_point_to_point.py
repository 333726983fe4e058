# SPDX-License-Identifier: Apache-2.0
"""Moves from rest to rest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, assert_derivatives, assert_rest_at_ends, limits

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint

places = st.lists(st.floats(-2.9, 2.9), min_size=3, max_size=3)
jerks = st.sampled_from([np.inf, 20.0, 300.0])


@settings(max_examples=60)
@given(places, places, st.floats(0.1, 10), st.floats(0.1, 50), jerks)
def test_as_fast_as_the_limits_allow_and_no_faster(start, target, velocity, acceleration, jerk):
    bounds = limits(velocity=velocity, acceleration=acceleration, jerk=jerk)
    move = PointToPoint.within(bounds, start=start, target=target)
    check_motion(move, bounds)
    assert_rest_at_ends(move)
    grid = move.sample(np.linspace(0.0, move.duration, 4001))
    np.testing.assert_allclose(grid.position[-1], target, atol=1e-12)
    third = np.diff(grid.acceleration, axis=0) / (move.duration / 4000)
    used = [
        np.abs(grid.velocity).max() / velocity,
        np.abs(grid.acceleration).max() / acceleration,
        np.abs(third).max() / jerk,
    ]
    assert max(used) <= 1.0
    if move.duration > 0.1:
        assert max(used) > 0.99  # one limit is reached


@settings(max_examples=20)
@given(places, places)
def test_derivatives_and_no_overshoot(start, target):
    move = PointToPoint(joints=JOINTS, start=start, target=target, duration=1.7)
    assert_derivatives(move)
    way = np.sign(np.subtract(target, start)) * np.diff(move.grid(0.01).position, axis=0)
    assert (way >= -1e-12).all()


@pytest.mark.parametrize('duration', [0.0, -1.0, np.nan, np.inf])
def test_duration_must_be_positive(duration):
    with pytest.raises(MotionError, match='duration of a move must be above 0 s'):
        PointToPoint(joints=['a'], start=[0.0], target=[1.0], duration=duration)
