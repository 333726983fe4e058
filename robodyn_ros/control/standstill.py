"""Friction of a reference that stands still: that of the motion before.

An axis that stops needs its friction torque until it has arrived, and once it stands, static
friction carries that torque. A model whose friction torque falls to zero together with the
reference velocity stops the axis short of its target instead, and the drive's integrator must
first build the whole friction up (measured: docs/tracking.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.models.interface import Array


class StandstillFriction:
    """Velocity to take friction at: within the window, the window's end on the last side.

    A reversal therefore changes friction when it leaves the window, at once. Before the first
    motion no side is known; there the velocity is left as it is.
    """

    def __init__(self, *, window: ArrayLike) -> None:
        """Begin without a direction.

        :param window: velocities below it count as standing still, shape (n,), in [rad/s] or
            [m/s]
        """
        self._reach = np.maximum(np.asarray(window, dtype=float), np.finfo(float).tiny)
        self._reaches: list[float] = self._reach.tolist()
        self.clear()

    def clear(self) -> None:
        """Forget the direction."""
        self._sides = [0.0] * len(self._reaches)

    def velocity(self, qd: Array) -> Array:
        """Velocity at which friction is to be taken, of one sample; the side is remembered.

        :param qd: reference velocity, shape (n,), in [rad/s] or [m/s]
        :return: shape (n,); `qd` itself where no joint stands still
        """
        result = qd
        # Every cycle: on a few numbers this takes a fifth of numpy's time.
        for joint, (speed, reach) in enumerate(zip(qd.tolist(), self._reaches, strict=True)):
            if abs(speed) >= reach:
                self._sides[joint] = 1.0 if speed > 0.0 else -1.0
            elif side := self._sides[joint]:
                result = qd.copy() if result is qd else result
                result[joint] = side * reach
        return result

    def velocities(self, qd: Array) -> Array:
        """The same of many samples in a row, shape (N, n)."""
        moving = np.abs(qd) >= self._reach
        side = np.vstack([self._sides, np.sign(qd)])
        # Row of the last sample that moved, for every sample: 0 is what was before.
        rows = np.where(moving, np.arange(1, len(qd) + 1)[:, None], 0)
        last = np.take_along_axis(side, np.maximum.accumulate(rows, axis=0), axis=0)
        if len(qd):
            self._sides = last[-1].tolist()
        return np.where(moving | (last == 0.0), qd, last * self._reach)
