# SPDX-License-Identifier: Apache-2.0
"""Conditions under which the monitor starts its reactions, and their mute."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


class ReactionTrigger:
    """Decision in each cycle whether the reactions start.

    They start

    - at a collision, and again at the next one, although the first may still be latched. A
      collision has ended when the robot was at rest with a torque error below the contact
      thresholds. Until then each rise belongs to the same collision;
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
        self._debounce = settings.debounce
        self._low = per_joint('low_velocity', settings.low_velocity, settings.joints)
        self.expect_unknown()
        self.clear()

    def expect_unknown(self) -> None:
        """Accept that data are unknown until they have been valid again."""
        self._valid = False

    def clear(self) -> None:
        """Prepare for the next collision."""
        self.reason = ''
        self._collided = self._ended = False
        self._above = 0

    def update(
        self, detector: TorqueErrorDetector, velocity: Array, *, muted: bool = False
    ) -> bool:
        """Return True if the reactions start now.

        :param velocity: last known one, shape (n,), in [rad/s] or [m/s]; NaN: never known
        :param muted: True: collisions do not start a reaction
        """
        if not detector.settled:
            return self._on_loss(detector, velocity)
        self._valid = True
        if not detector.latched or muted:
            return False
        if self._collided and not self._again(detector, velocity):
            return False
        self._collided, self._ended, self._above = True, False, 0
        self.reason = detector.message
        return True

    def _again(self, detector: TorqueErrorDetector, velocity: Array) -> bool:
        """Return True at a collision after the end of the last one."""
        above = self._enabled & (np.abs(detector.compared) > detector.threshold)
        self._above = self._above + 1 if above.any() else 0
        rests = bool((np.abs(velocity) <= self._low).all())
        self._ended |= rests and not release_problem(detector)
        return self._ended and self._above >= self._debounce

    def _on_loss(self, detector: TorqueErrorDetector, velocity: Array) -> bool:
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


def release_problem(detector: TorqueErrorDetector) -> str:
    """Return why a collision must not be cleared yet, or ''.

    The torque error of every monitored joint must be valid and below its contact threshold.
    """
    if not detector.settled:
        return f'the torque error is unknown: {detector.message}'
    settings = detector.settings
    size, contact = np.abs(detector.compared), detector.contact_threshold
    above = settings.enabled & ~(size <= contact)
    if not above.any():
        return ''
    joint = int(np.argmax(above))
    return (
        f'the torque error of joint {settings.joints[joint]} is still {size[joint]:.3g}, above '
        f'the contact threshold {contact[joint]:.3g}: move the robot away from the contact'
    )


class Mute:
    """Time in which collisions are reported, but start no reaction."""

    def __init__(self, longest: float) -> None:
        """Start without a mute.

        :param longest: largest duration of a mute, in [s]
        """
        self._longest = longest
        self._end = -math.inf

    def start(self, now: float, duration: float) -> None:
        """Mute from time `now` for `duration`, in [s]; 0 ends a mute.

        :raises ControlError: a duration that is negative, too long or not a number
        """
        if not 0.0 <= duration <= self._longest:
            raise ControlError(
                f'the duration of a mute must be from 0 to {self._longest:g} s (max_mute), got '
                f'{duration:g} s'
            )
        if duration or self.started:
            self._end = now + duration

    @property
    def started(self) -> bool:
        """True from `start` until `ends` has returned True."""
        return self._end > -math.inf

    def remaining(self, now: float) -> float:
        """Return the time until the end of the mute, in [s]; 0: not muted."""
        return max(self._end - now, 0.0)

    def ends(self, now: float) -> bool:
        """Return True once after the end of a mute."""
        over = -math.inf < self._end <= now
        if over:
            self._end = -math.inf
        return over
