# SPDX-License-Identifier: Apache-2.0
"""Collision detection by the torque error of joint states. NOT a safety function."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.control.checks import check_between, check_joints, per_joint
from robodyn_ros.control.collision.constant_thresholds import ConstantThresholds, Thresholds
from robodyn_ros.control.collision.filtered_residual import FilteredResidual
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.states.drives_off import DrivesOff
from robodyn_ros.control.collision.states.payload_change import WAIT, PayloadChange
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.models.interface import Array


class Level(IntEnum):
    """State of a joint; the numbers are those of CollisionState."""

    UNKNOWN = 0
    OK = 1
    CONTACT = 2
    COLLISION = 3


SETTLING = Fault('settling', 'settling')
OFF = Fault('drives_off', 'the torques of all joints fell to zero: the drives are off')
HELD = Fault(
    'drives_off', 'the drives were off, and only a part of the torques is back (a brake or static '
    'friction holds the remainder): move the robot, then it is monitored again'
)  # fmt: skip
UNMONITORED = Fault('nothing_monitored', 'no joint is enabled')


class TorqueErrorDetector:
    """Comparison of model torque with torque feedback, sample by sample.

    The torque error TE = tau(q, qd, qdd) - torque feedback is the external torque on the joint.
    It is computed by `FilteredResidual`. Friction is computed from the
    unfiltered velocity, because its jumps must be delayed like those in the feedback. Missing
    samples, according to the cycle time, are interpolated linearly.

    `compared` is what the thresholds are compared with: the torque error, or what learned
    thresholds make of it.

    Data that are not fresh, valid and settled give UNKNOWN, never OK; so does a joint that is not
    enabled. A joint that reached COLLISION stays there until `reset`. Do not change the arrays.

    :ivar threshold: collision thresholds in force, shape (n,), in [Nm] or [N]
    :ivar contact_threshold: contact thresholds in force
    :ivar external_torque: external torque of a contact, shape (n,), in [Nm] or [N]
    :ivar position: filtered position, shape (n,), in [rad] or [m]
    :ivar motion: filtered velocity and acceleration, shape (n,) each
    :ivar resting: set before a sample: the commanded positions are known to rest
    """

    def __init__(
        self, *, torque: ModelTorque, settings: CollisionSettings,
        thresholds: Thresholds | None = None, rated: Array | None = None,
        payload: PayloadChange | None = None,
    ) -> None:  # fmt: skip
        """Reserve the memory.

        :param thresholds: learned ones; None: the constant ones of the settings
        :param rated: torque of the drives, shape (n,), in [Nm] or [N], which thresholds do not
            exceed; None: not known
        :param payload: of which changes are named; None: none
        :raises ControlError: settings for other joints than the model's, an invalid cutoff, or a
            threshold above the torque of the drive
        """
        check_joints('collision', settings.joints, torque.joints)
        self.joints = torque.joints
        self.settings = settings
        width = len(self.joints)
        self._residual = FilteredResidual(
            torque, cutoff=settings.filter_cutoff, share=settings.torque_error_filter,
            period=settings.period,
        )  # fmt: skip
        self.torque_error = self._residual.torque_error
        self.compared = np.zeros(width)
        self.thresholds = thresholds or ConstantThresholds(settings)
        self.threshold = self.thresholds.collision.copy()
        self.contact_threshold = self.thresholds.contact.copy()
        self.external_torque = self.thresholds.external
        self.position = self._residual.position
        self.motion = (self._residual.velocity, self._residual.acceleration)
        self._scale = 1.0
        self.level = np.zeros(width, dtype=np.uint8)
        self.message: str = Fault('state_missing', 'no joint states yet')
        self._torque = torque
        self._enabled = settings.enabled
        self._signals, self._before, self._measured, self._newest = np.zeros((4, 3, width))
        self._over = np.zeros((2, width), dtype=np.int64)
        self.payload = payload
        self._drives = DrivesOff(width, settings.period)
        self._low = per_joint('low_velocity', settings.low_velocity, self.joints)
        self._latched = np.zeros(width, dtype=bool)
        self._alarm = self.resting = False
        self._like, self._named = '', np.inf
        self._rated = np.full(width, np.inf) if rated is None else rated
        self.check_sensitivity(1.0)
        self._calm = np.where(self._enabled, Level.OK, Level.UNKNOWN).astype(np.uint8)
        self._calm_message = 'ok' if self._calm.max() == Level.OK else UNMONITORED
        self._stamp, self._changed, self._settled = -np.inf, -np.inf, np.inf
        self._running = False

    @property
    def latched(self) -> bool:
        """True if a collision was detected since the last reset."""
        return bool(self._latched.any())

    @property
    def settled(self) -> bool:
        """True if `torque_error` is valid: there were valid samples for the settle time."""
        return self._running and self._stamp >= self._settled - 1e-9

    @property
    def sensitivity(self) -> float:
        """Factor by which the thresholds are divided, 0.5 to 2; 1 at the start.

        :raises ControlError: when set to a value that `check_sensitivity` refuses
        """
        return 1.0 / self._scale

    @sensitivity.setter
    def sensitivity(self, value: float) -> None:
        self.check_sensitivity(value)
        self._scale = 1.0 / value

    def check_sensitivity(self, value: float) -> None:
        """Refuse a sensitivity with which a joint would not be monitored.

        :raises ControlError: it is not from 0.5 to 2, or lifts a threshold above the torque of
            the drive
        """
        check_between('sensitivity', value, 0.5, 2.0)
        highest = self.thresholds.highest / value
        for joint in np.flatnonzero(self._enabled & ~(highest <= self._rated)):
            raise ControlError(
                f'{self.joints[joint]} is not monitored: its threshold of {highest[joint]:.4g} Nm '
                f'or N is above the torque of its drive, {self._rated[joint]:.4g}. Lower '
                f'thresholds, raise the sensitivity, or set its torque_error_enable to false'
            )

    def release(self) -> None:
        """Clear detected collisions, but count on: the next sample detects one that lasts."""
        self._latched[:] = False

    def reset(self) -> None:
        """Clear detected collisions; the filters continue."""
        self._latched[:] = False
        self._over[:] = 0

    def update(
        self, stamp: float, q: Array, qd: Array, torque: Array,
        motion: tuple[Array, Array] | None = None,
    ) -> NDArray[np.uint8]:  # fmt: skip
        """Take a sample of the joint states.

        :param stamp: time of the sample, in [s]
        :param q: measured position, shape (n,), in [rad] or [m]
        :param qd: measured velocity, shape (n,), in [rad/s] or [m/s]
        :param torque: torque feedback, joint side, shape (n,), in [Nm] or [N]
        :param motion: position and velocity to compute the model torque from; None: (q, qd).
            softMC compares with the torque of the reference, delayed like the drives.
        :return: level of each joint, shape (n,)
        """
        problem = self._inspect(stamp, q, qd, torque, motion)
        if problem:
            return self.lose(problem)
        if self._drives.off and self._falls(torque, qd):
            return self.lose(HELD if self._drives.held else OFF)
        if not self._running:
            self._drives.restart()
        self._drives.push(torque, qd)
        signals = self._signals
        signals[0], signals[1] = motion or (q, qd)
        # The load uses the last filtered acceleration: it only scales a part of friction.
        load = self._torque.load(signals[0], signals[1], self._residual.acceleration)
        np.subtract(torque, self._torque.friction(signals[1], load), out=signals[2])
        if not self._running:
            self._restart(stamp)
        if self._advance(stamp):
            self._evaluate()
        return self.level

    def lose(self, reason: str) -> NDArray[np.uint8]:
        """Set joints to UNKNOWN: there is no usable sample. The next one restarts the filters.

        :return: UNKNOWN for every joint (COLLISION for those that are latched), shape (n,)
        """
        self._running = False
        self.message = reason
        return self._set_level(np.uint8(Level.UNKNOWN))

    def _inspect(
        self, stamp: float, q: Array, qd: Array, torque: Array, motion: tuple[Array, Array] | None
    ) -> Fault:
        """Return why a sample cannot be used, or NO_FAULT."""
        arrays = (q, qd, torque, *(motion or ()))
        if any(array.shape != self.torque_error.shape for array in arrays):
            text = f'expected {len(self.joints)} positions, velocities and torques'
            return Fault('state_refused', text)
        with np.errstate(all='ignore'):
            if not math.isfinite(sum(float(array.dot(array)) for array in arrays) + stamp):
                return Fault('state_refused', 'the sample is not finite')
        step = stamp - self._stamp
        if step <= 0.0:
            text = 'does not advance' if step == 0.0 else f'went back by {-step:.6g} s'
            # A clock that was set back is accepted: the next sample is compared with the new time.
            self._stamp = self._changed = stamp
            return Fault('state_time_back', f'the time of the joint states {text}')
        self._stamp = stamp
        self._newest[0], self._newest[1], self._newest[2] = q, qd, torque
        return self._inspect_change(stamp, step)

    def _inspect_change(self, stamp: float, step: float) -> Fault:
        gap = step > self.settings.stale_timeout
        self._running &= not gap
        if gap or (self._newest != self._measured).any():
            self._changed = stamp
            self._newest, self._measured = self._measured, self._newest
        elif 0.0 < self.settings.frozen_timeout <= stamp - self._changed:
            text = 'the joint states do not change although their stamps advance'
            return Fault('state_frozen', text)
        return NO_FAULT

    def _restart(self, stamp: float) -> None:
        """Settle the filters on the current sample."""
        self._running = True
        self._settled = stamp + self.settings.settle_time
        self._filter_time = stamp - self.settings.period
        self._residual.restart(self._signals)
        self.thresholds.restart(stamp)
        if self.payload is not None:
            self.payload.restart()
        self._over[:] = 0

    def _advance(self, stamp: float) -> bool:
        """Filter up to the time of the sample, one step per period; return False if early."""
        steps = int((stamp - self._filter_time) / self.settings.period + 0.5)
        if steps == 0:
            return False
        # Follows the stamps slowly, because their jitter is not that of the sampling.
        self._filter_time += steps * self.settings.period
        self._filter_time += 0.1 * (stamp - self._filter_time)
        for step in range(1, steps):
            share = step / steps
            self._residual.update(self._before + share * (self._signals - self._before))
        self._residual.update(self._signals)
        self._before[:] = self._signals
        return True

    def _evaluate(self) -> None:
        """Set threshold, counters, latch and level from the torque error."""
        self.thresholds.update(
            self._stamp, self._residual, settled=self.settled, rests=self.resting
        )
        np.multiply(self.thresholds.collision, self._scale, out=self.threshold)
        np.multiply(self.thresholds.contact, self._scale, out=self.contact_threshold)
        # Beyond the learned motion, thresholds grow.
        np.minimum(self.threshold, self._rated, out=self.threshold)
        np.minimum(self.contact_threshold, self._rated, out=self.contact_threshold)
        self.compared[:] = self.thresholds.compared
        size = np.abs(self.compared)
        # The usual case: below all thresholds, with no counts and no latched collision.
        if not self._alarm and (size <= self.contact_threshold).all() and self.settled:
            self.level[:] = self._calm
            self.message = self._calm_message
            if self.payload is not None:
                self.payload.push(self.torque_error)
            return
        if not math.isfinite(size.sum() + self.threshold.sum() + self.torque_error.sum()):
            text = 'the torque error or its threshold is not finite'
            self.lose(Fault('torque_not_finite', text))
            self.torque_error[:] = self.compared[:] = 0.0
            return
        if not self.settled:
            self.message = SETTLING
            self._set_level(np.uint8(Level.UNKNOWN))
            return
        if self._falls(self._measured[2], self._measured[1]):
            self.message = OFF
            self._set_level(np.uint8(Level.UNKNOWN))
            return
        if (
            self.payload is not None
            and self.payload.adopts
            and not self.latched
            and self.payload.explains(*self._change())
        ):
            self.message = self.payload.message
            self._set_level(np.uint8(Level.OK) + (size > self.contact_threshold))
            return
        self._count(size)

    def _change(self) -> tuple[tuple[Array, Array, Array], Array, Array]:
        return (self.position, *self.motion), self.torque_error, self.threshold

    def _falls(self, torque: Array, velocity: Array) -> bool:
        """Return True if the drives go off."""
        return self._drives.falls(torque, velocity, self.threshold, self._low, self.torque_error)

    def _count(self, size: Array) -> None:
        """Count samples above the thresholds, and latch a collision."""
        self._over += 1
        self._over[0] *= size > self.contact_threshold
        self._over[1] *= size > self.threshold
        contact, collision = self._over >= self.settings.debounce
        fresh, self._latched = not self.latched, self._latched | (collision & self._enabled)
        if self.latched and self.payload is not None:
            self._name(self.payload, fresh)
        self._set_level(contact + np.uint8(Level.OK))
        self.message = 'ok' if self.level.max() == Level.OK else self._describe()
        self._alarm = bool(self._over.any() or self._latched.any())

    def _name(self, payload: PayloadChange, fresh: bool) -> None:
        """Name what a collision looks like, as soon as it may have been lifted."""
        if fresh:
            self._like, self._named = '', self._stamp + WAIT
        if payload.adopts or self._stamp >= self._named:
            self._like, self._named = payload.name(*self._change()), np.inf
            payload.restart()  # nothing is compared with the time before a collision

    def _set_level(self, level: NDArray[np.uint8] | np.uint8) -> NDArray[np.uint8]:
        self.level[:] = level
        self.level[~self._enabled] = Level.UNKNOWN
        self.level[self._latched] = Level.COLLISION
        return self.level

    def _describe(self) -> str:
        worst = int(self.level.max())
        if worst == Level.UNKNOWN:
            return UNMONITORED
        word = 'collision' if worst == Level.COLLISION else 'contact'
        joints = np.flatnonzero(self.level == worst)
        like = self._like if self.latched else ''
        return f'{word} at {", ".join(self.joints[i] for i in joints)}{like}'
