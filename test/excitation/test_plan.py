# SPDX-License-Identifier: Apache-2.0
"""Move to the start, pause, motion; and its points."""

import numpy as np
import pytest
from motions import JOINTS, assert_rest_at_ends, limits, random_fourier, random_sine

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.motions.spline import SplineTrajectory
from robodyn_ros.excitation.plan import distance_between, plan_excitation, points_of

WIDE = limits(velocity=20.0, acceleration=200.0)


def test_plan_leads_from_where_the_robot_is_through_the_motion():
    motion = random_sine(7)
    here = np.array([0.5, -0.5, 0.1])
    bounds = limits(velocity=4.0, acceleration=40.0)
    plan = plan_excitation(motion, here, bounds, pause=0.4)
    check_motion(plan.trajectory, bounds)
    assert_rest_at_ends(plan.trajectory)
    np.testing.assert_allclose(plan.trajectory.sample(np.zeros(1)).position[0], here)
    assert plan.duration == pytest.approx(plan.begin + motion.duration)
    pause = plan.trajectory.sample(np.linspace(plan.begin - 0.4, plan.begin, 5))
    np.testing.assert_allclose(pause.position, np.tile(motion.start, (5, 1)), atol=1e-12)
    later = plan.trajectory.sample(np.array([plan.begin + 2.0])).position
    np.testing.assert_allclose(later, motion.sample(np.array([2.0])).position, atol=1e-12)


def test_limits_in_another_order_are_matched():
    motion = random_sine(7)
    bounds = limits(velocity=20.0, acceleration=200.0, joints=JOINTS[::-1])
    plan = plan_excitation(motion, motion.start, bounds)
    assert plan.trajectory.joints == JOINTS


def test_what_must_not_be_run_is_refused():
    motion = random_sine(7)
    with pytest.raises(MotionError, match='the motion breaks a limit: joint'):
        plan_excitation(motion, np.zeros(3), limits(acceleration=0.1))
    with pytest.raises(MotionError, match="the robot stands outside the limits: joint 'b'"):
        plan_excitation(motion, np.array([0.0, 9.0, 0.0]), WIDE)
    with pytest.raises(MotionError, match="moves joint 'c', which is not one of"):
        plan_excitation(motion, np.zeros(3), limits(joints=('a', 'b')))
    with pytest.raises(MotionError, match="does not move joint 'd'"):
        plan_excitation(motion, np.zeros(3), limits(joints=(*JOINTS, 'd')))


@pytest.mark.parametrize(('spacing', 'error'), [(0.004, 1e-10), (0.02, 1e-6)])
def test_points_joined_by_quintics_are_the_motion(spacing, error):
    motion = random_fourier(3)
    spline = SplineTrajectory(points=points_of(motion, spacing))
    fine, exact = spline.grid(1e-3), motion.grid(1e-3)
    assert np.abs(fine.position - exact.position).max() < error
    assert np.abs(fine.acceleration - exact.acceleration).max() < 1e-3


def test_the_way_between_points_leaves_a_motion_that_is_too_fast_for_them():
    slow, fast = (
        SineMotion(joints=['a'], start=[0.0], target=[1.0], frequency=frequency, duration=10.0)
        for frequency in (0.5, 5.0)
    )
    for motion, low, high in ((slow, 0.0, 1e-5), (fast, 1e-4, 0.1)):
        points = points_of(motion, 0.1)
        off = distance_between(points, motion)
        assert low <= off <= high
        denser = np.linspace(0.0, 10.0, 50001)
        way = SplineTrajectory(points=points).sample(denser).position
        assert off >= 0.9 * np.abs(way - motion.sample(denser).position).max()


def test_the_move_to_the_start_is_no_harder_than_the_motion_but_not_endless():
    """On the DELTA, moves at the limits raised false alarms that no motion had."""
    motion, here = random_sine(7), np.array([0.5, -0.5, 0.1])
    peaks = [np.abs(each).max(axis=0)
             for each in (motion.grid(1e-3).velocity, motion.grid(1e-3).acceleration)]  # fmt: skip
    for factor in (3.0, 100.0):
        bounds = limits(velocity=factor * peaks[0].max(), acceleration=factor * peaks[1].max())
        plan = plan_excitation(motion, here, bounds)
        move = plan.trajectory.sample(np.linspace(0.0, plan.begin, 2000))
        rows = ((move.velocity, bounds.velocity), (move.acceleration, bounds.acceleration))
        shares = [np.abs(each).max(axis=0) / np.maximum(peak, 0.1 * most)
                  for (each, most), peak in zip(rows, peaks, strict=True)]  # fmt: skip
        assert 0.9 < np.max(shares) < 1.01
