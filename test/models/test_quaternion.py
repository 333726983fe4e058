# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline

from robodyn_ros.errors import ModelError
from robodyn_ros.models.quaternion import (
    angular,
    euler_matrix,
    normalise,
    rates,
)


def scalar_first(rotation):
    return rotation.as_quat()[..., [3, 0, 1, 2]]


def tumble(time):
    """A smooth turn through every angle, and beyond half a turn."""
    return Rotation.from_rotvec(np.stack([3 * np.sin(time), 2 * time, np.cos(2 * time)], axis=1))


def spin(rotation, step):
    """Angular velocity along body axes of three attitudes a step apart: R^T R' is its matrix."""
    matrices = rotation.as_matrix()
    skew = matrices[1].T @ (matrices[2] - matrices[0]) / (2 * step)
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])


@pytest.mark.parametrize('at', [0.1, 0.8, 2.3])
def test_velocity_and_acceleration_are_those_of_the_rotation_matrix(at):
    h = 1e-4
    time = at + h * np.arange(-2, 3)
    turns = tumble(time)
    q = scalar_first(turns)
    q *= np.sign(q @ q[2])[:, None]
    first, second = (q[3] - q[1]) / (2 * h), (q[3] - 2 * q[2] + q[1]) / h**2
    expected = [spin(turns[k - 1 : k + 2], h) for k in (1, 2, 3)]
    np.testing.assert_allclose(angular(q[2], first), expected[1], atol=1e-5)
    found = angular(q[2], second)
    np.testing.assert_allclose(found, (expected[2] - expected[0]) / (2 * h), atol=1e-4)


def test_rates_of_many_attitudes_are_those_of_another_spline():
    time = np.linspace(0.0, 3.0, 301)
    turns = tumble(time)
    q = scalar_first(turns)
    q[::3] *= -1.0  # the same attitudes
    velocity, acceleration = rates(time, q)
    other = RotationSpline(time, turns)
    inside = slice(20, -20)
    np.testing.assert_allclose(velocity[inside], other(time, 1)[inside], atol=1e-4)
    np.testing.assert_allclose(acceleration[inside], other(time, 2)[inside], atol=5e-3)


def test_euler_matrix_is_that_of_the_quaternions_of_equation_19():
    # Rates of q are perpendicular to q; idS12 and idS23 as printed, signs restored.
    random = np.random.default_rng(4)
    q = random.normal(size=4)
    q /= np.linalg.norm(q)
    d, dd = random.normal(size=(2, 4))
    d -= q * (q @ d)
    dd -= q * (q @ dd + d @ d)
    w, dw = angular(q, d), angular(q, dd)
    one = d[1] * q[0] - d[0] * q[1] + d[2] * q[3] - d[3] * q[2]
    two = d[2] * q[0] - d[0] * q[2] - d[1] * q[3] + d[3] * q[1]
    three = d[1] * q[2] - d[0] * q[3] - d[2] * q[1] + d[3] * q[0]
    matrix = euler_matrix(w, dw)
    assert matrix[0, 1] == pytest.approx(-4 * two * three)
    assert matrix[1, 2] == pytest.approx(-4 * one * three)
    first = 2 * (dd[1] * q[0] - dd[0] * q[1] + dd[2] * q[3] - dd[3] * q[2])
    assert matrix[0, 0] == pytest.approx(first)


def test_wrong_attitudes_are_refused():
    np.testing.assert_allclose(np.linalg.norm(normalise(np.array([[0.8, 0.6, 0.0, 3e-4]]))), 1)
    with pytest.raises(ModelError, match='row 2 is no unit quaternion: its length is'):
        normalise(np.array([[1.0, 0, 0, 0], [1.1, 0, 0, 0]]))
    with pytest.raises(ModelError, match='no unit quaternion'):
        normalise(np.array([[np.nan, 0, 0, 0]]))
    with pytest.raises(ModelError, match='at least 6 samples'):
        rates(np.arange(5.0), np.tile([1.0, 0, 0, 0], (5, 1)))
