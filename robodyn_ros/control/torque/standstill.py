"""Friction of a reference that stands still: that of the motion before, until it fades out.

An axis that stops needs its friction torque until it has arrived, and once it stands, static
friction carries that torque. A model whose friction torque falls to zero together with the
reference velocity stops the axis short of its target instead, and the drive's integrator must
first build the whole friction up (measured: docs/tracking.md). A robot at rest needs no friction
torque, and one that stays pushes the axis without end: it fades out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.torque.model_torque import SLOWEST
from robodyn_ros.models.interface import Array

FADE_TIME = 0.5
"""Standstill after which no friction torque remains, in [s]. Within half of it a stop or a
reversal of the motion has settled."""


class StandstillFriction:
    """Velocity to take friction at: within the window, the window's end on the last side.

    A reversal therefore changes friction when it leaves the window, at once. A joint that stays
    within the window for longer than half of `fade_time` is taken to its actual velocity from
    then on, in a straight line that ends after `fade_time`. So is friction, which is a straight
    line within the window. Before the first motion no side is known; there the velocity is left
    as it is.
    """

    def __init__(
        self, *, window: ArrayLike, fade_time: float = FADE_TIME, period: float = 0.002
    ) -> None:
        """Begin without a direction.

        :param window: velocities below it count as standing still, shape (n,), in [rad/s] or
            [m/s]
        :param fade_time: standstill after which friction is that of the actual velocity, in [s]
        :param period: of the samples, in [s]
        """
        self._reach = np.maximum(np.asarray(window, dtype=float), SLOWEST)
        self._reaches: list[float] = self._reach.tolist()
        self._fade_time, self._period = fade_time, period
        self.clear()

    def clear(self) -> None:
        """Forget the direction."""
        self._sides = [0.0] * len(self._reaches)
        self._rests = [0.0] * len(self._reaches)

    def velocity(self, qd: Array, share: float = 1.0) -> Array:
        """Velocity at which friction is to be taken, of one sample; the side is remembered.

        :param qd: reference velocity, shape (n,), in [rad/s] or [m/s]
        :param share: time since the sample before, in periods
        :return: shape (n,); `qd` itself where no joint stands still
        """
        result = qd
        # Every cycle: on a few numbers this takes a fifth of numpy's time.
        for joint, (speed, reach) in enumerate(zip(qd.tolist(), self._reaches, strict=True)):
            if abs(speed) >= reach:
                self._sides[joint] = 1.0 if speed > 0.0 else -1.0
                self._rests[joint] = 0.0
            elif side := self._sides[joint]:
                self._rests[joint] += share * self._period
                held = 2.0 - 2.0 * self._rests[joint] / self._fade_time
                result = qd.copy() if result is qd else result
                if held >= 1.0:
                    result[joint] = side * reach
                elif held > 0.0:
                    result[joint] = speed + held * (side * reach - speed)
        return result

    def velocities(self, qd: Array) -> Array:
        """The same of many samples in a row, a period apart, shape (N, n)."""
        if not len(qd):
            return np.array(qd)
        moving = np.abs(qd) >= self._reach
        side = np.vstack([self._sides, np.sign(qd)])
        # Row of the last sample that moved, for every sample: 0 is what was before.
        count = np.arange(1, len(qd) + 1)[:, None]
        rows = np.maximum.accumulate(np.where(moving, count, 0), axis=0)
        last = np.take_along_axis(side, rows, axis=0)
        rest = (count - rows) * self._period + np.where(rows == 0, self._rests, 0.0)
        self._sides, self._rests = last[-1].tolist(), (rest[-1] * (last[-1] != 0.0)).tolist()
        held = np.maximum(2.0 - 2.0 * rest / self._fade_time, 0.0)
        edge = last * self._reach
        at_rest = np.where(held >= 1.0, edge, qd + held * (edge - qd))
        result: Array = np.where(moving | (last == 0.0), qd, at_rest)
        return result
