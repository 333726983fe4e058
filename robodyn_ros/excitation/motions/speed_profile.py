# SPDX-License-Identifier: Apache-2.0
"""Speed profile from rest to rest: acceleration, constant speed, braking.

With a jerk limit there are seven segments (rising, constant and falling acceleration, constant
speed, and the reverse), otherwise three. Source: L. Biagiotti and C. Melchiorri,
"Trajectory Planning for Automatic Machines and Robots", 2008, sections 3.2 and 3.4, for equal
limits on both sides and rest at both ends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array


class SpeedProfile:
    """Fastest profile from 0 to a distance within limits of velocity, acceleration and jerk.

    `velocity` and `acceleration` are the largest reached values. `jerk_time` is the time of rising
    acceleration, `ramp_time` the complete time of acceleration, `cruise_time` that of constant
    speed.
    """

    def __init__(
        self,
        *,
        distance: float,
        max_velocity: float,
        max_acceleration: float,
        max_jerk: float = math.inf,
    ) -> None:
        """Compute the times of the segments.

        :param distance: in [m] or [rad]
        :param max_acceleration: per second^2
        :param max_jerk: per second^3; infinite: trapezoid, whose acceleration jumps
        :raises MotionError: one of them is not above 0, or infinite (allowed for the jerk)
        """
        for name, value in (
            ('distance', distance),
            ('max_velocity', max_velocity),
            ('max_acceleration', max_acceleration),
            ('max_jerk', max_jerk),
        ):
            if not value > 0.0 or (math.isinf(value) and name != 'max_jerk'):
                raise MotionError(
                    f'{name} of a speed profile must be a number above 0, got {value!r:.60}'
                )
        self.distance = distance
        self.velocity = min(max_velocity, _peak(distance, max_acceleration, max_jerk))
        # A low speed is reached before the acceleration has risen to its limit.
        self.acceleration = min(max_acceleration, math.sqrt(self.velocity * max_jerk))
        self.jerk_time = self.acceleration / max_jerk
        self.ramp_time = self.jerk_time + self.velocity / self.acceleration
        self.cruise_time = max(0.0, distance / self.velocity - self.ramp_time)
        self.duration = 2.0 * self.ramp_time + self.cruise_time
        self._begins, self._states = self._segments()

    def _segments(self) -> tuple[Array, Array]:
        """Return start times of the segments up to constant speed, and the state there, (4, 4)."""
        steady = max(0.0, self.ramp_time - 2.0 * self.jerk_time)
        jerk = self.acceleration / self.jerk_time if self.jerk_time > 0.0 else 0.0
        begin, state = 0.0, (0.0, 0.0, 0.0 if jerk else self.acceleration)
        begins, states = [], []
        for length, slope in ((self.jerk_time, jerk), (steady, 0.0), (self.jerk_time, -jerk)):
            begins.append(begin)
            states.append((*state, slope))
            begin, state = begin + length, _advance(*states[-1], length)
        states.append((state[0], self.velocity, 0.0, 0.0))
        return np.array([*begins, self.ramp_time]), np.array(states)

    @property
    def breaks(self) -> Array:
        """Return the times at which the segments meet, both ends included."""
        return np.concatenate([self._begins, self.duration - self._begins])

    def sample(self, time: Array) -> tuple[Array, Array, Array]:
        """Compute travel, velocity and acceleration, each of shape (N,).

        The second half is the reversed first one, so that the end is exactly the distance.

        :param time: shape (N,), in [s]; clamped to [0, duration]
        """
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        late, first, index = self._locate(time)
        s, v, a, j = self._states[index].T
        way, velocity, change = _advance(s, v, a, j, first - self._begins[index])
        return (
            np.where(late, self.distance - way, way),
            velocity,
            np.where(late, -change, change),
        )

    def jerk(self, time: Array) -> Array:
        """Compute the jerk within the segments, shape (N,); 0 for a trapezoid."""
        index = self._locate(np.clip(np.asarray(time, dtype=float), 0.0, self.duration))[2]
        result: Array = self._states[index, 3]
        return result

    def _locate(self, time: Array) -> tuple[NDArray[np.bool_], Array, NDArray[np.intp]]:
        """Return which times are in the second half, the time in the first, and the segment."""
        late = time > 0.5 * self.duration
        first = np.where(late, self.duration - time, time)
        return late, first, np.searchsorted(self._begins, first, side='right') - 1


def _advance(way: Any, velocity: Any, acceleration: Any, jerk: Any, time: Any) -> tuple[Any, ...]:
    """Return travel, velocity and acceleration after a time of constant jerk."""
    return (
        way + time * (velocity + time * (acceleration / 2.0 + time * jerk / 6.0)),
        velocity + time * (acceleration + time * jerk / 2.0),
        acceleration + time * jerk,
    )


def _peak(distance: float, acceleration: float, jerk: float) -> float:
    """Return the velocity that is reached by acceleration over half the distance."""
    rise = acceleration / jerk
    if distance >= 2.0 * acceleration * rise**2:
        return 0.5 * acceleration * (math.sqrt(rise**2 + 4.0 * distance / acceleration) - rise)
    return float(np.cbrt(jerk * (0.5 * distance) ** 2))
