# SPDX-License-Identifier: Apache-2.0
"""Sums of sines with individual frequencies: algorithm A.

Source: document "local_identification", Eq. 1: q = q0 + sum_k a_k sin(w_k t), with w_k different
for every joint and every k.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.excitation.motions.arguments import (
    Rows,
    check_frequencies,
    joint_names,
    per_joint,
    rows_per_joint,
)
from robodyn_ros.excitation.motions.ramp import DEFAULT_LEAD, RampedMotion
from robodyn_ros.excitation.trajectory import Array


class SineSumMotion(RampedMotion):
    """A sum of sines for each joint, with slow start and end (see `ramp`)."""

    kind = 'sine_sum'

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
        self.amplitude, self.frequency = rows_per_joint(
            self.joints, amplitude=amplitude, frequency=frequency
        )
        check_frequencies(self.joints, self.frequency)
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
