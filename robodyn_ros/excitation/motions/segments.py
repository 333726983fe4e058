# SPDX-License-Identifier: Apache-2.0
"""Straight lines and circles of a tool: pose as a function of the travelled distance."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array

PLACE, TURN = slice(0, 3), slice(3, 7)
"""Indices of a pose: place in [m], and quaternion x, y, z, w if it has one."""


class Segment:
    """A line, or an arc through a third place, of `length` in [m] from `start` to `target`.

    All other numbers of the pose, and the rotation, are proportional to the travelled distance.
    """

    def __init__(
        self, start: Array, target: Array, *, through: Array | None = None, rotates: bool = False
    ) -> None:
        """Compute the geometry.

        :param start: pose (p,)
        :param target: pose (p,) at another place
        :param through: place (3,) on the arc; None: a line
        :raises MotionError: a target at the place of the start, or three places on one line
        """
        self.start, self.target = start, target
        way = target[PLACE] - start[PLACE]
        if not np.linalg.norm(way) > 0.0:
            raise MotionError('it needs a target at another place than its start')
        self._arc = None if through is None else _Arc(start[PLACE], through, target[PLACE])
        self.length = float(np.linalg.norm(way)) if self._arc is None else self._arc.length
        self._slope = (target - start) / self.length
        self.rotation: Array = np.zeros(3)
        if rotates:
            self._slope[TURN] = 0.0
            from scipy.spatial.transform import Rotation  # takes half a second

            ends = Rotation.from_quat(np.stack([start[TURN], target[TURN]]))
            turn = ends[1] * ends[0].inv()
            self.rotation = turn.as_rotvec() / self.length

    def displacement(self, way: Array) -> tuple[Array, Array, Array]:
        """Return pose minus start and its derivatives by the distance, each (N, p).

        Rotations are not included.

        :param way: distance from the start, shape (N,), in [m]
        """
        value = way[:, None] * self._slope
        slope: Array = np.repeat(self._slope[None], len(way), axis=0)
        curve = np.zeros_like(slope)
        if self._arc is not None:
            value[:, PLACE], slope[:, PLACE], curve[:, PLACE] = self._arc.displacement(way)
        return value, slope, curve


class _Arc:
    """Arc of a circle from one place through another to a third."""

    def __init__(self, start: Array, through: Array, target: Array) -> None:
        one, other = through - start, target - start
        normal = np.cross(one, other)
        size = float(normal @ normal)
        longest = max(float(np.linalg.norm(side)) for side in (one, other, target - through))
        if not math.sqrt(size) > 1e-9 * longest**2:
            raise MotionError('a circle needs three places that are not on one line')
        # centre of the circle around a triangle with one corner at the origin
        outwards = (one @ one) * np.cross(other, normal) - (other @ other) * np.cross(one, normal)
        centre = outwards / (2.0 * size)
        self._radius = float(np.linalg.norm(centre))
        self._x: Array = -centre / self._radius
        self._y: Array = np.cross(normal / math.sqrt(size), self._x)
        end = other - centre
        angle = math.atan2(float(end @ self._y), float(end @ self._x)) % (2.0 * math.pi)
        self.length = self._radius * angle

    def displacement(self, way: Array) -> tuple[Array, Array, Array]:
        """Return place minus start and its derivatives by the distance."""
        angle = (way / self._radius)[:, None]
        cosine, sine = np.cos(angle), np.sin(angle)
        outwards = cosine * self._x + sine * self._y
        return (
            self._radius * (outwards - self._x),
            cosine * self._y - sine * self._x,
            -outwards / self._radius,
        )
