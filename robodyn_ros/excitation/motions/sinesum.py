"""Sums of sines with individual frequencies: algorithm A.

Source: document "local_identification", Eq. 1: q = q0 + sum_k a_k sin(w_k t), with w_k different
for every joint and every k.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.ramp import (
    DEFAULT_LEAD,
    RampedMotion,
    Rows,
    joint_names,
    per_joint,
    rows_per_joint,
)
from robodyn_ros.excitation.trajectory import Array


class SineSumMotion(RampedMotion):
    """A sum of sines for each joint, with slow start and end (see `ramp`)."""

    def __init__(
        self,
        *,
        joints: Sequence[str],
        center: Sequence[float] | Array,
        amplitude: Rows,
        frequency: Rows,
        duration: float,
        lead_in: float | None = DEFAULT_LEAD,
        lead_out: float | None = DEFAULT_LEAD,
    ) -> None:
        """Check and store the arguments.

        :param center: q0, start of the motion, shape (n,), in [rad] or [m]
        :param amplitude: shape (n, W), in [rad] or [m]
        :param frequency: shape (n, W), in [Hz]
        :param duration: from rest to rest, leads included, in [s]
        :param lead_in: time to reach the full frequency, in [s]
        :param lead_out: time to come to rest from full frequency, in [s]
        :raises MotionError: wrong counts, a frequency that is not above zero, too short a duration
        """
        self.joints = joint_names(joints)
        self.center = per_joint(self.joints, 'center', center)
        self.amplitude = rows_per_joint(self.joints, 'amplitude', amplitude)
        self.frequency = rows_per_joint(self.joints, 'frequency', frequency)
        if self.amplitude.shape != self.frequency.shape:
            raise MotionError(
                f'amplitude and frequency must have as many columns, got '
                f'{self.amplitude.shape[1]} and {self.frequency.shape[1]}'
            )
        if (self.frequency <= 0.0).any():
            joint = int(np.argmax((self.frequency <= 0.0).any(axis=1)))
            raise MotionError(
                f'every frequency of joint {self.joints[joint]!r} must be above 0 Hz, '
                f'got {self.frequency[joint].tolist()}'
            )
        self._set_ramps(duration, lead_in, lead_out, start=0.0)

    def curve(self, s: Array) -> tuple[Array, Array, Array]:
        """Compute position and derivatives of the sums."""
        omega = 2.0 * np.pi * self.frequency
        phase = s[:, None, None] * omega
        sine, cosine = np.sin(phase), np.cos(phase)
        return (
            self.center + (self.amplitude * sine).sum(axis=2),
            (self.amplitude * omega * cosine).sum(axis=2),
            -(self.amplitude * omega**2 * sine).sum(axis=2),
        )

    def schedule(self, time: Array) -> tuple[Array, Array, Array]:
        """Return s, ds/dt and d2s/dt2 at the given times (N,)."""
        return self._schedule(time)

    def describe(self) -> dict[str, object]:
        """Return the arguments of the constructor."""
        values = {
            name: getattr(self, name).tolist() for name in ('center', 'amplitude', 'frequency')
        }
        return {
            'kind': 'sine_sum',
            'joints': list(self.joints),
            **values,
            **self._describe_ramps(),
        }
