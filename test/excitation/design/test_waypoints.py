# SPDX-License-Identifier: Apache-2.0
"""Via-points joined by a planner's moves, as a family."""

import numpy as np
import pytest
from motions import JOINTS, assert_rest_at_ends

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.waypoints import WaypointFamily

ARGUMENTS = {'joints': JOINTS, 'position': [0.1, -0.2, 0.3], 'duration': 8.0, 'points': 3}


def family(**changes):
    return WaypointFamily(**{**ARGUMENTS, **changes})


@pytest.mark.parametrize('fly_by', [0.0, 0.7])
@pytest.mark.parametrize('rise', [0.0, 0.25])
def test_samples_are_those_of_the_motion_scaled(fly_by, rise):
    some, random = family(fly_by=fly_by, rise=rise), np.random.default_rng(1)
    x, scale = some.start(random), np.array([1.0, 0.5, 0.2])
    motion = some.motion(x, scale)
    assert motion.duration == pytest.approx(8.0, rel=1e-12)
    assert_rest_at_ends(motion, acceleration=rise > 0.0)
    np.testing.assert_allclose(motion.points[[0, -1]], [some.position] * 2, atol=1e-12)
    points = some.position + x[:9].reshape(3, 3).T * scale
    np.testing.assert_allclose(motion.points[1:-1], points, atol=1e-12)
    time = np.linspace(0.01, 7.99, 237)
    there, deviation = motion.sample(time), some.prepare(time).deviation(x) * scale
    np.testing.assert_allclose(some.position + deviation[0], there.position, atol=1e-9)
    np.testing.assert_allclose(deviation[1], there.velocity, atol=1e-9)
    np.testing.assert_allclose(deviation[2], there.acceleration, atol=1e-8)


def test_refuses_no_points():
    with pytest.raises(MotionError, match='1 to 500 via-points, got 0'):
        family(points=0)
    with pytest.raises(MotionError, match='fly_by must be a share'):
        family(fly_by=1.5)
    with pytest.raises(MotionError, match='rise of a move'):
        family(rise=0.6)
