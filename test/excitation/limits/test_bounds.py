# SPDX-License-Identifier: Apache-2.0
"""Limits met by scaling: gauges, their derivatives, and what a motion uses of its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import JOINTS, limits

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.family import FourierFamily
from robodyn_ros.excitation.limits.bounds import (
    ConservativeBounds,
    GridBounds,
    Margins,
    Room,
    compute_shares,
    scale_within,
)
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.point_to_point import PointToPoint

POSITION = np.array([0.2, -1.0, 1.5])
BOUNDS = limits(velocity=1.0, acceleration=2.0)
FAMILY = FourierFamily(joints=JOINTS, position=POSITION, duration=10.0, harmonics=4)
ROOM = Room.around(POSITION, BOUNDS)


@pytest.mark.parametrize('kind', [GridBounds, ConservativeBounds])
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.floats(0.01, 5.0))
def test_divided_by_its_gauge_every_motion_keeps_the_limits(kind, seed, size):
    x = size * np.random.default_rng(seed).normal(size=FAMILY.size)
    gauge, _ = kind(FAMILY, ROOM).gauge(x, 200.0)
    assert (gauge >= 1.0).all()
    check_motion(FAMILY.motion(x, 0.998 / gauge), BOUNDS)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.01, 5.0))
def test_scaled_motions_touch_their_limits_and_no_more(seed, size):
    x = size * np.random.default_rng(seed).normal(size=FAMILY.size)
    scale = scale_within(FAMILY, x, BOUNDS)
    motion = FAMILY.motion(x, scale)
    check_motion(motion, BOUNDS)
    most = np.max(list(compute_shares(motion, BOUNDS).values()), axis=0)
    assert (most <= 1.0).all()
    assert (most[scale < 1.0] > 1.0 - 1e-6).all()


def test_shares_of_a_known_motion():
    move = PointToPoint(joints=JOINTS, start=[0, 0, 0], target=[1.5, -0.6, 0.0], duration=4.0)
    used = compute_shares(move, BOUNDS)
    np.testing.assert_allclose(used['position'], [0.5, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(
        used['velocity'], [1.5 * 15 / 8 / 4, 0.6 * 15 / 8 / 4, 0], rtol=1e-6
    )
    np.testing.assert_allclose(
        used['acceleration'], np.array([1.5, 0.6, 0.0]) * 10 / np.sqrt(3) / 16 / 2, rtol=1e-5
    )


def test_margins_narrow_the_limits():
    narrow = Margins(position=0.1, velocity=0.2, acceleration=0.5, torque=0.3).narrow(BOUNDS)
    np.testing.assert_allclose(narrow.upper, 2.7)
    np.testing.assert_allclose(narrow.lower, -2.7)
    np.testing.assert_allclose(narrow.velocity, 0.8)
    np.testing.assert_allclose(narrow.acceleration, 1.0)
    np.testing.assert_allclose(narrow.effort, 70.0)
    endless = Margins(position=0.1).narrow(limits(position=np.inf))
    assert np.isinf(endless.upper).all()
    with pytest.raises(MotionError, match=r'velocity margin must be in \[0, 1\), got 1'):
        Margins(velocity=1.0)


def test_no_room_is_named():
    with pytest.raises(MotionError, match="joint 'b' has no room to move around 3 rad"):
        Room.around(np.array([0.0, 3.0, 0.0]), BOUNDS)
    with pytest.raises(MotionError, match="nothing limits the motion of joint 'a'"):
        Room.around(np.zeros(3), limits(np.inf, np.inf, np.inf))
