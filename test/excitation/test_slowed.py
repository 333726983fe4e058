# SPDX-License-Identifier: Apache-2.0
"""Motions at a lower speed: the same path, scaled derivatives."""

import numpy as np
import pytest
from motions import random_fourier

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.plan import Plan
from robodyn_ros.excitation.slowed import SlowedTrajectory, check_speeds


def test_the_path_is_the_same_and_derivatives_are_those_of_the_slower_time():
    motion = random_fourier(3)
    slow = SlowedTrajectory(motion=motion, speed=0.1)
    assert slow.duration == pytest.approx(10.0 * motion.duration)
    time = np.linspace(0.3, 0.7, 5) * slow.duration
    found = slow.sample(time)
    np.testing.assert_allclose(found.position, motion.sample(0.1 * time).position)
    step = 1e-4
    before, after = slow.sample(time - step), slow.sample(time + step)
    np.testing.assert_allclose(
        found.velocity, (after.position - before.position) / (2 * step), atol=1e-7
    )
    np.testing.assert_allclose(
        found.acceleration, (after.velocity - before.velocity) / (2 * step), atol=1e-7
    )
    ends = slow.sample(np.array([-1.0, slow.duration + 1.0])).position
    both = motion.sample(np.array([0.0, motion.duration])).position
    np.testing.assert_allclose(ends, both, atol=1e-12)


def test_a_slowed_plan_starts_later():
    motion = random_fourier(1)
    plan = Plan(motion, 0.5)
    assert plan.slow_down(1.0) is plan
    assert plan.slow_down(0.25).begin == 2.0
    assert plan.slow_down(0.25).duration == 4.0 * motion.duration


@pytest.mark.parametrize(
    'speeds', [(), (0.0,), (-0.1, 1.0), (1.1,), (0.5, 0.5), (1.0, 0.5), (float('nan'),)]
)
def test_speeds_that_make_no_sense_are_refused(speeds):
    with pytest.raises(MotionError, match='speed'):
        check_speeds(speeds)
