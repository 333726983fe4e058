# SPDX-License-Identifier: Apache-2.0
"""Imperfections of drives: torque ripple, steps of the current, warming friction, jitter.

- Torque ripple adds to the torque of the motor A sin(2 pi q / period), q the angle of the motor in
  joint units, with a random phase per joint. The drive does not measure it.
- Warming: friction is (1 - share * warmth) of the configured one. The warmth follows 1 while the
  motor moves (faster than the Stribeck velocity) and 0 at rest, with one time constant.
- Cycle: sample k is taken, and command k taken over, at k T + e_k. e_k is normal and at most 3
  standard deviations. Cycle k thus lasts T + e_(k+1) - e_k, and the mean period is T.

All random numbers are those of the seed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.cell.urdf_robot import Axes

Array = NDArray[np.float64]


class Imperfections:
    """State and numbers of the imperfections of all drives; arrays (n,), SI and joint-side."""

    def __init__(self, axes: Axes, *, period: float, jitter: float, seed: int) -> None:
        """Take the numbers of the axes.

        :param period: servo period, in [s]
        :param jitter: standard deviation of e_k, as a share of the period
        """
        self._seed, self._jitter = seed, jitter
        rated = axes['rated_torque']
        self._step = axes['torque_resolution'] * rated
        self.ripples = bool(axes['torque_ripple'].any())
        self._amplitude = axes['torque_ripple'] * rated
        self._per_position = 2.0 * np.pi / axes['ripple_period']
        self.warms = bool(axes['warming'].any())
        self._warming, self._slow = axes['warming'], axes['stribeck_velocity']
        self._rate = 1.0 - np.exp(-period / axes['warming_time'])
        self.reset()

    def reset(self) -> None:
        """Return to cold joints and the first random number."""
        self._random = np.random.default_rng([self._seed, 1])
        self._phase = self._random.uniform(0.0, 2.0 * np.pi, len(self._step))
        self._warmth = np.zeros(len(self._step))

    def ripple(self, position: Array) -> Array:
        """Return the torque ripple at this position of the motors, in [Nm] or [N]."""
        return self._amplitude * np.sin(position * self._per_position + self._phase)

    def friction(self, velocity: Array) -> Array:
        """Return the share of the configured friction after one more cycle at this velocity."""
        moves = np.abs(velocity) > self._slow
        self._warmth += self._rate * (moves - self._warmth)
        return 1.0 - self._warming * self._warmth

    def late(self) -> float:
        """Return how late the next sample is taken, relative to the servo period."""
        if not self._jitter:
            return 0.0
        return self._jitter * min(3.0, max(-3.0, float(self._random.standard_normal())))

    def quantise_torque(self, torque: Array) -> Array:
        """Return a torque as the current sensors resolve it."""
        fine = self._step == 0.0
        step = np.where(fine, 1.0, self._step)
        return np.where(fine, torque, np.rint(torque / step) * step)
