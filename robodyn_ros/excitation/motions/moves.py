"""Moves one after the other, as an industrial motion planner runs them.

Every move covers its way by a `SpeedProfile`, from rest to rest. With fly-by the next move begins
while the one before still brakes, and the motion is the sum of both: it rounds the via-point and
does not stop there. Where both go on in the same direction at the same speed, the sum of their
speeds is constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array

Active = tuple[int, NDArray[np.intp], Array, Array, Array]
"""Number of a move, the samples (M,) during which it runs, and its way, speed, change there."""

LONGEST_RAMP = 0.5
"""Of a move: then it brakes as soon as it has its speed."""


class Schedule:
    """When the moves begin; `begins` and `ends` in [s], shape (K,)."""

    def __init__(self, profiles: Sequence[SpeedProfile], fly_by: Sequence[float] | Array) -> None:
        """Put the moves one after the other.

        :param profiles: of the K moves
        :param fly_by: shape (K - 1,): share of the shorter one of two ramps, that of braking and
            that of speeding up, during which both moves run; 0: stop at the via-point
        """
        self.profiles = tuple(profiles)
        begins, begin = [0.0], 0.0
        for before, after, share in zip(profiles, profiles[1:], fly_by, strict=False):
            begin += before.duration - share * min(before.ramp_time, after.ramp_time)
            begins.append(begin)
        self.begins: Array = np.array(begins)
        self.ends: Array = self.begins + [profile.duration for profile in profiles]
        self.duration = float(self.ends[-1])

    @property
    def breaks(self) -> Array:
        """Times at which segments of the profiles meet."""
        profiles = zip(self.profiles, self.begins, strict=True)
        return np.unique(np.concatenate([profile.breaks + begin for profile, begin in profiles]))

    def done(self, time: Array) -> NDArray[np.intp]:
        """How many moves are over at times (N,)."""
        return np.searchsorted(self.ends, time, side='left')

    def active(self, time: Array) -> Iterator[Active]:
        """All moves that run at some of the times (N,), in their order."""
        for number, profile in enumerate(self.profiles):
            rows = np.flatnonzero((time > self.begins[number]) & (time <= self.ends[number]))
            if len(rows):
                yield number, rows, *profile.sample(time[rows] - self.begins[number])


def fly_by_shares(fly_by: object, corners: int) -> Array:
    """Fly-by of every via-point between two moves, shape (corners,).

    :param fly_by: shares in [0, 1], or one for all
    :raises MotionError: another count, or no such share
    """
    try:
        given = np.asarray(fly_by, dtype=float)
    except (TypeError, ValueError) as error:
        raise MotionError(f'fly_by must be shares in [0, 1], got {fly_by!r:.60}') from error
    shares: Array = np.full(corners, float(given)) if given.ndim == 0 else given.copy()
    if shares.shape != (corners,) or not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise MotionError(
            f'fly_by must be a share in [0, 1], or {corners} of them, one for each via-point '
            f'between two moves, got {fly_by!r:.60}'
        )
    return shares


def shaped_profile(duration: float, ramp: float, rise: float) -> SpeedProfile:
    """Profile of a way of 1 in a given time and of a given shape.

    :param duration: in [s]
    :param ramp: share of it that speeding up, and likewise braking, lasts, in (0, 0.5]
    :param rise: share of a ramp in which the acceleration rises, and likewise falls, in
        [0, 0.5]; 0: trapezoid, above: seven segments
    :raises MotionError: a figure that cannot be used
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
