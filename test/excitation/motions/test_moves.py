# SPDX-License-Identifier: Apache-2.0
"""Moves one after the other."""

import numpy as np
import pytest

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.moves import Schedule, fly_by_shares, shape_profile


def test_a_shaped_profile_has_the_duration_and_ramps_asked_for():
    for duration, ramp, rise in ((2.0, 0.25, 0.0), (0.3, 0.5, 0.5), (5.0, 0.1, 0.2)):
        profile = shape_profile(duration, ramp, rise)
        assert profile.duration == pytest.approx(duration, rel=1e-12)
        assert profile.ramp_time == pytest.approx(ramp * duration, rel=1e-12)
        assert profile.jerk_time == pytest.approx(rise * ramp * duration, rel=1e-12)
        time = np.linspace(0.0, duration, 20_001)
        way, speed, change = profile.sample(time)
        assert way[-1] == 1.0
        # by the definition of a ramp's shape, with no formula in common
        half = np.interp(0.5 * ramp * duration, time, speed)
        assert half == pytest.approx(0.5 * speed.max(), rel=1e-6)
        if rise > 0.0:
            flat = np.interp(rise * ramp * duration, time, change)
            assert flat == pytest.approx(change.max(), rel=1e-3)


def test_with_full_fly_by_equal_moves_go_on_at_constant_speed():
    profiles = [shape_profile(1.0, 0.3, 0.3)] * 3
    schedule = Schedule(profiles, [1.0, 1.0])
    assert schedule.duration == pytest.approx(3.0 - 2 * 0.3)
    time = np.linspace(0.31, schedule.duration - 0.31, 501)
    total = np.zeros((2, len(time)))
    for _, rows, way, speed, _ in schedule.active(time):
        total[:, rows] += way, speed
    np.testing.assert_allclose(total[1], 1.0 / 0.7, rtol=1e-12)
    np.testing.assert_allclose(
        schedule.done(time) + total[0], total[0][0] + (time - time[0]) / 0.7, rtol=1e-12
    )


def test_refuses_with_a_sentence():
    with pytest.raises(MotionError, match='fly_by must have 2 values, one for each via-point'):
        fly_by_shares([0.5], 2)
    with pytest.raises(MotionError, match='fly_by must be numbers'):
        fly_by_shares('all', 2)
    assert fly_by_shares([0.0, 1.0], 2).tolist() == [0.0, 1.0]
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(MotionError, match=r'fly_by must be a share in \[0, 1\], got'):
            fly_by_shares([0.5, wrong], 2)
    for change, words in (
        ({'duration': 0.0}, 'duration of a move must be a number above 0, got 0.0'),
        ({'ramp': 0.6}, 'ramp of a move must be a number above 0 and at most 0.5'),
        ({'rise': -0.1}, 'rise of a move'),
        ({'duration': np.nan}, 'duration of a move'),
    ):
        with pytest.raises(MotionError, match=words):
            shape_profile(**{'duration': 1.0, 'ramp': 0.3, 'rise': 0.2, **change})
