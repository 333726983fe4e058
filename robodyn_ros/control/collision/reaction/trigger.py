# SPDX-License-Identifier: Apache-2.0
"""Conditions under which the monitor reacts, and under which a reaction is released."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


class Detector(Protocol):
    """State of a detector after a sample, as of `TorqueErrorDetector`."""

    settings: CollisionSettings
    compared: Array
    threshold: Array
    message: str

    @property
    def contact_threshold(self) -> Array:
        """Contact thresholds in force, shape (n,), in [Nm] or [N]."""

    @property
    def external_torque(self) -> Array:
        """External torque on the joints, shape (n,), in [Nm] or [N]."""

    @property
    def latched(self) -> bool:
        """True from a collision to its reset."""

    @property
    def settled(self) -> bool:
        """True if `compared` is valid."""


class ReactionTrigger:
    """Decision in each cycle whether a reaction starts.

    A reaction starts

    - at a collision;
    - while a collision is latched, when the last contact has ended, and the torque error rises
      above a collision threshold again at a joint that moves into the contact. A contact has ended
      when the torque error is below the contact thresholds, and the robot has braked: since the
      reaction, there was a moment in which no joint moved into the contact. Until then each rise
      belongs to the same contact;
    - with on_unknown 'stop', when valid data are lost while the last known velocity of a monitored
      joint is above low_velocity. Data that have never been valid since the start are not lost.

    :ivar reason: why the last reaction started; '': there was none since `clear`
    :ivar allowed: direction in which each joint may move away from the contact, -1 or 1; 0: both
    """

    def __init__(self, settings: CollisionSettings, *, on_unknown: str = 'warn') -> None:
        """Start without data.

        :param on_unknown: 'stop' or 'warn'
        :raises ControlError: another word
        """
        if on_unknown not in ('stop', 'warn'):
            raise ControlError(f'on_unknown must be stop or warn, got {on_unknown!r}')
        self._stops = on_unknown == 'stop'
        self._joints = settings.joints
        self._enabled = settings.enabled
        self._low = per_joint('low_velocity', settings.low_velocity, settings.joints)
        self._debounce = settings.debounce
        self.allowed: NDArray[np.int8] = np.zeros(len(settings.joints), dtype=np.int8)
        self.expect_unknown()
        self.clear()

    def expect_unknown(self) -> None:
        """Accept that data are unknown until they have been valid again."""
        self._valid = False

    def clear(self) -> None:
        """Forget the last reaction."""
        self.reason = ''
        self._collided = self._calm = self._braked = False
        self._repeated = 0
        self.allowed[:] = 0

    def update(self, detector: Detector, velocity: Array, *, muted: bool = False) -> bool:
        """Return True if a reaction starts now.

        :param velocity: last known one, shape (n,), in [rad/s] or [m/s]; NaN: never known
        :param muted: True: collisions do not start a reaction
        """
        if not detector.settled:
            return self._lost(detector, velocity)
        self._valid = True
        if not detector.latched or muted:
            return False
        if self._collided:
            return self._again(detector, velocity)
        self._collided = True
        return self._start(detector, np.abs(detector.compared) > detector.threshold)

    def _lost(self, detector: Detector, velocity: Array) -> bool:
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

    def _again(self, detector: Detector, velocity: Array) -> bool:
        """Return True at a new collision in the direction of the contact."""
        error = detector.compared
        into = self._enabled & (np.abs(error) > detector.threshold) & (error * velocity < 0.0)
        self._repeated = self._repeated + 1 if into.any() else 0
        if not self._calm:
            self._braked |= not (self.allowed * velocity < -self._low).any()
            self._calm = self._braked and not release_problem(detector)
            return False
        return self._repeated >= self._debounce and self._start(detector, into)

    def _start(self, detector: Detector, where: NDArray[np.bool_]) -> bool:
        self._calm, self._braked, self._repeated = False, False, 0
        self.reason = detector.message
        # The torque error is the external torque: the contact pushes the joint in its direction.
        signs = np.sign(detector.compared).astype(np.int8)
        self.allowed[:] = np.where(self._enabled & where, signs, self.allowed)
        return True


def release_problem(detector: Detector) -> str:
    """Return why a reaction must not be released yet, or ''.

    The torque error of every monitored joint must be valid and below its contact threshold.
    """
    if not detector.settled:
        return f'the torque error is unknown: {detector.message}'
    settings = detector.settings
    size, contact = np.abs(detector.compared), detector.contact_threshold
    over = settings.enabled & ~(size <= contact)
    if not over.any():
        return ''
    joint = int(np.argmax(over))
    return (
        f'the torque error of joint {settings.joints[joint]} is still {size[joint]:.3g}, above '
        f'the contact threshold {contact[joint]:.3g}: move the robot away from the contact'
    )
