# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from control_arm import small_arm
from robots import dh_urdf
from scipy.signal import lsim

from robodyn_ros.control.collision.momentum_observer import MomentumObserver
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

MODEL, VALUES = small_arm()
ROTOR, VISCOUS, COULOMB = 0.5, 2.0, 3.0


def plant(time: Array, external: Array) -> tuple[Array, Array, Array]:
    """Position, velocity and motor torque of a fast motion under external torque, by Pinocchio."""
    robot = pin.buildModelFromXML(dh_urdf([(np.pi / 2, 0.0, 0.3), (0.0, 0.4, 0.0)]))
    robot.armature[:] = ROTOR
    data, rate = robot.createData(), np.array([5.0, 7.0])
    q, qd = 0.5 * np.sin(rate * time[:, None]), 0.5 * rate * np.cos(rate * time[:, None])
    torque = np.array([
        pin.rnea(robot, data, *row) for row in zip(q, qd, -(rate**2) * q, strict=True)
    ])  # fmt: skip
    torque += VISCOUS * qd + COULOMB * np.sign(qd)
    return q, qd, torque - external


def observed(period: float, bandwidth: float, external: Array, time: Array) -> Array:
    torque = ModelTorque(MODEL, VALUES)
    observer = MomentumObserver(torque, bandwidth=bandwidth, period=period)
    q, qd, motor = plant(time, external)
    rows = np.stack([q, qd, motor - torque.friction(qd)], axis=1)
    observer.restart(rows[0])
    result = [observer.torque_error.copy()]
    for row in rows[1:]:
        observer.update(row)
        result.append(observer.torque_error.copy())
    return np.array(result)


def push(time: Array) -> Array:
    """External torque that rises within 0.2 s, smoothly."""
    rise = np.clip((time - 0.4) / 0.2, 0.0, 1.0)
    return np.asarray(0.5 * (1.0 - np.cos(np.pi * rise)))[:, None] * [20.0, -8.0]


@pytest.mark.parametrize(('period', 'tolerance'), [(0.001, 0.01), (0.01, 0.1)])
def test_it_is_the_external_torque_behind_a_first_order_low_pass(
    period: float, tolerance: float
) -> None:
    time, bandwidth = np.arange(0.0, 1.0, period), 10.0
    fine = np.arange(0.0, 1.0, 1e-5)
    exact = lsim(([1.0], [1.0 / (2.0 * np.pi * bandwidth), 1.0]), push(fine)[:, 0], fine)[1]
    found = observed(period, bandwidth, push(time), time)
    expected = np.interp(time, fine, exact)[:, None] * [1.0, -0.4]
    error = np.abs(found - expected).max()
    assert error < tolerance, error


def test_coriolis_torque_is_part_of_it() -> None:
    """Control of the tolerances above: without it, the error would be larger."""
    time = np.arange(0.0, 1.0, 0.01)
    q, qd, _ = plant(time, np.zeros((100, 2)))
    still = np.zeros_like(q)
    moving, resting = (MODEL.torque(q, v, still, VALUES) for v in (qd, still))
    coriolis = moving - resting - VISCOUS * qd - COULOMB * np.sign(qd)
    assert np.abs(coriolis).max() > 0.7


def test_the_bandwidth_is_that_of_minus_3_db() -> None:
    time = np.arange(0.0, 2.0, 0.001)
    external = 10.0 * np.sin(2.0 * np.pi * 15.0 * time)[:, None] * np.ones(2)
    found = observed(0.001, 15.0, external, time)[1000:]
    np.testing.assert_allclose(np.abs(found).max(axis=0), 10.0 / np.sqrt(2.0), rtol=0.01)


def test_refusals() -> None:
    for bad, text in ((0.0, 'must be above 0'), (51.0, 'must be at most 50 Hz'),
                      (np.nan, 'must be above 0')):  # fmt: skip
        with pytest.raises(ControlError, match=f'observer_bandwidth {text}'):
            MomentumObserver(ModelTorque(MODEL, VALUES), bandwidth=bad, period=0.01)
