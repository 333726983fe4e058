# SPDX-License-Identifier: Apache-2.0
"""Via-points joined by joint moves."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from motions import JOINTS, assert_derivatives, assert_rest_at_ends, limits

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.excitation.trajectory import Chain

POINTS = [[0.0, 0.0, 0.0], [1.0, -0.5, 0.1], [0.2, 0.8, 0.1], [-1.0, 0.8, 2.0]]


def moves(**changes):
    arguments = {'joints': JOINTS, 'points': POINTS, 'durations': [1.0, 2.0, 1.5]}
    return JointMoves(**{**arguments, **changes})


@pytest.mark.parametrize('rise', [0.0, 0.25, 0.5])
@pytest.mark.parametrize('fly_by', [0.0, 0.6, 1.0])
def test_is_a_motion_from_rest_to_rest_through_or_past_its_points(rise, fly_by):
    motion = moves(rise=rise, fly_by=fly_by)
    assert_derivatives(motion)
    assert_rest_at_ends(motion, acceleration=rise > 0.0)
    ends = motion.sample(np.array([0.0, motion.duration])).position
    np.testing.assert_allclose(ends, [POINTS[0], POINTS[-1]], atol=1e-12)
    stops = motion.sample(motion.schedule.ends[:-1])
    if fly_by == 0.0:
        assert motion.duration == pytest.approx(4.5)
        np.testing.assert_allclose(stops.position, POINTS[1:-1], atol=1e-12)
        np.testing.assert_allclose(stops.velocity, 0.0, atol=1e-12)
    else:
        overlaps = np.minimum([1.0, 2.0], [2.0, 1.5]) / 3.0 * fly_by
        assert motion.duration == pytest.approx(4.5 - overlaps.sum())
        assert np.abs(stops.velocity).max() > 0.1


NUMBERS = st.floats(-2.0, 2.0)


@settings(max_examples=60)
@example(points=[(0, 0, 0), (1, 0, 0), (0.25, 0, 0), (0, 0, 0)], rise=0, fly_by=1, jerk=np.inf)
@given(
    points=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=6),
    rise=st.sampled_from([0.0, 0.2, 0.5]),
    fly_by=st.sampled_from([0.0, 0.5, 1.0]),
    jerk=st.sampled_from([np.inf, 60.0]),
)
def test_within_limits_keeps_them_at_all_times_and_uses_them(points, rise, fly_by, jerk):
    points = np.array(points)
    points = points[np.append(True, (np.abs(np.diff(points, axis=0)) > 0.02).any(axis=1))]
    if len(points) < 2 or (np.abs(np.diff(points, axis=0)).max(axis=1) < 0.02).any():
        return
    given_limits = limits(velocity=1.5, acceleration=4.0, position=2.0001, jerk=jerk)
    motion = JointMoves.within(given_limits, points=points, rise=rise, fly_by=fly_by)
    check_motion(motion, given_limits)
    grid = motion.grid(1e-3)
    shares = [np.abs(grid.velocity) / 1.5, np.abs(grid.acceleration) / 4.0]
    if rise > 0.0 and jerk < np.inf:
        jerks = np.abs(np.diff(grid.acceleration, axis=0)) / np.diff(grid.time)[:, None]
        assert jerks.max() <= 2.0 * jerk if fly_by else jerks.max() <= jerk
        shares.append(jerks / jerk)
    # In a fly-by two moves add up, and the worst of all ways to add up keeps the limit.
    assert max(share.max() for share in shares) > (0.4 if fly_by else 0.85)


def test_a_joint_that_turns_back_in_a_fly_by_accelerates_less():
    given_limits, points = (
        limits(velocity=1.0, acceleration=4.0),
        [[0.0] * 3, [1.0] * 3, [0.0] * 3],
    )
    bare = JointMoves.within(given_limits, points=points, fly_by=0.0, rise=0.0)
    # both peaks add in full
    soft = JointMoves.within(given_limits, points=points, fly_by=1.0, rise=0.0)
    assert np.abs(bare.grid(1e-3).acceleration).max() == pytest.approx(4.0, rel=3e-3)
    assert np.abs(soft.grid(1e-3).acceleration).max() == pytest.approx(4.0, rel=3e-3)
    assert soft.ramp[0] * soft.durations[0] == pytest.approx(0.5, rel=1e-2)
    on = JointMoves.within(given_limits, points=[[0.0] * 3, [1.0] * 3, [2.0] * 3], fly_by=1.0)
    assert np.abs(np.diff(on.grid(1e-3).velocity[400:-400], axis=0)).max() < 1e-9


def test_a_peak_between_two_samples_of_the_check_is_seen():
    """Triangles of acceleration 3 ms wide, in a motion that is checked every millisecond."""
    motion = JointMoves(
        joints=JOINTS, points=[[0.0] * 3, [1.0] * 3, [1.001] * 3], durations=[4.0, 0.006],
        ramp=[0.3, 0.5], rise=0.5,
    )  # fmt: skip
    # half of the way while the speed rises as two parabolas
    peak = 2.0 * 0.001 / 0.003**2
    times = np.linspace(0.0, motion.duration, 4007)
    assert np.abs(motion.sample(times).acceleration).max() < 0.7 * peak
    check_motion(motion, limits(acceleration=peak * 1.001))
    for trajectory in (motion, Chain(parts=[motion])):
        with pytest.raises(MotionError, match='reaches the acceleration'):
            check_motion(trajectory, limits(acceleration=peak * 0.99))


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'points': POINTS[:1]}, r'at least 2 rows of 3 values.* got the shape \(1, 3\)'),
        ({'points': [[0.0] * 3, [np.nan] * 3]}, 'via-points must be finite'),
        ({'points': 'here'}, 'via-points must be numbers'),
        ({'durations': [1.0]}, 'durations must have 3 values, got 1'),
        ({'durations': [1.0, -1.0, 1.0]}, 'duration of a move must be a number above 0, got -1.0'),
        ({'ramp': 0.7}, 'ramp of a move must be a number above 0 and at most 0.5'),
        ({'fly_by': [0.1]}, 'fly_by must have 2 values, one for each via-point'),
    ],
)
def test_refuses_with_one_sentence(change, words):
    with pytest.raises(MotionError, match=words):
        moves(**change)


def test_refuses_moves_that_are_none_or_that_nothing_limits():
    with pytest.raises(MotionError, match='via-point 1 is equal to the previous one'):
        JointMoves.within(limits(), points=[[0.0] * 3, [0.0] * 3])
    endless = limits(velocity=np.inf, acceleration=np.inf)
    with pytest.raises(MotionError, match='all are infinite'):
        JointMoves.within(endless, points=POINTS)
