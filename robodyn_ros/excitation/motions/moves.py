# SPDX-License-Identifier: Apache-2.0
"""Sequence of moves, as in an industrial motion planner.

Every move follows a `SpeedProfile`, from rest to rest. With fly-by the next move starts while the
previous one still brakes, and the motion is the sum of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.arguments import broadcast
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array

Active = tuple[int, NDArray[np.intp], Array, Array, Array]
"""Number of a move, its samples (M,), and its travel, speed and acceleration there."""

LONGEST_RAMP = 0.5
"""Largest ramp relative to a move: it brakes as soon as it reaches its speed."""


class Schedule:
    """Start and end times of the moves, `begins` and `ends` in [s], shape (K,)."""

    def __init__(self, profiles: Sequence[SpeedProfile], fly_by: Sequence[float] | Array) -> None:
        """Arrange the moves in sequence.

        :param fly_by: shape (K - 1,): share of the shorter one of two ramps, that of braking and
            that of acceleration, during which both moves run; 0: stop at the via-point
        """
        self.profiles = tuple(profiles)
        begins, begin = [0.0], 0.0
        for before, after, share in zip(profiles, profiles[1:], fly_by, strict=False):
            begin += before.duration - share * min(before.ramp_time, after.ramp_time)
            begins.append(begin)
        self.begins: Array = np.array(begins)
        self.ends: Array = self.begins + [profile.duration for profile in profiles]
        self.duration = float(self.ends[-1])
        # The next move may begin to brake in the instant in which this one ends: a nanosecond
        # earlier, it counts as ended, so that rounding does not add up both decelerations.
        self._over: Array = self.ends - 1e-9

    @property
    def breaks(self) -> Array:
        """Return the times at which segments of the profiles meet."""
        profiles = zip(self.profiles, self.begins, strict=True)
        return np.unique(np.concatenate([profile.breaks + begin for profile, begin in profiles]))

    def done(self, time: Array) -> NDArray[np.intp]:
        """Return the number of completed moves at times (N,)."""
        return np.searchsorted(self._over, time, side='right')

    def active(self, time: Array) -> Iterator[Active]:
        """Yield the moves that run at some of the times (N,), in order."""
        for number, profile in enumerate(self.profiles):
            rows = np.flatnonzero((time > self.begins[number]) & (time < self._over[number]))
            if len(rows):
                yield number, rows, *profile.sample(time[rows] - self.begins[number])


def fly_by_shares(fly_by: object, corners: int) -> Array:
    """Return the fly-by of every via-point between two moves, shape (corners,).

    :param fly_by: shares in [0, 1], or one for all
    :raises MotionError: a wrong number of values, or an invalid share
    """
    shares = broadcast('fly_by', fly_by, corners, ', one for each via-point between two moves')
    if not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise MotionError(f'fly_by must be a share in [0, 1], got {fly_by!r:.60}')
    return shares


def shape_profile(duration: float, ramp: float, rise: float) -> SpeedProfile:
    """Make the profile of a distance of 1 with a given duration and shape.

    :param duration: in [s]
    :param ramp: share of it for acceleration, and for braking, in (0, 0.5]
    :param rise: share of a ramp in which the acceleration rises, and likewise falls, in
        [0, 0.5]; 0: trapezoid, above: seven segments
    :raises MotionError: an invalid value
    """
    for name, value, largest in (
        ('duration', duration, math.inf),
        ('ramp', ramp, LONGEST_RAMP),
        ('rise', rise, 0.5),
    ):
        least = value >= 0.0 if name == 'rise' else value > 0.0
        if not (math.isfinite(value) and least and value <= largest):
            raise MotionError(
                f'{name} of a move must be a number above 0'
                + (f' and at most {largest}' if math.isfinite(largest) else '')
                + f', got {value!r:.60}'
            )
    time = ramp * duration
    speed = 1.0 / (duration - time)
    acceleration = speed / (time * (1.0 - rise))
    return SpeedProfile(
        distance=1.0,
        max_velocity=speed,
        max_acceleration=acceleration,
        max_jerk=acceleration / (rise * time) if rise > 0.0 else math.inf,
    )
