"""Via-points joined by joint moves, with the via-points free: a family for the optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.family import LinearSamples, MotionFamily, Sampled, checked_duration
from robodyn_ros.excitation.point_to_point import PointToPoint
from robodyn_ros.excitation.ramp import joint_names, per_joint
from robodyn_ros.excitation.trajectory import Array, Chain


class WaypointFamily(MotionFamily):
    """From `position` through K via-points and back, all moves equally long, from rest to rest.

    x holds, per joint, the deviations of the via-points.
    """

    def __init__(
        self,
        *,
        joints: Sequence[str],
        position: Sequence[float] | Array,
        duration: float,
        points: int,
    ) -> None:
        """Check and keep the figures.

        :param position: at both ends, shape (n,), in [rad] or [m]
        :param duration: of all moves together, in [s]
        :param points: K, at least 1
        :raises MotionError: a figure that cannot be used
        """
        self.joints = joint_names(joints)
        self.position = per_joint(self.joints, 'position', position)
        self.duration = checked_duration(duration)
        if not 1 <= points <= 500:
            raise MotionError(f'expected 1 to 500 via-points, got {points}')
        self.points = int(points)
        self.size = len(self.joints) * self.points

    def sampled(self, time: Array) -> Sampled:
        """Prepare: every via-point moves the two moves beside it, in proportion to x."""
        rows = []
        for point in range(self.points):
            one = np.zeros((1, self.points))
            one[0, point] = 1.0
            motion = self._chain(('p',), np.zeros(1), one, self.duration).sample(time)
            rows.append([motion.position, motion.velocity, motion.acceleration])
        basis = np.array(rows)[:, :, :, 0].transpose(1, 2, 0)
        return LinearSamples(basis, len(self.joints))

    def motion(self, x: Array, scale: Array) -> Chain:
        """Moves through the scaled via-points."""
        deviation = x.reshape(len(self.joints), -1) * scale[:, None]
        return self._chain(self.joints, self.position, deviation, self.duration)

    @staticmethod
    def _chain(joints: Sequence[str], position: Array, deviation: Array, duration: float) -> Chain:
        stops = [position, *(position + column for column in deviation.T), position]
        each = duration / (len(stops) - 1)
        return Chain(
            parts=[
                PointToPoint(joints=joints, start=start, target=target, duration=each)
                for start, target in pairwise(stops)
            ]
        )

    def start(self, random: np.random.Generator) -> Array:
        """Via-points anywhere."""
        return random.normal(size=self.size)

    def fastest(self) -> float:
        """One swing lasts two moves."""
        return (self.points + 1) / (2.0 * self.duration)
