# SPDX-License-Identifier: Apache-2.0
import numpy as np

from robodyn_ros.models.closed_forms.delta_kinematics import (
    ARMS,
    DeltaGeometry,
    delta_motion,
    forward_kinematics,
    working_range,
)

GEOMETRY = DeltaGeometry(R_b=0.2, r_p=0.05, L_AB=0.3, L_BC=0.7)


def outwards():
    angle = 2 * np.pi / 3 * np.arange(ARMS)
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(ARMS)], axis=1)


def elbows(theta):
    """Elbow of each arm, (N, 3, 3): out from the axis, and down with the angle."""
    level = GEOMETRY.R_b + GEOMETRY.L_AB * np.cos(theta)
    place = level[:, :, None] * outwards()
    place[:, :, 2] = -GEOMETRY.L_AB * np.sin(theta)
    return place


def angles(samples, seed=0):
    low, high = working_range(GEOMETRY)
    return np.random.default_rng(seed).uniform(low, high, (samples, ARMS))


def test_every_rod_has_its_length():
    theta = angles(50)
    place = forward_kinematics(GEOMETRY, theta)
    ends = place[:, None] + GEOMETRY.r_p * outwards()
    length = np.linalg.norm(ends - elbows(theta), axis=2)
    np.testing.assert_allclose(length, GEOMETRY.L_BC, atol=1e-12)
    assert (place[:, 2] < elbows(theta)[:, :, 2].min(axis=1)).all()
    equal = forward_kinematics(GEOMETRY, np.full((1, ARMS), 0.4))
    np.testing.assert_allclose(equal[0, :2], 0.0, atol=1e-15)


def test_motion_is_the_derivative_of_the_place():
    step, time = 1e-4, 1e-4 * np.arange(-2, 3)
    rate, bend = np.array([0.7, -0.4, 0.9]), np.array([2.0, 1.0, -3.0])
    theta = np.array([0.3, 0.1, 0.5]) + np.outer(time, rate) + np.outer(time**2 / 2, bend)
    motion = delta_motion(GEOMETRY, *(x.tolist() for x in (theta[2], rate, bend)))
    place, elbow = forward_kinematics(GEOMETRY, theta), elbows(theta)
    np.testing.assert_allclose(motion.x, place[2], atol=1e-14)
    np.testing.assert_allclose(motion.xd, (place[3] - place[1]) / (2 * step), atol=1e-7)
    second = (place[3] - 2 * place[2] + place[1]) / step**2
    np.testing.assert_allclose(motion.xdd, second, atol=1e-6)
    second = (elbow[3] - 2 * elbow[2] + elbow[1]) / step**2
    np.testing.assert_allclose(motion.elbow, second, atol=1e-6)
    first = (elbow[3] - elbow[1]) / (2 * step)
    np.testing.assert_allclose(np.array(motion.b) * rate[:, None], first, atol=1e-7)
    for arm in range(ARMS):
        moved = theta[[2, 2]] + 1e-5 * np.array([[-1.0], [1.0]]) * np.eye(ARMS)[arm]
        slope = np.diff(forward_kinematics(GEOMETRY, moved), axis=0)[0] / 2e-5
        np.testing.assert_allclose(motion.slopes[arm], slope, atol=1e-8)
