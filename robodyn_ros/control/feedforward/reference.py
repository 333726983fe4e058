"""A stream of references, checked: what may be fed forward, its acceleration, and its pace."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.models.interface import Array

CLOSEST = 0.25
"""Samples may not follow each other faster, in periods: their difference would be no
acceleration. Stamps of a sender that is late with one sample and in time with the next may."""
CREEP = 0.01
"""Up to this velocity a position may stay the same, by its resolution; in [rad/s] or [m/s]."""
SETTLED = 0.01
"""Weight of the newest sample in the mean time between samples."""
OFF_PACE = 0.2
"""Samples may be closer or farther apart on the average, in periods."""
BURST = 2.0
"""Samples that may be worked off at once with the whole change of torque of a period each."""


class Pace:
    """Time in which torque may change: no more than has passed for the drives, too.

    Samples that come in a burst, after their sender or the node was held up, have proper stamps;
    but the torque must not change in an instant by what it may in the time between those.
    """

    def __init__(self, period: float) -> None:
        """Begin; `period` of the samples in [s]."""
        self._most = self._left = BURST * period
        self._last = -math.inf

    def take(self, now: float, wanted: float) -> float:
        """Time to change the torque in, in [s]: what is wanted, or what there is left of it.

        :param now: on a clock of its own, in [s]
        """
        self._left = min(self._most, self._left + now - self._last)
        self._last = now
        taken = min(wanted, self._left)
        self._left -= taken
        return taken


class ReferenceMotion:
    """Checks the samples of a reference and differentiates its velocity.

    Acceleration is the difference of the last two velocities over the time between them: causal,
    so it belongs to half a cycle earlier. The first sample has acceleration zero.

    :ivar elapsed: time since the sample before, in [s]; of the first one infinite
    :ivar spacing: mean of these times of late, in [s]
    """

    def __init__(self, *, width: int, timeout: float, period: float) -> None:
        """Begin.

        :param width: number n of joints
        :param timeout: stamps must not be further apart, and positions may not stay the same for
            longer while the velocity says they move (faster than CREEP), in [s]
        :param period: that samples are meant to have, in [s]
        """
        self.position = np.zeros(width)
        self.velocity = np.zeros(width)
        self.acceleration = np.zeros(width)
        self.timeout = timeout
        self._period = period
        self._closest = CLOSEST * period
        self.restart()

    def restart(self) -> None:
        """Forget the samples seen."""
        self.stamp = -np.inf
        self.elapsed = np.inf
        self.spacing = self._period
        self._moved = -np.inf

    def refusal(self, stamp: float) -> str:
        """Say why a sample of this stamp, in [s], is to be left out (no fault), or nothing."""
        step = stamp - self.stamp
        if 0.0 <= step < self._closest:
            return f'its stamp is only {step:.3g} s after that of the sample before'
        return ''

    def off_pace(self, delay: int) -> str:
        """Say that the samples have another period than they are meant to have, or nothing.

        :param delay: samples by which torque is delayed
        """
        if abs(self.spacing / self._period - 1.0) <= OFF_PACE:
            return ''
        return (
            f'references come every {1e3 * self.spacing:.3g} ms, the parameter period is '
            f'{1e3 * self._period:.3g} ms: additive_torque_delay of {delay} references is '
            f'{1e3 * delay * self.spacing:.3g} ms in place of {1e3 * delay * self._period:.3g} ms'
        )

    def read(self, stamp: float, position: Array, velocity: Array) -> str:
        """Take the sample of a cycle over; return '' or why it must not be used (a fault).

        :param stamp: time of the sample, in [s]
        :param position: shape (n,), finite, in [rad] or [m]
        :param velocity: shape (n,), finite, in [rad/s] or [m/s]
        """
        step = stamp - self.stamp
        if step <= 0.0:
            return f'the stamp of the reference went back by {-step:.6g} s'
        if self.timeout < step < np.inf:
            return f'the stamp of the reference jumped forward by {step:.6g} s'
        if step == np.inf:
            self.acceleration[:] = 0.0
            self._moved = stamp
        else:
            np.subtract(velocity, self.velocity, out=self.acceleration)
            self.acceleration /= step
            self.spacing += SETTLED * (step - self.spacing)
        moved = position.tobytes() != self.position.tobytes()
        if moved or max(map(abs, velocity.tolist())) <= CREEP:
            self._moved = stamp
        self.stamp, self.elapsed = stamp, step
        self.position[:] = position
        self.velocity[:] = velocity
        if stamp - self._moved > self.timeout:
            return 'the reference position does not change although its velocity says it moves'
        return ''
