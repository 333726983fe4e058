# SPDX-License-Identifier: Apache-2.0
"""Torque error from positions, velocities and torques that pass the same low pass."""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.torque.low_pass import MatchedLowPass
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.interface import Array


class FilteredResidual:
    """Model torque of filtered motion minus filtered feedback, then softMC's torque error filter.

    Position, velocity and (feedback - friction) pass one low pass, which also gives the
    acceleration, so that all of them belong to the same instant.

    :ivar torque_error: external torque on the joints, shape (n,), in [Nm] or [N]
    :ivar position: filtered position, shape (n,), in [rad] or [m]
    :ivar velocity: filtered velocity, shape (n,), in [rad/s] or [m/s]
    :ivar acceleration: its derivative
    """

    def __init__(self, torque: ModelTorque, *, cutoff: float, share: float, period: float) -> None:
        """Reserve the memory.

        :param cutoff: of the low pass, in [Hz]
        :param share: of the newest value in softMC's torque error filter, 0..1
        :param period: of the samples, in [s]
        :raises ControlError: an invalid cutoff
        """
        width = len(torque.joints)
        self._torque, self._share = torque, share
        self._filter = MatchedLowPass(signals=3, width=width, cutoff=cutoff, period=period)
        self.torque_error = np.zeros(width)
        self.position = self._filter.value[0]
        self.velocity = self._filter.value[1]
        self.acceleration = self._filter.derivative[1]

    def restart(self, signals: Array) -> None:
        """Settle on constant signals: position, velocity, feedback - friction, shape (3, n)."""
        self._filter.restart(signals)
        self.torque_error[:] = 0.0

    def update(self, signals: Array) -> None:
        """Take the signals of the next period, shape (3, n)."""
        self._filter.update(signals)
        position, velocity, measured = self._filter.value
        current = self._torque.body(position, velocity, self.acceleration)
        current -= measured
        current -= self.torque_error
        current *= self._share
        self.torque_error += current
