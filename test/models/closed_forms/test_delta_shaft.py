# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations of the shaft by finite differences, energies written with vectors."""

import numpy as np
import pytest

from robodyn_ros.models.closed_forms.delta_kinematics import DeltaMotion
from robodyn_ros.models.closed_forms.delta_shaft import shaft_forces

HEIGHT, GRAVITY, STEP = 0.12, 9.81, 1e-3


def path(time):
    """Platform (3) and fourth axis over time; any smooth motion below the joint."""
    return np.array(
        [0.15 * np.sin(3 * time), 0.1 * np.cos(2 * time), -0.6 + 0.1 * np.sin(time + 1), 2 * time]
    )


def slope(function, time, step=STEP):
    """Derivative of fourth order."""
    near, far = (function(time + k * step) - function(time - k * step) for k in (1, 2))
    return (8 * near - far) / (12 * step)


def along(state):
    return (state[:3] - [0, 0, HEIGHT]) / np.linalg.norm(state[:3] - [0, 0, HEIGHT])


def frame(state):
    """Axes of the shaft: one across it and the fork of the motor, and one across that."""
    u, fork = along(state), np.array([np.cos(state[3]), np.sin(state[3]), 0.0])
    second = np.cross(u, fork) / np.linalg.norm(np.cross(u, fork))
    return np.cross(second, u), second


def turning(state, rate):
    """Derivative of u for a change of the platform."""
    offset = state[:3] - [0, 0, HEIGHT]
    u = along(state)
    return (rate[:3] - u * (u @ rate[:3])) / np.linalg.norm(offset)


def spinning(state, rate):
    """Angular velocity of the shaft about itself: how its first axis turns to the second."""
    change = slope(lambda share: frame(state + share * rate)[0], 0.0)
    return change @ frame(state)[1]


ENERGIES = {  # Lagrangian per unit of each parameter
    'M_T L_TO': lambda x, v: -GRAVITY * along(x)[2],
    'M_T L_TP': lambda x, v: -v[:3] @ turning(x, v) + GRAVITY * along(x)[2],
    'M_T (L_TO^2 + L_TP^2) + 2 Theta_T': lambda x, v: 0.5 * turning(x, v) @ turning(x, v),
    'Theta_Tphi': lambda x, v: 0.5 * spinning(x, v) ** 2,
}


def lagrange(energy, time):
    """d/dt dL/dv - dL/dx, (4,): three forces on the platform and the torque of the motor."""

    def momentum(at):
        x, v = path(at), slope(path, at)
        return np.array([slope(lambda s, e=e: energy(x, v + s * e), 0.0) for e in np.eye(4)])

    x, v = path(time), slope(path, time)
    pull = np.array([slope(lambda s, e=e: energy(x + s * e, v), 0.0) for e in np.eye(4)])
    return slope(momentum, time) - pull


@pytest.mark.parametrize('number', range(4), ids=list(ENERGIES))
def test_forces_are_those_of_lagrange(number):
    energy = list(ENERGIES.values())[number]
    for time in (0.2, 0.9):
        x, xd = path(time), slope(path, time)
        xdd = slope(lambda at: slope(path, at), time)
        none = ((0.0, 0.0, 0.0),) * 3
        motion = DeltaMotion(*(tuple(k[:3].tolist()) for k in (x, xd, xdd)), none, none, none)
        forces, motor = shaft_forces(
            HEIGHT, GRAVITY, motion, tuple(float(k[3]) for k in (x, xd, xdd))
        )
        expected = lagrange(energy, time)
        assert np.abs(expected).max() > 0.05
        np.testing.assert_allclose(forces[number], expected[:3], atol=2e-6)
        assert (motor if number == 3 else 0.0) == pytest.approx(expected[3], abs=2e-6)
