# SPDX-License-Identifier: Apache-2.0
"""Thresholds as the detector uses them, and the constant ones."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.filtered_residual import FilteredResidual
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array


class Thresholds(Protocol):
    """Comparison of torque errors with thresholds, shape (n,) each, in [Nm] or [N].

    :ivar compared: what is compared with the thresholds
    :ivar collision: present collision thresholds
    :ivar contact: present contact thresholds
    :ivar external: external torque of a contact
    """

    compared: Array
    collision: Array
    contact: Array
    external: Array

    @property
    def highest(self) -> Array:
        """Largest collision thresholds of all motions that were learned."""

    def restart(self, stamp: float) -> None:
        """Start after a gap."""

    def update(
        self, stamp: float, residual: FilteredResidual, *, settled: bool, rests: bool
    ) -> None:
        """Take a sample.

        :param settled: the torque error is valid
        :param rests: the commanded positions are known to rest
        """


class ConstantThresholds:
    """Thresholds of `CollisionSettings`: one per joint, plus an extra torque around standstill.

    Attributes as of `Thresholds`; the torque error itself is compared.

    :ivar slowness: degree of standstill of each joint, 0..1, which fades slowly
    """

    def __init__(self, settings: CollisionSettings) -> None:
        """Take the values."""
        joints = settings.joints
        self._constant = np.array((settings.contact, settings.collision))
        self._present = self._constant.copy()
        self.contact, self.collision = self._present
        self.compared = self.external = np.zeros(len(joints))
        self._extra = settings.extra
        self._per_velocity = 1.0 / per_joint('low_velocity', settings.low_velocity, joints)
        self._fade = settings.period / settings.low_velocity_hold
        self.slowness = np.ones(len(joints))

    @property
    def highest(self) -> Array:
        """Collision thresholds at standstill, shape (n,)."""
        return np.asarray(self._constant[1] + self._extra)

    def restart(self, stamp: float) -> None:
        """Start after a gap; the slowness continues to fade."""

    def update(
        self, stamp: float, residual: FilteredResidual, *, settled: bool, rests: bool
    ) -> None:
        """Set the thresholds for the filtered velocity."""
        self.compared[:] = residual.torque_error
        self.slowness -= self._fade
        slow = 2.0 - np.abs(residual.velocity) * self._per_velocity
        np.minimum(slow, 1.0, out=slow)
        np.maximum(slow, 0.0, out=slow)
        np.maximum(self.slowness, slow, out=self.slowness)
        np.add(self._constant, self.slowness * self._extra, out=self._present)
