# SPDX-License-Identifier: Apache-2.0
"""Gear torque of each cycle, from the encoders on both sides of the gears.

It is computed from measured states, not from the reference, so that it closes a loop: torque
deflects the gear, and the deflection changes the torque. It is therefore limited to the range of
the training data, has a separate scale, and fades to zero as soon as measurements are missing.
"""

from __future__ import annotations

import numpy as np

from robodyn_ros.control.torque.low_pass import HIGHEST_SHARE, MatchedLowPass
from robodyn_ros.errors import ControlError
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array

STUCK = 0.1
"""Motion of a joint, as a share of the trained range of its deflection, in which the value of its
motor must change: then the error is a tenth of the torque."""


class MeasuredGearTorque:
    """Torque of each cycle from measured positions that arrive at any time."""

    def __init__(
        self,
        law: GearTorqueLaw,
        *,
        period: float,
        scale: float = 0.5,
        timeout: float = 0.02,
        fade_time: float = 0.1,
    ) -> None:
        """Reserve the memory; the torque is zero until measurements have settled.

        :param period: of the cycles, in [s]; the rate of measurements may differ
        :param scale: share of the gear torque that is applied, 0..1
        :param timeout: older measurements are not used, in [s]
        :param fade_time: from full torque to zero and back, in [s]
        :raises ControlError: a scale outside 0 to 1, or a time that is not positive and finite
        """
        if not 0.0 <= scale <= 1.0:
            raise ControlError(f'residual_scale must be from 0 to 1, got {scale}')
        for name, value in (('period', period), ('timeout', timeout), ('fade_time', fade_time)):
            if not 0.0 < value < np.inf:
                raise ControlError(
                    f'{name} of the gear torque must be above 0 and finite, got {value}'
                )
        width = len(law.joints)
        self.joints = law.joints
        self.scale = scale
        self._law = law
        cutoff = min(law.cutoff or np.inf, HIGHEST_SHARE / period)
        self._low_pass = MatchedLowPass(signals=2, width=width, cutoff=cutoff, period=period)
        self._period, self._timeout = period, timeout
        self._stamp = self._due = 0.0
        self._stale = max(1, int(timeout / period + 1e-9))
        self._step = min(1.0, period / fade_time)
        self._signals = np.zeros((2, width))
        self._play = STUCK * (law.high - law.low)[:, 0]
        self._play[law.limit == 0.0] = np.inf  # no torque depends on it
        self._motor, self._left = np.zeros((2, width))
        self._last = np.zeros(width)
        self.applied = np.zeros(width)
        self.clear()

    def clear(self) -> None:
        """Forget the measurements; the torque is zero immediately."""
        self._age, self._share = self._stale, 0.0
        self._fresh = self._restarting = False
        self._motor[:] = np.nan
        self._last[:] = self.applied[:] = 0.0

    def read(self, position: Array, motor: Array, stamp: float) -> bool:
        """Read measured positions; return False for those that are not finite, newer or live.

        The filter runs on the clock of the stamps, in steps of the period.

        :param position: of the joints, shape (n,), in [rad] or [m]
        :param motor: of the motor encoders, shape (n,)
        :param stamp: time of measurement, in [s]
        """
        elapsed = stamp - self._stamp
        if not elapsed > 0.0:
            self._stamp = stamp
            return False
        np.divide(motor, self._law.gear_ratio, out=self._signals[1])
        np.subtract(self._signals[1], position, out=self._signals[0])
        if not np.isfinite(self._signals).all() or self._stuck(position, motor):
            return False
        self._stamp = stamp
        if self._age >= self._stale or elapsed > self._timeout:
            self._low_pass.restart(self._signals)
            self._due = 0.0
            self._restarting = True
        else:
            self._due += elapsed / self._period
            steps = round(self._due)
            self._due -= steps
            for _ in range(steps):
                self._low_pass.update(self._signals)
        self._age, self._fresh = 0, True
        return True

    def _stuck(self, position: Array, motor: Array) -> bool:
        """Return True if the value of a motor stays the same though its joint moves."""
        np.copyto(self._left, position, where=motor != self._motor)
        self._motor[:] = motor
        return bool((np.abs(position - self._left) > self._play).any())

    def torque(self) -> Array:
        """Advance by one cycle.

        :return: torque to add, shape (n,), in [Nm] or [N]; the array belongs to this object
        """
        self._restarting = self._restarting and self._share > 0.0  # first to zero
        stale = self._restarting or self._age >= self._stale
        self._age = min(self._age + 1, self._stale)
        self._share = min(max(self._share + (-self._step if stale else self._step), 0.0), 1.0)
        if self._fresh and not stale:
            value, rate = self._low_pass.value, self._low_pass.derivative
            found = self._law.torque(value[:1], rate[:1], rate[1:])[0]
            if np.isfinite(found).all():
                self._last[:] = found
        self._fresh = False
        np.multiply(self._last, self.scale * self._share, out=self.applied)
        return self.applied
