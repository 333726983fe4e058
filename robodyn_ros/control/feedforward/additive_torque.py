# SPDX-License-Identifier: Apache-2.0
"""Additive torque of each cycle: model torque with delay, limits and ramps."""

from __future__ import annotations

import math
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.checks import check_between, check_joints
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.delay import DelayLine
from robodyn_ros.control.torque.gear_torque import MeasuredGearTorque
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.models.interface import Array


class State(Enum):
    """State of the additive torque; it is exactly zero in INACTIVE."""

    INACTIVE = 'inactive'
    RAMPING_IN = 'ramping in'
    ACTIVE = 'active'
    RAMPING_OUT = 'ramping out'


ENABLED = (State.RAMPING_IN, State.ACTIVE)


class AdditiveTorque:
    """The additive torque law (softMC Taddcmd), one call per cycle.

    `update` processes the reference of a cycle, `idle` a cycle without one. Both return the torque
    to send. It is always finite, within the limit, and differs from the previous one by at most
    max_torque_rate times the cycle time. A ramp to zero is independent of the references. A
    fault starts such a ramp and stays until `reset`. A new scale, or new parameter values, are
    blended in over ramp_up_time.
    """

    def __init__(
        self,
        *,
        torque: ModelTorque,
        settings: FeedforwardSettings,
        gear_torque: MeasuredGearTorque | None = None,
    ) -> None:
        """Reserve the memory; the law starts inactive.

        :param gear_torque: torque by measured deflections of the gears, added without the delay of
            the model torque; None: no such torque
        :raises ControlError: the settings are for other joints than the model's
        """
        check_joints('feed-forward', settings.joints, torque.joints)
        width = len(torque.joints)
        self.joints = torque.joints
        self.settings = settings
        self.state = State.INACTIVE
        self.fault = NO_FAULT
        self.requested = np.zeros(width)
        self.applied = np.zeros(width)
        self.gear_torque = gear_torque
        self._torque = torque
        self._standstill = StandstillFriction(
            window=torque.velocity_window,
            fade_time=settings.friction_fade_time,
            period=settings.period,
        )
        self._delay = DelayLine(width=width, cycles=settings.additive_torque_delay)
        self._bounds = list(
            zip(settings.limit.tolist(), (settings.rate * settings.period).tolist(), strict=True)
        )
        self._up = settings.period / settings.ramp_up_time
        self._down_cycles = settings.ramp_down_cycles
        self._ramp = 0.0
        self._fading = np.zeros(width)
        self._scale = settings.feedforward_scale
        self._scales = (self._scale, self._scale)  # before and after the last change
        self._rescaled = self._revalued = 1.0  # completed share of the last change

    @property
    def scale(self) -> float:
        """Share of the model torque that is applied, 0..1, after a change is blended in."""
        return self._scales[1]

    @scale.setter
    def scale(self, scale: float) -> None:
        """Blend in another scale; one outside 0 to 1 is a ControlError and changes nothing."""
        check_between('feedforward_scale', scale, 0.0, 1.0)
        if scale != self._scales[1]:
            self._scales = (self._scale, scale)
            self._rescaled = 0.0

    def set_values(self, values: ArrayLike) -> None:
        """Blend in other parameter values, for example of another payload.

        :param values: shape (p,), SI
        :raises ControlError: a wrong number of values, or values that are not finite; the old
            ones are then kept
        """
        self._torque.blend_to(values)
        self._revalued = 0.0

    @property
    def enabled(self) -> bool:
        """True if model torque is applied (it is not zero and not on a ramp to zero)."""
        return self.state in ENABLED

    def start(self) -> None:
        """Ramp the model torque in, starting from the present torque.

        :raises ControlError: a fault is latched
        """
        if self.fault:
            text = f'additive torque is held at zero by a fault: {self.fault}'
            raise ControlError(text, fault='fault_latched')
        if not self.enabled:
            self._delay.clear()
            self._standstill.clear()
            if self.gear_torque is not None:
                self.gear_torque.clear()
            self._ramp = 0.0
            self._follow_changes(1.0)
            self.state = State.RAMPING_IN

    def stop(self) -> None:
        """Ramp the torque out."""
        if self.enabled:
            self._fading[:] = self.applied
            self._ramp = 1.0
            self.state = State.RAMPING_OUT

    def trip(self, fault: Fault) -> None:
        """Latch a fault (the first one is kept) and ramp the torque out."""
        self.fault = self.fault or fault
        self.stop()

    def reset(self) -> None:
        """Clear the fault; `start` is needed to apply torque again."""
        self.fault = NO_FAULT

    def update(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        elapsed: float = math.inf,
        passed: float = math.inf,
    ) -> Array:
        """Advance by one cycle with this reference; an unusable one is a fault.

        :param q: reference position, shape (n,), in [rad] or [m]
        :param qd: reference velocity, shape (n,), in [rad/s] or [m/s]
        :param qdd: reference acceleration, shape (n,), in [rad/s^2] or [m/s^2]
        :param elapsed: time since the previous reference, in [s]; the torque may change in
            proportion to it, up to one period
        :param passed: time that has passed for the drives, in [s], if that may be less
        :return: torque to send, shape (n,), in [Nm] or [N]; the array belongs to the law
        """
        share = min(1.0, elapsed / self.settings.period)
        self._follow_changes(share * self._up if self.enabled else 1.0)
        problem = self._request(q, qd, qdd, share)
        if problem:
            self.trip(problem)
            return self.idle()
        delayed = self._delay.push(self.requested)
        if not self.enabled:
            return self.idle()
        if self.gear_torque is not None:
            delayed = delayed + self.gear_torque.torque()
        self._ramp = min(1.0, self._ramp + share * self._up)
        if self._ramp == 1.0:
            self.state = State.ACTIVE
        share = min(share, passed / self.settings.period)
        return self._approach(delayed, self._scale * self._ramp, share)

    def idle(self) -> Array:
        """Advance by one cycle without a reference: continue a ramp, or hold the present torque.

        :return: torque to send, shape (n,), in [Nm] or [N]; the array belongs to the law
        """
        if self.state is State.RAMPING_OUT:
            self._ramp -= 1.0 / self._down_cycles
            if self._ramp < 1e-9:
                self.state = State.INACTIVE
                self._ramp = 0.0
            self.applied[:] = self._fading * self._ramp
        return self.applied

    def _follow_changes(self, step: float) -> None:
        """Continue changes of scale and values by a share of them."""
        if self._rescaled < 1.0:
            self._rescaled = min(1.0, self._rescaled + step)
            before, after = self._scales
            self._scale = before + self._rescaled * (after - before)
        if self._revalued < 1.0:
            self._revalued = min(1.0, self._revalued + step)
            self._torque.blend(self._revalued)

    def _request(self, q: Array, qd: Array, qdd: Array, share: float) -> Fault:
        """Compute the model torque into `requested`; return why it cannot be used."""
        shape = self.applied.shape
        if q.shape != shape or qd.shape != shape or qdd.shape != shape:
            text = f'expected {shape[0]} reference positions, velocities and accelerations'
            return Fault('reference_incomplete', text)
        # Values whose squares overflow count as not finite.
        size = math.hypot(*q.tolist(), *qd.tolist(), *qdd.tolist())
        if not size < 1e150:
            return Fault('reference_not_finite', 'the reference is not finite')
        # No torque overflows below 1e6; turning numpy's warnings off costs 0.5 us per operation.
        if size < 1e6:
            torque = self._model_torque(q, qd, qdd, share)
        else:
            with np.errstate(all='ignore'):
                torque = self._model_torque(q, qd, qdd, share)
        if not math.hypot(*torque.tolist()) < 1e150:
            text = 'the model torque of the reference is not finite'
            return Fault('torque_not_finite', text)
        self.requested[:] = torque
        return NO_FAULT

    def _model_torque(self, q: Array, qd: Array, qdd: Array, share: float) -> Array:
        """Compute the torque of one sample; at standstill friction keeps its previous sign."""
        torque = self._torque
        result = torque.friction(self._standstill.velocity(qd, share), torque.load(q, qd, qdd))
        result += torque.body(q, qd, qdd)
        return result

    def _approach(self, target: Array, scale: float, share: float) -> Array:
        """Move towards the scaled target within the limit and this share of a period's rate."""
        # Joint by joint: for a few numbers this takes a third of numpy's time.
        rows = zip(target.tolist(), self.applied.tolist(), self._bounds, strict=True)
        sent = []
        for wanted, now, (limit, most) in rows:
            aim, step = wanted * scale, most * share
            aim = limit if aim > limit else -limit if aim < -limit else aim
            low, high = now - step, now + step
            sent.append(high if aim > high else low if aim < low else aim)
        self.applied[:] = sent
        return self.applied
