"""Via-points joined by joint moves."""

import numpy as np
import pytest
from motions import JOINTS, assert_rest_at_ends

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.waypoints import WaypointFamily

ARGUMENTS = {'joints': JOINTS, 'position': [0.1, -0.2, 0.3], 'duration': 8.0, 'points': 3}


def test_goes_through_its_points_and_rests_there():
    family, random = WaypointFamily(**ARGUMENTS), np.random.default_rng(0)
    x, scale = family.start(random), np.array([1.0, 0.5, 0.2])
    motion = family.motion(x, scale)
    assert_rest_at_ends(motion)
    at = motion.sample(np.array([0.0, 2.0, 4.0, 6.0, 8.0]))
    points = family.position + x.reshape(3, 3).T * scale
    np.testing.assert_allclose(at.position[1:4], points, atol=1e-12)
    np.testing.assert_allclose(at.position[[0, 4]], [family.position] * 2, atol=1e-12)
    np.testing.assert_allclose(at.velocity, 0.0, atol=1e-12)


def test_samples_are_those_of_the_motion_and_pull_is_their_derivative():
    family, random = WaypointFamily(**ARGUMENTS), np.random.default_rng(1)
    x, time = family.start(random), np.linspace(0.0, 8.0, 37)
    there = family.motion(x, np.ones(3)).sample(time)
    sampled = family.sampled(time)
    deviation = sampled.deviation(x)
    np.testing.assert_allclose(family.position + deviation[0], there.position, atol=1e-9)
    np.testing.assert_allclose(deviation[1], there.velocity, atol=1e-9)
    np.testing.assert_allclose(deviation[2], there.acceleration, atol=1e-9)
    weights, way = random.normal(size=(3, 37, 3)), random.normal(size=family.size)
    assert sampled.pull(x, weights) @ way == pytest.approx(
        (weights * sampled.deviation(way)).sum()
    )


def test_refuses_no_points():
    with pytest.raises(MotionError, match='1 to 500 via-points, got 0'):
        WaypointFamily(**{**ARGUMENTS, 'points': 0})
