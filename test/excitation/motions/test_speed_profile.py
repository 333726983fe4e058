# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile

SIZES = st.floats(0.01, 30.0)
JERKS = st.one_of(st.just(np.inf), st.floats(0.1, 1e6))


def profile(distance=0.6, velocity=0.9, acceleration=10.0, jerk=np.inf):
    return SpeedProfile(
        distance=distance, max_velocity=velocity, max_acceleration=acceleration, max_jerk=jerk
    )


@given(SIZES, SIZES, SIZES, JERKS)
@settings(max_examples=150)
def test_reaches_the_end_exactly_within_every_limit(distance, velocity, acceleration, jerk):
    motion = profile(distance, velocity, acceleration, jerk)
    time = np.linspace(-0.1, motion.duration + 0.1, 2001)
    way, speed, change = motion.sample(time)
    assert (way[time <= 0.0] == 0.0).all()
    assert (way[time >= motion.duration] == distance).all()
    assert (speed[[0, -1]] == 0.0).all()
    assert (np.diff(way) >= -1e-12).all()
    assert speed.max() <= velocity * (1 + 1e-9)
    assert np.abs(change).max() <= acceleration * (1 + 1e-9)
    step = time[1] - time[0]
    # what a smooth quantity may change by in a step, and a little rounding
    assert np.abs(np.diff(way)).max() <= velocity * step * (1 + 1e-9) + 1e-12
    assert np.abs(np.diff(speed)).max() <= acceleration * step * (1 + 1e-9) + 1e-12
    if np.isfinite(jerk):
        assert np.abs(np.diff(change)).max() <= jerk * step * (1 + 1e-6) + 1e-9
        assert (np.abs(change[[0, -1]]) <= 1e-9 * acceleration).all()


def test_the_documents_line_of_600_mm_at_900_mm_per_s():
    trapezoid = profile()
    assert trapezoid.duration == pytest.approx(0.6 / 0.9 + 0.09)
    assert (trapezoid.cruise_time, trapezoid.jerk_time) == (pytest.approx(0.6 / 0.9 - 0.09), 0.0)
    way, speed, change = trapezoid.sample(np.array([0.045, 0.3, 0.0, trapezoid.duration]))
    np.testing.assert_allclose(speed, [0.45, 0.9, 0.0, 0.0])
    np.testing.assert_allclose(change, [10.0, 0.0, 10.0, 10.0 * -1.0])
    assert way[0] == pytest.approx(0.5 * 10 * 0.045**2)
    smooth = profile(jerk=500.0)
    assert smooth.duration == pytest.approx(0.6 / 0.9 + 0.09 + 0.02)
    assert smooth.jerk_time == pytest.approx(0.02)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'distance': 0.0}, 'distance of a speed profile must be a number above 0, got 0.0'),
        ({'velocity': -1.0}, 'max_velocity of a speed profile must be a number above 0, got -1.0'),
        ({'acceleration': np.inf}, 'max_acceleration .* got inf'),
        ({'jerk': np.nan}, 'max_jerk .* got nan'),
    ],
)
def test_refuses_limits_that_are_none(values, message):
    with pytest.raises(MotionError, match=message):
        profile(**values)


@given(SIZES, SIZES, SIZES, st.floats(0.1, 1e4))
@settings(max_examples=40)
def test_jerk_is_the_slope_of_the_acceleration(distance, velocity, acceleration, jerk):
    motion = profile(distance, velocity, acceleration, jerk)
    time = np.linspace(0.0, motion.duration, 1001)
    change, slope = motion.sample(time)[2], motion.jerk(0.5 * (time[1:] + time[:-1]))
    differences = np.diff(change) / time[1]
    # but for the steps in which one segment ends and the next begins
    same = np.abs(differences - slope) <= 1e-6 * jerk
    assert same.mean() > 0.98
    assert not profile(distance, velocity, acceleration).jerk(time).any()
