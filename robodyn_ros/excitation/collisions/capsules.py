# SPDX-License-Identifier: Apache-2.0
"""Capsules for links without `<collision>` geometry, so that something can be checked.

A link without any shape gets one from its frame to its farthest joint, which is a guess. One
whose visual meshes have no volume, and so no convex hull, gets one around their vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts at their first use: they take half a second

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array

_SHARE = 0.12
"""Radius of a guessed capsule per length: arms are about a quarter as thick as long."""


@dataclass(frozen=True)
class Capsule:
    """All points within a radius of a line segment, in the frame of a link.

    :param radius: in [m]
    :param ends: of the segment, shape (2, 3), in [m]
    :param origin: its source, for messages
    """

    link: str
    radius: float
    ends: Array
    origin: str

    @property
    def length(self) -> float:
        """Return the length of the segment, in [m]."""
        return float(np.linalg.norm(self.ends[1] - self.ends[0]))

    def placement(self) -> Array:
        """Return the frame at its centre with z along the segment, shape (4, 4)."""
        result = np.eye(4)
        result[:3, :3] = _frame(self.ends[1] - self.ends[0]).T
        result[:3, 3] = self.ends.mean(axis=0)
        return result

    def __str__(self) -> str:
        """Describe it, for an operator."""
        return f'{self.link}: capsule of radius {self.radius:.2g} m {self.origin}'


def around(link: str, points: Array) -> Capsule:
    """Return the smallest capsule along a principal axis of points that has all of them inside.

    :param points: shape (N, 3), in [m], in the frame of the link
    :raises MotionError: no points, or numbers that are none
    """
    if len(points) == 0 or not np.isfinite(points).all():
        raise MotionError(f'link {link!r}: its visual mesh has no vertices that could be used')
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    principal = np.linalg.eigh((points - middle).T @ (points - middle))[1].T
    return min((_along(link, points, middle, axis) for axis in principal), key=_volume)


def _along(link: str, points: Array, middle: Array, axis: Array) -> Capsule:
    """Return the smallest capsule around points whose axis passes a place in a direction."""
    local = (points - middle) @ _frame(axis).T
    across = np.linalg.norm(local[:, :2], axis=1)
    radius = across.max()
    room = np.sqrt(radius**2 - across**2)
    high, low = (local[:, 2] - room).max(), (local[:, 2] + room).min()
    if high < low:  # a ball is enough, with its centre anywhere in between
        high = low = 0.5 * (high + low)
    ends = middle + np.outer([low, high], _frame(axis)[2])
    return Capsule(link, float(radius), ends, 'fitted to its flat visual mesh')


def _volume(capsule: Capsule) -> float:
    return float(np.pi * capsule.radius**2 * (capsule.length + 4.0 / 3.0 * capsule.radius))


def between(link: str, end: Array) -> Capsule:
    """Make a capsule from the frame of a link to a point, in [m].

    It is a guess. The link can be thicker, above all where joints are close to each other.
    """
    length = float(np.linalg.norm(end))
    ends = np.array([np.zeros(3), end])
    text = f'from its frame to its next joint, {_SHARE:.0%} of the length of {length:.2g} m'
    return Capsule(link, _SHARE * length, ends, text)


def _frame(direction: Array) -> Array:
    """Return rows x, y, z of a frame with z in a direction; a zero direction is z."""
    length = np.linalg.norm(direction)
    z = direction / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def has_volume(points: Array) -> bool:
    """Return True if points (N, 3) have a convex hull."""
    try:
        scipy.spatial.ConvexHull(points, qhull_options='Qt')
    except (scipy.spatial.QhullError, ValueError):
        return False
    return True
