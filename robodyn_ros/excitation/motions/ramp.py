# SPDX-License-Identifier: Apache-2.0
"""Curves q(s) from rest to rest, with lead-in and lead-out by the rate of s.

ds/dt rises from 0 to 1 during the lead-in and falls to 0 during the lead-out. The motion stays on
the curve and is never faster. With s'' = 0 at both ends of each ramp, velocity, acceleration and
jerk start and end at zero. The ramps add an acceleration of up to 1.875 |dq/ds| / lead.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import ROUNDING, Array, Motion, Trajectory

DEFAULT_LEAD = 1.0
"""Default length in [s] of a required lead-in or lead-out."""


class RampedMotion(Trajectory):
    """A curve with lead-in and lead-out; a subclass defines the curve."""

    @abstractmethod
    def curve(self, s: Array) -> tuple[Array, Array, Array]:
        """Compute position, first and second derivative by s, each (N, n), for s of (N,)."""

    def _set_ramps(
        self,
        duration: float | None,
        lead_in: float | None,
        lead_out: float | None,
        *,
        length: float | None = None,
        start: float | None = None,
    ) -> None:
        """Set the schedule s(t).

        :param duration: from rest to rest, leads included, in [s]; None: `length` at full speed
        :param lead_in: in [s]; None: 0 if the curve is at rest, else 1 s
        :param lead_out: in [s]; likewise
        :param start: s at t = 0; None: s = 0 is the end of the lead-in
        """
        for name, value in (('duration', duration), ('lead_in', lead_in), ('lead_out', lead_out)):
            if value is not None and not (np.isfinite(value) and value >= 0.0):
                raise MotionError(f'{name} must be a number of seconds, not below 0, got {value}')
        first = 0.0 if start is None else start
        self.lead_in = self._lead(first, lead_in, 'lead_in')
        total = (length or 0.0) + self.lead_in if duration is None else duration
        self._start = -self.lead_in / 2.0 if start is None else start
        end = self._start + total - self.lead_in / 2.0
        self.lead_out = self._lead(end, lead_out, 'lead_out')
        self.duration = float(total + (self.lead_out if duration is None else 0.0))
        if self.duration <= 0.0 or self.lead_in + self.lead_out > self.duration * (1.0 + 1e-12):
            raise MotionError(
                f'a motion of {self.duration:.6g} s is too short for its lead-in '
                f'({self.lead_in:.6g} s) and lead-out ({self.lead_out:.6g} s)'
            )

    def _lead(self, s: float, given: float | None, name: str) -> float:
        _, speed, change = self.curve(np.array([s]))
        moving = np.abs(speed[0]) > ROUNDING
        if given is None:
            smooth = not moving.any() and not (np.abs(change[0]) > ROUNDING).any()
            return 0.0 if smooth else DEFAULT_LEAD
        if given == 0.0 and moving.any():
            joint = int(np.argmax(moving))
            raise MotionError(
                f'joint {self.joints[joint]!r} is not at rest at this end of the motion '
                f'({speed[0, joint]:.4g} per second): {name} must be above 0'
            )
        return float(given)

    def sample(self, time: Array) -> Motion:
        """Evaluate the curve at s(t)."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        s, rate, change = (value[:, None] for value in self.schedule(time))
        position, first, second = self.curve(s[:, 0])
        return Motion(time, position, first * rate, second * rate**2 + first * change)

    def schedule(self, time: Array) -> tuple[Array, Array, Array]:
        """Return s, ds/dt and d2s/dt2 at the given times (N,)."""
        s = self._start + time
        rate, change = np.ones_like(time), np.zeros_like(time)
        s -= self.lead_in / 2.0
        if self.lead_in > 0.0:
            rows = time < self.lead_in
            x = time[rows] / self.lead_in
            s[rows] = self._start + self.lead_in * _ramp_integral(x)
            rate[rows], change[rows] = _ramp(x), _ramp_slope(x) / self.lead_in
        if self.lead_out > 0.0:
            left = self.duration - time
            rows = left < self.lead_out
            x = left[rows] / self.lead_out
            end = self._start + self.duration - (self.lead_in + self.lead_out) / 2.0
            s[rows] = end - self.lead_out * _ramp_integral(x)
            rate[rows], change[rows] = _ramp(x), -_ramp_slope(x) / self.lead_out
        return s, rate, change


def _ramp(x: Array) -> Array:
    """Compute a rise from 0 to 1 with zero first and second derivative at both ends."""
    return x**3 * (10.0 + x * (-15.0 + 6.0 * x))


def _ramp_slope(x: Array) -> Array:
    return 30.0 * x * x * (1.0 - x) * (1.0 - x)


def _ramp_integral(x: Array) -> Array:
    result: Array = x**4 * (2.5 + x * (-3.0 + x))
    return result
