# SPDX-License-Identifier: Apache-2.0
"""Sines between two positions: softMC's SineWave.

Source: softMC document "Inverse dynamic model", section 4.1 and the examples after it
(`SineWave target SineWaveFreq = f`, f in [Hz]).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.excitation.motions.arguments import check_frequencies, joint_names, per_joint
from robodyn_ros.excitation.motions.ramp import DEFAULT_LEAD, RampedMotion
from robodyn_ros.excitation.trajectory import Array


class SineMotion(RampedMotion):
    """Oscillation of each joint between its start and its target, with its own frequency.

    q(s) = start + (target - start) (1 - cos(2 pi f s)) / 2, which is at rest at the start. Its
    acceleration there is not zero, so that s starts slowly (see `ramp`).
    """

    kind = 'sine'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
        frequency: Sequence[float] | Array | float,
        duration: float,
        lead_in: float | None = DEFAULT_LEAD,
        lead_out: float | None = DEFAULT_LEAD,
    ) -> None:
        """Check and store the arguments.

        :param start: start of the motion, shape (n,), in [rad] or [m]
        :param target: shape (n,), the other turning point, in [rad] or [m]
        :param frequency: shape (n,) or one for all, in [Hz]
        :param duration: from rest to rest, lead-in and lead-out included, in [s]
        :param lead_in: time to reach the full frequency, in [s]; 0: start with a step of
            acceleration, as softMC does
        :param lead_out: time to come to rest from full frequency, in [s]
        :raises MotionError: wrong counts, no positive frequency, too short a duration
        """
        self.joints = joint_names(joints)
        self.start = per_joint(self.joints, 'start', start)
        self.target = per_joint(self.joints, 'target', target)
        self.frequency = per_joint(self.joints, 'frequency', frequency)
        check_frequencies(self.joints, self.frequency)
        self._set_ramps(duration, lead_in, lead_out, start=0.0)

    def curve(self, s: Array) -> tuple[Array, Array, Array]:
        """Compute position and derivatives of the sines."""
        omega = 2.0 * np.pi * self.frequency
        phase = s[:, None] * omega
        half = 0.5 * (self.target - self.start)
        cosine = np.cos(phase)
        return (
            self.start + half * (1.0 - cosine),
            half * omega * np.sin(phase),
            half * omega**2 * cosine,
        )
