# SPDX-License-Identifier: Apache-2.0
import numpy as np
from robots import random_states

from robodyn_ros.models.closed_forms.puma import PumaModel
from robodyn_ros.models.closed_forms.puma_inertia import gravity, mass_matrix

MODEL = PumaModel(joints=[f'joint{number}' for number in range(1, 7)])


def derivative(function, q, axis, step=1e-5):
    shift = step * np.eye(6)[axis]
    return (function(q + shift) - function(q - shift)) / (2 * step)


def test_gravity_has_a_potential():
    """d gravity_i / dq_j = d gravity_j / dq_i, for every parameter."""
    q = random_states(6, 10)[0]
    slopes = np.stack([derivative(gravity, q, axis) for axis in range(6)], axis=2)
    assert np.abs(slopes).max() > 0.5
    np.testing.assert_allclose(slopes, np.swapaxes(slopes, 1, 2), atol=1e-9)
    assert not gravity(q)[:, [0, 5]].any()


def test_speed_torques_are_the_christoffel_symbols_of_the_matrix():
    """By finite differences of the matrix as written down; the model uses Fourier series."""
    q, qd, _ = random_states(6, 10)
    slopes = [derivative(mass_matrix, q, axis) for axis in range(6)]  # (N, i, j, k) each
    changing = sum(qd[:, axis, None, None, None] * slopes[axis] for axis in range(6))
    first = np.einsum('nijk,nj->nik', changing, qd)
    second = np.stack([np.einsum('nijk,ni,nj->nk', s, qd, qd) for s in slopes], axis=1)
    torque = MODEL.regressor(q, qd, 0 * q)[:, :, :23]
    np.testing.assert_allclose(torque, first - 0.5 * second, atol=1e-8)
