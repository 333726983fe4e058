"""A stream of references, checked: what may be fed forward, and its acceleration."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array

CLOSEST = 0.25
"""Samples may not follow each other faster, in periods: their difference would be no
acceleration. Stamps of a sender that is late with one sample and in time with the next may."""
CREEP = 0.01
"""Up to this velocity a position may stay the same, by its resolution; in [rad/s] or [m/s]."""


class ReferenceMotion:
    """Checks the samples of a reference and differentiates its velocity.

    Acceleration is the difference of the last two velocities over the time between them: causal,
    so it belongs to half a cycle earlier. A first sample after a gap has acceleration zero.

    :ivar elapsed: time since the sample before, in [s]; of the first one infinite
    """

    def __init__(self, *, width: int, timeout: float, period: float) -> None:
        """Begin.

        :param width: number n of joints
        :param timeout: a longer pause is a gap, and positions may not stay the same for longer
            while the velocity says they move (faster than CREEP), in [s]
        :param period: that samples are meant to have, in [s]
        """
        self.position = np.zeros(width)
        self.velocity = np.zeros(width)
        self.acceleration = np.zeros(width)
        self.timeout = timeout
        self._closest = CLOSEST * period
        self.restart()

    def restart(self) -> None:
        """Forget the samples seen."""
        self.stamp = -np.inf
        self.elapsed = np.inf
        self._moved = -np.inf

    def refusal(self, stamp: float) -> str:
        """Say why a sample of this stamp, in [s], is to be left out (no fault), or nothing."""
        step = stamp - self.stamp
        if 0.0 <= step < self._closest:
            return f'its stamp is only {step:.3g} s after that of the sample before'
        return ''

    def read(self, stamp: float, position: Array, velocity: Array) -> str:
        """Take the sample of a cycle over; return '' or why it must not be used (a fault).

        :param stamp: time of the sample, in [s]
        :param position: shape (n,), finite, in [rad] or [m]
        :param velocity: shape (n,), finite, in [rad/s] or [m/s]
        """
        step = stamp - self.stamp
        if step <= 0.0:
            return f'the stamp of the reference went back by {-step:.6g} s'
        if step > self.timeout:
            self.acceleration[:] = 0.0
            self._moved = stamp
        else:
            np.subtract(velocity, self.velocity, out=self.acceleration)
            self.acceleration /= step
        moved = position.tobytes() != self.position.tobytes()
        if moved or max(map(abs, velocity.tolist())) <= CREEP:
            self._moved = stamp
        self.stamp, self.elapsed = stamp, step
        self.position[:] = position
        self.velocity[:] = velocity
        if stamp - self._moved > self.timeout:
            return 'the reference position does not change although its velocity says it moves'
        return ''
