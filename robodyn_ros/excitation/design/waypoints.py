# SPDX-License-Identifier: Apache-2.0
"""Family of joint moves through via-points: algorithm B.

Document "local_identification", section II and Eq. 2. Here every move has its duration, and their
sum is that of the motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.design.family import MotionFamily, Sampled
from robodyn_ros.excitation.motions.joint_moves import RISE, JointMoves
from robodyn_ros.excitation.motions.moves import fly_by_shares, shape_profile
from robodyn_ros.excitation.trajectory import Array

RAMP = 1.0 / 3.0
"""Share of a move's duration for acceleration, and for braking."""
SHORTEST, LONGEST = 0.4, 1.6
"""Range of the relative durations of the moves, before normalisation."""


class WaypointFamily(MotionFamily):
    """Motions from `position` through K via-points and back, from rest to rest.

    x holds, per joint, the deviations of the K via-points; then K + 1 numbers z, one per move,
    with durations in proportion to 0.4 + 1.2 / (1 + exp(-z)).
    """

    def __init__(
        self, *, points: int, rise: float = RISE, fly_by: float = 0.0, **place: Any
    ) -> None:
        """Check the shape of the moves.

        :param points: K, from 1 to 500
        :param rise: see `JointMoves`; with 0 (trapezoid) derivatives by z leave the jumps of the
            acceleration out
        :raises MotionError: arguments that cannot be used
        """
        super().__init__(**place)
        if not 1 <= points <= 500:
            raise MotionError(f'expected 1 to 500 via-points, got {points}')
        self.points = int(points)
        self.rise = float(rise)
        self.fly_by = float(fly_by_shares(fly_by, self.points)[0])
        self.profile = shape_profile(1.0, RAMP, self.rise)
        self.size = len(self.joints) * self.points + self.points + 1

    def split(self, x: Array) -> tuple[Array, Array]:
        """Return the deviations of the via-points (K, n), and the variables z (K + 1,)."""
        count = len(self.joints) * self.points
        return x[:count].reshape(len(self.joints), -1).T, x[count:]

    def timing(self, z: Array) -> tuple[Array, Array, Array]:
        """Return durations and start times of the moves, and their derivatives by z.

        :return: (K + 1,), (K + 1,), and derivatives of both by z (2, K + 1, K + 1)
        """
        share = 1.0 / (1.0 + np.exp(-np.clip(z, -50.0, 50.0)))
        weight = SHORTEST + (LONGEST - SHORTEST) * share
        slope = (LONGEST - SHORTEST) * share * (1.0 - share)
        count = len(weight)
        # from the start of a move to that of the next: its weight less the overlap
        later = weight[1:] < weight[:-1]
        steps = np.eye(count)
        rows = np.arange(count - 1)
        steps[rows, rows + later] -= self.fly_by * RAMP
        total, begins = steps.sum(axis=0), np.cumsum(steps, axis=0) - steps
        length = float(total @ weight)
        by_weight = np.stack([np.eye(count), begins]) * self.duration / length
        values = by_weight @ weight
        by_weight -= values[:, :, None] * total / length
        return values[0], values[1], by_weight * slope

    def prepare(self, time: Array) -> Sampled:
        """Store the times, because their moves depend on x."""
        return _Moves(self, np.asarray(time, dtype=float))

    def motion(self, x: Array, scale: Array) -> JointMoves:
        """Return the moves through the scaled via-points."""
        deviation, z = self.split(x)
        return JointMoves(
            joints=self.joints,
            points=self.position + np.pad(deviation * scale, ((1, 1), (0, 0))),
            durations=self.timing(z)[0],
            ramp=RAMP,
            rise=self.rise,
            fly_by=self.fly_by,
        )

    def fastest(self) -> float:
        """Return the frequency of a swing of two moves, of which one is short."""
        return (self.points + 1) / self.duration


class _Moves(Sampled):
    def __init__(self, family: WaypointFamily, time: Array) -> None:
        self._family, self._time = family, time

    def _shares(self, durations: Array, begins: Array) -> tuple[Array, Array]:
        """Return the phases (N, M) of all times in all moves, and travel to jerk (4, N, M)."""
        place = (self._time[:, None] - begins) / durations
        profile, flat = self._family.profile, np.clip(place, 0.0, 1.0).ravel()
        rows = np.array([*profile.sample(flat), profile.jerk(flat)]).reshape(4, *place.shape)
        rows[1:] *= (place > 0.0) & (place < 1.0)
        return place, rows

    @staticmethod
    def _ways(deviation: Array) -> Array:
        """Return the differences between consecutive via-points, (K + 1, n)."""
        return np.diff(np.pad(deviation, ((1, 1), (0, 0))), axis=0)

    def deviation(self, x: Array) -> Array:
        """Return the deviation (3, N, n), a sum over the moves."""
        deviation, z = self._family.split(x)
        durations, begins, _ = self._family.timing(z)
        _, rows = self._shares(durations, begins)
        powers = np.stack([durations**0, durations**-1, durations**-2])
        return np.asarray((rows[:3] * powers[:, None]) @ self._ways(deviation))

    def pull(self, x: Array, weights: Array) -> Array:
        """Differentiate by the via-points, and by z through duration d and start b of each move.

        The derivatives of the phase u = (t - b) / d are -1 / d by b and -u / d by d.
        """
        deviation, z = self._family.split(x)
        durations, begins, by_z = self._family.timing(z)
        place, rows = self._shares(durations, begins)
        powers = np.stack([durations**0, durations**-1, durations**-2])
        by_way = np.tensordot(weights, rows[:3] * powers[:, None], axes=([0, 1], [0, 1]))
        heavy = (weights @ self._ways(deviation).T) * (powers / durations)[:, None]
        by_begin = -(heavy * rows[1:]).sum(axis=(0, 1))
        stretched = place * rows[1:] + np.arange(3.0)[:, None, None] * rows[:3]
        by_duration = -(heavy * stretched).sum(axis=(0, 1))
        by_points = by_way[:, :-1] - by_way[:, 1:]
        return np.concatenate([by_points.ravel(), by_duration @ by_z[0] + by_begin @ by_z[1]])
