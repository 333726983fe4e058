# SPDX-License-Identifier: Apache-2.0
"""Residual torque as a function of the deflection of the gears: tau_u = f(u).

Source: "An accurate dynamic model identification method of an industrial robot based on
double-encoder compensation" (Actuators 2023), section 5. u holds the difference between the
motor's position, divided by the gear ratio, and the joint's; its rate (Eq. 28); and optionally the
motor's velocity, which gives f a branch for each direction. Plain numpy: nodes use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from robodyn_ros.models.interface import Array, sample_blocks

INPUTS = ('deflection', 'deflection_rate', 'motor_velocity')


class ResidualMap(Protocol):
    """The function f of all joints, stored in arrays."""

    @property
    def kind(self) -> str:
        """Name of the kind, 'rbf' or 'gmr'."""
        ...

    def predict(self, features: Array) -> Array:
        """Return the torque of every sample and joint, (N, n), from features (N, n, k)."""
        ...

    def arrays(self) -> dict[str, Array]:
        """Return all arrays by name; the first axis of each is the joint."""
        ...


@dataclass(frozen=True)
class GearTorqueLaw:
    """Residual torque of every joint, limited to the range of the training data.

    :param inputs: of `INPUTS`, the first two or all three
    :param low: smallest features in training, shape (n, k)
    :param high: largest ones
    :param limit: largest torque in training, shape (n,), in [Nm] or [N]; 0: no residual torque
    :param gear_ratio: motor revolutions per revolution of the joint, shape (n,)
    :param cutoff: of the low pass that the inputs went through in training, in [Hz]; 0: none
    """

    joints: tuple[str, ...]
    inputs: tuple[str, ...]
    map: ResidualMap
    low: Array
    high: Array
    limit: Array
    gear_ratio: Array
    cutoff: float

    @property
    def kind(self) -> str:
        """'rbf' or 'gmr'."""
        return self.map.kind

    def torque(self, deflection: Array, rate: Array, velocity: Array) -> Array:
        """Return the residual torque of samples, shape (N, n), in [Nm] or [N].

        Inputs outside the range of training are set to its end, and the torque fades to zero
        within half a range beyond it.

        :param deflection: motor position minus joint position, joint side, (N, n), [rad] or [m]
        :param rate: of the deflection, (N, n), in [rad/s] or [m/s]
        :param velocity: of the motor, joint side, (N, n), in [rad/s] or [m/s]
        """
        inputs = features(deflection, rate, velocity, len(self.inputs))
        result = np.empty(np.shape(deflection))
        span = 0.5 * (self.high - self.low)
        for block in sample_blocks(len(inputs)):
            inside = np.minimum(np.maximum(inputs[block], self.low), self.high)
            beyond = np.abs(inputs[block] - inside) / span
            share = np.maximum(1.0 - beyond, 0.0).prod(axis=2)
            limited = np.minimum(np.maximum(self.map.predict(inside), -self.limit), self.limit)
            result[block] = share * limited
        return result


def features(deflection: Array, rate: Array, velocity: Array, count: int) -> Array:
    """Return deflection, rate and signed root of the velocity, shape (N, n, count).

    Friction changes most near standstill, where the root spreads the velocities.
    """
    parts = (deflection, rate, np.sign(velocity) * np.sqrt(np.abs(velocity)))
    return np.stack(parts[:count], axis=-1)


def feature_range(samples: Array) -> tuple[Array, Array]:
    """Return the smallest and largest features of one joint (N, k), without 1 in 500."""
    low, high = np.quantile(samples, [0.002, 0.998], axis=0)
    return low, np.maximum(high, low + 1e-9)


def facts(residual: GearTorqueLaw) -> Mapping[str, Any]:
    """Return the facts of a gear torque for reports."""
    return {
        'kind': residual.kind,
        'inputs': list(residual.inputs),
        'limit': residual.limit.tolist(),
        'gear_ratio': residual.gear_ratio.tolist(),
        'numbers': sum(values.size for values in residual.map.arrays().values()),
    }
