# SPDX-License-Identifier: Apache-2.0
"""Fourier series of given coefficients.

Source: document "double_encoder_identification_2023", section 3 (reference models.md, section 7):
q_i(s) = theta_i0 + sum_l a_il / (w l) sin(w l s) - b_il / (w l) cos(w l s)
with w = 2 pi base_frequency, so that a and b are velocities in [rad/s] or [m/s].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.arguments import (
    Rows,
    joint_names,
    per_joint,
    rows_per_joint,
)
from robodyn_ros.excitation.motions.ramp import RampedMotion
from robodyn_ros.excitation.trajectory import Array


class FourierMotion(RampedMotion):
    """A periodic motion of all joints with one base frequency."""

    kind = 'fourier'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        center: Sequence[float] | Array,
        a: Rows,
        b: Rows,
        base_frequency: float,
        duration: float | None = None,
        lead_in: float | None = None,
        lead_out: float | None = None,
    ) -> None:
        """Check and store the coefficients.

        :param center: theta_0, shape (n,), in [rad] or [m]
        :param a: shape (n, L) for L harmonics, in [rad/s] or [m/s]
        :param b: shape (n, L), in [rad/s] or [m/s]
        :param base_frequency: in [Hz]
        :param duration: from rest to rest, leads included, in [s]; None: one complete period
            between the leads
        :param lead_in: in [s]; None: 0 if the series starts at rest, else 1 s. It covers the end
            of the previous period, so that the period itself is complete
        :param lead_out: in [s]; None: 0 if the series ends at rest, else 1 s
        :raises MotionError: wrong counts or values, or an end that is not at rest without lead
        """
        self.joints = joint_names(joints)
        self.center = per_joint(self.joints, 'center', center)
        self.a, self.b = rows_per_joint(self.joints, a=a, b=b)
        self.base_frequency = _positive(base_frequency)
        period = 1.0 / self.base_frequency
        self._set_ramps(duration, lead_in, lead_out, length=period)

    @classmethod
    def from_rest(
        cls,
        *,
        joints: Sequence[str],
        position: Sequence[float] | Array,
        a: Rows,
        b: Rows,
        base_frequency: float,
    ) -> FourierMotion:
        """Make the nearest series that is at `position` and at rest at both ends.

        The coefficients are moved by the least squares that gives sum_l a_l = 0 (velocity),
        sum_l l b_l = 0 (acceleration) and theta_0 = position + sum_l b_l / (w l).

        :param position: shape (n,), in [rad] or [m]
        :param a: shape (n, L), L at least 2
        :raises MotionError: as the constructor, or fewer than two harmonics
        """
        names = joint_names(joints)
        first, second = rows_per_joint(names, a=a, b=b)
        if first.shape[1] < 2:
            raise MotionError('a Fourier series at rest at both ends needs at least 2 harmonics')
        order = np.arange(1.0, second.shape[1] + 1.0)
        first = first - first.mean(axis=1, keepdims=True)
        second = second - np.outer(second @ order, order) / (order @ order)
        omega = 2.0 * np.pi * _positive(base_frequency)
        center = per_joint(names, 'position', position) + second @ (1.0 / (omega * order))
        return cls(
            joints=names,
            center=center,
            a=first,
            b=second,
            base_frequency=base_frequency,
            duration=1.0 / base_frequency,
            lead_in=0.0,
            lead_out=0.0,
        )

    def curve(self, s: Array) -> tuple[Array, Array, Array]:
        """Compute position and derivatives of the series."""
        omega = 2.0 * np.pi * self.base_frequency * np.arange(1.0, self.a.shape[1] + 1.0)
        phase = s[:, None] * omega
        sine, cosine = np.sin(phase), np.cos(phase)
        return (
            self.center + sine @ (self.a / omega).T - cosine @ (self.b / omega).T,
            cosine @ self.a.T + sine @ self.b.T,
            cosine @ (self.b * omega).T - sine @ (self.a * omega).T,
        )


def _positive(base_frequency: float) -> float:
    if not (np.isfinite(base_frequency) and base_frequency > 0.0):
        raise MotionError(f'base_frequency must be above 0 Hz, got {base_frequency}')
    return float(base_frequency)
