# SPDX-License-Identifier: Apache-2.0
"""Conditions under which the monitor starts its reactions."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


class Detector(Protocol):
    """State of a detector after a sample, as of `TorqueErrorDetector`."""

    message: str

    @property
    def latched(self) -> bool:
        """True from a collision to its reset."""

    @property
    def settled(self) -> bool:
        """True if the torque error is valid."""


class ReactionTrigger:
    """Decision in each cycle whether the reactions start.

    They start

    - at a collision, once until `clear`: a rise of the torque error while the robot brakes, or
      while it is moved away from the contact, belongs to the same collision;
    - with on_unknown 'stop', when valid data are lost while the last known velocity of a monitored
      joint is above low_velocity. Data that have never been valid since the start are not lost.

    :ivar reason: why the reactions started last; '': they did not since `clear`
    """

    def __init__(self, settings: CollisionSettings, *, on_unknown: str = 'warn') -> None:
        """Start without data.

        :param on_unknown: 'stop' or 'warn'
        :raises ControlError: another word
        """
        if on_unknown not in ('stop', 'warn'):
            raise ControlError(f'on_unknown must be stop or warn, got {on_unknown!r}')
        self._stops = on_unknown == 'stop'
        self._joints, self._enabled = settings.joints, settings.enabled
        self._low = per_joint('low_velocity', settings.low_velocity, settings.joints)
        self.expect_unknown()
        self.clear()

    def expect_unknown(self) -> None:
        """Accept that data are unknown until they have been valid again."""
        self._valid = False

    def clear(self) -> None:
        """Prepare for the next collision."""
        self.reason = ''
        self._collided = False

    def update(self, detector: Detector, velocity: Array, *, muted: bool = False) -> bool:
        """Return True if the reactions start now.

        :param velocity: last known one, shape (n,), in [rad/s] or [m/s]; NaN: never known
        :param muted: True: collisions do not start a reaction
        """
        if not detector.settled:
            return self._on_loss(detector, velocity)
        self._valid = True
        if not detector.latched or muted or self._collided:
            return False
        self._collided = True
        self.reason = detector.message
        return True

    def _on_loss(self, detector: Detector, velocity: Array) -> bool:
        with np.errstate(invalid='ignore'):
            moving = self._enabled & (np.abs(velocity) > self._low)
        valid, self._valid = self._valid, False
        if not (valid and self._stops and moving.any()):
            return False
        joint = int(np.argmax(moving))
        self.reason = (
            f'UNKNOWN while joint {self._joints[joint]} moved at {velocity[joint]:.3g} per '
            f'second: {detector.message}'
        )
        return True
