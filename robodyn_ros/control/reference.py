"""A stream of references, checked: what may be fed forward, and its acceleration."""

from __future__ import annotations

import numpy as np

from robodyn_ros.models.interface import Array

CREEP = 0.01
"""Up to this velocity a position may stay the same, by its resolution; in [rad/s] or [m/s]."""


class ReferenceMotion:
    """Checks the samples of a reference and differentiates its velocity.

    Acceleration is the difference of the last two velocities over the time between them: causal,
    so it belongs to half a cycle earlier. A first sample after a gap has acceleration zero.
    """

    def __init__(self, *, width: int, timeout: float) -> None:
        """Begin.

        :param width: number n of joints
        :param timeout: a longer pause is a gap, and positions may not stay the same for longer
            while the velocity says they move (faster than CREEP), in [s]
        """
        self.position = np.zeros(width)
        self.velocity = np.zeros(width)
        self.acceleration = np.zeros(width)
        self.timeout = timeout
        self.restart()

    def restart(self) -> None:
        """Forget the samples seen."""
        self.stamp = -np.inf
        self._moved = -np.inf

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
        self.stamp = stamp
        self.position[:] = position
        self.velocity[:] = velocity
        if stamp - self._moved > self.timeout:
            return 'the reference position does not change although its velocity says it moves'
        return ''
