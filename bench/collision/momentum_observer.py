# SPDX-License-Identifier: Apache-2.0
"""Momentum observer, for comparison: external torque without acceleration."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array


class MomentumObserver:
    """External torque, filtered by a first-order low pass of known bandwidth.

    The observer (De Luca and Mattone, "Actuator failure detection and isolation using generalized
    momenta", ICRA 2003) is r' = K (p' - C^T qd + g - tau - r) with the momentum p = M qd, sign as
    in `TorqueErrorDetector`. Over a period T,

        p[k] - p[k-1] - T * mean(M' qd) = M(mean q) (qd[k] - qd[k-1]) + O(T^3),

    and p' - C^T qd = p' - M' qd + C qd. All terms of the model are thus one evaluation of its
    torque tau(q, qd, dqd / T) at the means of two samples: no derivative of M, no signal of
    acceleration, and no more model evaluations than the filtered residual. With these terms held
    over the period, the first-order law is solved exactly:

        r[k] = a r[k-1] + (1 - a) (tau(mean q, mean qd, dqd / T) - mean feedback),
        a = exp(-2 pi bandwidth T).

    Friction is part of `feedback`. Attributes are those of `FilteredResidual`; velocity and
    acceleration pass the same first-order law and only select thresholds.
    """

    def __init__(self, torque: ModelTorque, *, bandwidth: float, period: float) -> None:
        """Reserve the memory.

        :param bandwidth: -3 dB corner of the external torque, in [Hz]
        :param period: of the samples, in [s]
        """
        width = len(torque.joints)
        self._torque, self._rate = torque, 1.0 / period
        self._share = -math.expm1(-2.0 * math.pi * bandwidth * period)
        self._before = np.zeros((3, width))
        self._state = np.zeros((3, width))
        self.torque_error, self.velocity, self.acceleration = self._state
        self.position = np.zeros(width)

    def restart(self, signals: Array) -> None:
        """Settle on constant signals: position, velocity, feedback - friction, shape (3, n)."""
        self._before[:] = signals
        self.position[:] = signals[0]
        self._state[:] = 0.0
        self.velocity[:] = signals[1]

    def update(self, signals: Array) -> None:
        """Take the signals of the next period, shape (3, n)."""
        self.position[:] = signals[0]
        position, velocity, measured = 0.5 * (signals + self._before)
        acceleration = (signals[1] - self._before[1]) * self._rate
        external = self._torque.body(position, velocity, acceleration) - measured
        newest = np.array((external, velocity, acceleration))
        newest -= self._state
        newest *= self._share
        self._state += newest
        self._before[:] = signals
