# SPDX-License-Identifier: Apache-2.0
"""Coming to rest from anywhere in a motion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motions import assert_derivatives, random_fourier, random_sine

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.stopping import SMOOTH, StoppedMotion

MAKERS = (random_sine, random_fourier)
shares = st.floats(0.0, 1.0)
headroom = st.sampled_from([1.0005, 1.05, 1.5])


def stop(seed, share, room, follow=0.0):
    motion = MAKERS[seed % 2](seed)
    limit = np.abs(motion.grid(1e-3).acceleration).max(axis=0) * room
    time = share * motion.duration
    return (
        motion,
        limit,
        StoppedMotion(motion=motion, time=time, max_acceleration=limit, follow=follow),
    )


@settings(max_examples=60)
@given(st.integers(0, 10**6), shares, headroom)
def test_within_acceleration_and_velocity_of_the_motion_and_then_at_rest(seed, share, room):
    motion, limit, stopped = stop(seed, share, room)
    grid = stopped.grid(2e-4)
    assert (np.abs(grid.acceleration) <= limit * (1 + 1e-6)).all()
    assert (np.abs(grid.velocity) <= np.abs(motion.grid(1e-3).velocity).max(axis=0) * 1.001).all()
    end = stopped.sample(np.array([stopped.duration, stopped.duration + 1.0]))
    assert np.abs(end.velocity).max() < 1e-4
    assert_derivatives(stopped)


@settings(max_examples=40)
@given(st.integers(0, 10**6), shares, headroom)
def test_stays_on_the_path_and_is_nearly_as_quick_as_possible(seed, share, room):
    motion, limit, stopped = stop(seed, share, room)
    path = motion.grid(1e-3)
    for row in stopped.grid(0.02).position:
        assert np.abs(path.position - row).max(axis=1).min() < 5e-3
    speed = np.abs(motion.sample(np.array([share * motion.duration])).velocity[0])
    # No law within the limits can be quicker than this; other joints may hold it up.
    quickest = float((speed / limit).max())
    assert stopped.duration >= min(quickest, motion.duration * (1 - share)) * (1 - 1e-6)
    assert stopped.duration <= 4.0 * quickest + 10 * SMOOTH


def test_follows_the_motion_first():
    motion, _, stopped = stop(3, 0.4, 1.5, follow=0.25)
    time = np.linspace(0.0, 0.25, 40)
    expected, got = motion.sample(stopped.time + time), stopped.sample(time)
    np.testing.assert_allclose(got.position, expected.position, atol=1e-12)
    np.testing.assert_allclose(got.velocity, expected.velocity, atol=1e-9)
    assert stopped.duration > 0.25


def test_braking_sets_in_and_ends_without_a_step_of_acceleration():
    _, limit, stopped = stop(3, 0.4, 1.5)
    step = np.abs(np.diff(stopped.grid(1e-3).acceleration, axis=0))
    assert (step < 0.15 * limit).all()
    end = stopped.sample(np.array([stopped.duration])).acceleration
    assert (np.abs(end) < 0.15 * limit).all()


@pytest.mark.parametrize('limit', [[1.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0]])
def test_limits_must_be_usable(limit):
    with pytest.raises(MotionError, match='stopping needs 3 acceleration limits above 0'):
        StoppedMotion(motion=random_sine(0), time=1.0, max_acceleration=limit)
