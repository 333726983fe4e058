# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.braking import FIRST, plan_braking
from robodyn_ros.excitation.motions.spline import SplineTrajectory

JOINTS = ('a', 'b', 'c')
POSITION, VELOCITY = np.array([0.1, -0.2, 0.3]), np.array([2.0, -0.5, 0.0])
LIMIT = np.array([4.0, 5.0, 1.0])


def test_each_joint_brakes_with_its_limit_and_goes_no_farther():
    points = plan_braking(JOINTS, POSITION, VELOCITY, LIMIT)
    end = POSITION + VELOCITY * np.abs(VELOCITY) / (2.0 * LIMIT)
    np.testing.assert_allclose(points.position[-1], end, atol=1e-12)
    assert (points.velocity[-1] == 0.0).all()
    assert points.time[0] == FIRST and points.time[-1] == pytest.approx(0.5)
    # a controller that starts from the measured state and joins the points
    whole = points.with_start(POSITION, VELOCITY, np.full(3, np.nan), np.zeros(3))
    sampled = SplineTrajectory(points=whole).sample(np.linspace(0.0, 0.5, 501))
    assert (np.abs(sampled.acceleration) <= 1.01 * LIMIT + 1e-9).all()
    low, high = np.minimum(POSITION, end), np.maximum(POSITION, end)
    assert (sampled.position > low - 1e-4).all() and (sampled.position < high + 1e-4).all()


def test_a_robot_at_rest_is_held():
    points = plan_braking(JOINTS, POSITION, np.zeros(3), LIMIT)
    assert len(points.time) >= 2 and (points.position == POSITION).all()
    assert (points.velocity == 0.0).all()


@pytest.mark.parametrize('limit', [[1.0, 1.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0]])
def test_limits_that_are_none_are_refused(limit):
    with pytest.raises(MotionError, match='needs 3 acceleration limits above 0'):
        plan_braking(JOINTS, POSITION, VELOCITY, np.array(limit))
