# SPDX-License-Identifier: Apache-2.0
"""Checks, acceleration and pace of a stream of references."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array

CREEP = 0.01
"""Velocity up to which positions may be constant due to resolution, in [rad/s] or [m/s]: 20 urad
in 2 ms, the step of an encoder of 18 bits."""


class Pace:
    """Limit of the time for torque changes to the time that has passed for the drives.

    Samples that arrive in a burst, after their sender or the node was delayed, have correct
    stamps; but the torque must not change instantly by what it may between those stamps.
    """

    def __init__(self, period: float) -> None:
        """Start with the `period` of the samples, in [s]."""
        # Two samples at once, each with the torque change of a complete period.
        self._most = self._left = 2.0 * period
        self._last = -math.inf

    def take(self, now: float, wanted: float) -> float:
        """Return the time for a torque change, in [s]: the wanted time, or what remains of it.

        :param now: time of a steady clock, in [s]
        """
        self._left = min(self._most, self._left + now - self._last)
        self._last = now
        taken = min(wanted, self._left)
        self._left -= taken
        return taken


class ReferenceMotion:
    """Checks of the samples of a reference, and differentiation of its velocity.

    Acceleration is the difference of the last two velocities over the time between them. It is
    causal, so that it belongs to half a cycle earlier. That of the first sample is zero.

    :ivar elapsed: time since the previous sample, in [s]; infinite at the first one
    :ivar spacing: mean of the last 100 of these times, in [s]
    """

    def __init__(self, *, width: int, timeout: float, period: float) -> None:
        """Start without a sample.

        :param timeout: largest distance of stamps, and longest time of constant positions at a
            velocity above CREEP, in [s]
        :param period: nominal period of the samples, in [s]
        """
        self.position = np.zeros(width)
        self.velocity = np.zeros(width)
        self.acceleration = np.zeros(width)
        self.timeout = timeout
        self._period = period
        # Closer samples give no useful acceleration; a late one may be followed by one on time.
        self._closest = 0.25 * period
        self.restart()

    def restart(self) -> None:
        """Forget earlier samples."""
        self.stamp = -np.inf
        self.elapsed = np.inf
        self.spacing = self._period

    def refusal(self, stamp: float) -> str:
        """Return why a sample with this stamp, in [s], is ignored without a fault, or ''."""
        step = stamp - self.stamp
        if 0.0 <= step < self._closest:
            return f'its stamp is only {step:.3g} s after that of the previous sample'
        return ''

    def off_pace(self, delay: int) -> str:
        """Return a sentence if the period of the samples is not within 20 % of the nominal one.

        :param delay: samples by which torque is delayed
        """
        if abs(self.spacing / self._period - 1.0) <= 0.2:
            return ''
        return (
            f'references come every {1e3 * self.spacing:.3g} ms, the parameter period is '
            f'{1e3 * self._period:.3g} ms: additive_torque_delay of {delay} references is '
            f'{1e3 * delay * self.spacing:.3g} ms in place of {1e3 * delay * self._period:.3g} ms'
        )

    def read(self, stamp: float, position: Array, velocity: Array) -> Fault:
        """Read the sample of a cycle; return NO_FAULT or why it must not be used.

        :param stamp: time of the sample, in [s]
        :param position: shape (n,), finite, in [rad] or [m]
        :param velocity: shape (n,), finite, in [rad/s] or [m/s]
        """
        step = stamp - self.stamp
        if step <= 0.0:
            return Fault('time_back', f'the stamp of the reference went back by {-step:.6g} s')
        if self.timeout < step < np.inf:
            text = f'the stamp of the reference jumped forward by {step:.6g} s'
            return Fault('time_forward', text)
        if step == np.inf:
            self.acceleration[:] = 0.0
            self._moved = stamp
        else:
            np.subtract(velocity, self.velocity, out=self.acceleration)
            self.acceleration /= step
            self.spacing += 0.01 * (step - self.spacing)
        moved = position.tobytes() != self.position.tobytes()
        if moved or max(map(abs, velocity.tolist())) <= CREEP:
            self._moved = stamp
        self.stamp, self.elapsed = stamp, step
        self.position[:] = position
        self.velocity[:] = velocity
        if stamp - self._moved > self.timeout:
            text = 'the reference position does not change although its velocity is not zero'
            return Fault('reference_frozen', text)
        return NO_FAULT
