# SPDX-License-Identifier: Apache-2.0
"""Constant thresholds, raised around standstill: the simplest map."""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array


class ConstantThresholds:
    """Thresholds of `CollisionSettings`: one per joint, plus an extra torque around standstill.

    :ivar collision: present collision thresholds, shape (n,), in [Nm] or [N]
    :ivar contact: present contact thresholds
    :ivar change: infinite, because it is not known
    :ivar slowness: degree of standstill of each joint, 0..1, which fades slowly
    """

    def __init__(self, settings: CollisionSettings) -> None:
        """Take the values."""
        joints = settings.joints
        self._constant = np.array((settings.contact, settings.collision))
        self._present = self._constant.copy()
        self.contact, self.collision = self._present
        self.change = np.full(len(joints), np.inf)
        self._extra = settings.extra
        self._per_velocity = 1.0 / per_joint('low_velocity', settings.low_velocity, joints)
        self._fade = settings.period / settings.low_velocity_hold
        self.slowness = np.ones(len(joints))

    @property
    def highest(self) -> Array:
        """Collision thresholds at standstill, shape (n,)."""
        highest: Array = self._constant[1] + self._extra
        return highest

    def restart(self, stamp: float) -> None:
        """Start after a gap; the slowness continues to fade."""

    def update(self, stamp: float, velocity: Array, acceleration: Array) -> None:
        """Set the thresholds for a filtered velocity; the other arguments are not needed."""
        self.slowness -= self._fade
        slow = 2.0 - np.abs(velocity) * self._per_velocity
        np.minimum(slow, 1.0, out=slow)
        np.maximum(slow, 0.0, out=slow)
        np.maximum(self.slowness, slow, out=self.slowness)
        np.add(self._constant, self.slowness * self._extra, out=self._present)
