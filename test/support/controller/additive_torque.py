# SPDX-License-Identifier: Apache-2.0
"""Additive torque law (softMC Taddcmd) in numpy, with which the controller plugin must agree."""

from __future__ import annotations

from collections import deque

import numpy as np

from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque.standstill import StandstillFriction
from robodyn_ros.models.interface import Array


class Blend:
    """A value that changes to another one linearly, in a number of cycles."""

    def __init__(self, value: Array | float, cycles: float) -> None:
        self.value = self.start = self.end = value
        self._step, self.share = 1.0 / cycles, 1.0

    def to(self, value: Array | float) -> None:
        self.start, self.end, self.share = self.value, value, 0.0

    def advance(self) -> None:
        self.share = min(1.0, self.share + self._step)
        self.value = self.start + self.share * (self.end - self.start)


class AdditiveTorque:
    """Model torque with delay, ramp from zero, limit and rate, one call of `update` per cycle.

    :ivar requested: model torque of the last cycle, shape (n,)
    :ivar applied: torque that leaves, shape (n,)
    """

    def __init__(self, *, torque: ModelTorque, settings: FeedforwardSettings) -> None:
        self.settings, self._torque = settings, torque
        self._standstill = StandstillFriction(
            window=torque.velocity_window, fade_time=settings.friction_fade_time,
            period=settings.period,
        )  # fmt: skip
        cycles = settings.ramp_up_time / settings.period
        self._ramp, self._cycles = 0.0, cycles
        self._scale = Blend(settings.feedforward_scale, cycles)
        self._values = Blend(torque.values, cycles)
        self._line: deque[Array] = deque(maxlen=settings.additive_torque_delay + 1)
        self.requested = self.applied = np.zeros(len(torque.joints))

    @property
    def scale(self) -> float:
        return float(self._scale.end)

    @scale.setter
    def scale(self, scale: float) -> None:
        if scale != self._scale.end:
            self._scale.to(scale)

    def set_values(self, values: Array) -> None:
        """Blend in the values of another payload, shape (p,)."""
        self._values.to(values)

    def update(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Advance by one cycle with this reference, shape (n,) each; return the torque to send."""
        self._scale.advance()
        if self._values.share < 1.0:
            self._values.advance()
            self._torque.set_values(self._values.value)
        slow = self._standstill.velocity(qd)
        load = self._torque.load(q, qd, qdd)
        self.requested = self._torque.body(q, qd, qdd) + self._torque.friction(slow, load)
        if not self._line:
            self._line.extend([self.requested] * self.settings.additive_torque_delay)
        self._line.append(self.requested)
        self._ramp = min(1.0, self._ramp + 1.0 / self._cycles)
        limit, step = self.settings.limit, self.settings.rate * self.settings.period
        aim = np.clip(self._line[0] * self._scale.value * self._ramp, -limit, limit)
        self.applied = np.clip(aim, self.applied - step, self.applied + step)
        return self.applied
