# SPDX-License-Identifier: Apache-2.0
"""Friction of a reference at standstill: that of the previous motion, which fades out.

An axis that stops needs its friction torque until it reaches its target; at standstill, static
friction carries this torque. If friction fell to zero with the reference velocity, the axis would
stop before its target, and the drive's integrator would have to build up the complete friction
torque (measured by bench/bench_tracking.py). A robot at rest needs no friction torque, and a
permanent one would push the axis, so that it fades out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.torque.model_torque import SLOWEST
from robodyn_ros.models.interface import Array


class StandstillFriction:
    """Velocity for friction: within the window, it is the end of the window on the last side.

    A reversal therefore changes friction instantly when it leaves the window. If a joint stays
    within the window for longer than half of `fade_time`, the velocity for friction approaches the
    actual one linearly until `fade_time`; so does friction, which is linear within the window.
    Before the first motion no side is known, and the actual velocity is used.
    """

    def __init__(
        self, *, window: ArrayLike, fade_time: float = 0.5, period: float = 0.002
    ) -> None:
        """Start without a direction.

        :param window: velocities below it count as standstill, shape (n,), in [rad/s] or [m/s]
        :param fade_time: standstill after which friction is that of the actual velocity, in [s];
            more than twice the time of a stop or a reversal
        :param period: of the samples, in [s]
        """
        self._reaches: list[float] = np.maximum(np.asarray(window, float), SLOWEST).tolist()
        self._fade_time, self._period = fade_time, period
        self.clear()

    def clear(self) -> None:
        """Forget the direction."""
        self._sides = [0.0] * len(self._reaches)
        self._rests = [0.0] * len(self._reaches)

    def velocity(self, qd: Array) -> Array:
        """Return the velocity for friction of one sample, and store the side.

        :param qd: reference velocity, shape (n,), in [rad/s] or [m/s]
        :return: shape (n,); `qd` itself if no joint is at standstill
        """
        result = qd
        # Called in every cycle: for a few numbers this takes a fifth of numpy's time.
        for joint, (speed, reach) in enumerate(zip(qd.tolist(), self._reaches, strict=True)):
            if abs(speed) >= reach:
                self._sides[joint] = 1.0 if speed > 0.0 else -1.0
                self._rests[joint] = 0.0
            elif side := self._sides[joint]:
                self._rests[joint] += self._period
                held = 2.0 - 2.0 * self._rests[joint] / self._fade_time
                result = qd.copy() if result is qd else result
                if held >= 1.0:
                    result[joint] = side * reach
                elif held > 0.0:
                    result[joint] = speed + held * (side * reach - speed)
        return result

    def velocities(self, qd: Array) -> Array:
        """Return the velocities for friction of consecutive samples, a period apart, (N, n)."""
        return np.array([self.velocity(row) for row in qd]).reshape(qd.shape)
