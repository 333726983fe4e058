# SPDX-License-Identifier: Apache-2.0
"""Capsules for links without `<collision>` geometry, so that something can be checked.

A link without any shape gets one from its frame to its farthest joint, which is a guess. One
whose visual meshes have no volume, and so no convex hull, gets the smallest one that was found
around their vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull, QhullError

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll


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


def around(link: str, points: Array, *, most: int = 300) -> Capsule:
    """Fit a capsule that has all points inside.

    The volume is minimised over the axis, from the three principal axes of the points.

    :param points: shape (N, 3), in [m], in the frame of the link
    :param most: largest number of points for the search; the result holds for all
    :raises MotionError: no points, or numbers that are none
    """
    if len(points) == 0 or not np.isfinite(points).all():
        raise MotionError(f'link {link!r}: its visual mesh has no vertices that could be used')
    points = _corners(points) if has_volume(points) else points
    few = points[:: -(-len(points) // most)]
    middle = points.mean(axis=0)
    principal = np.linalg.eigh((few - middle).T @ (few - middle))[1].T
    best = min((_axis(few - middle, start) for start in principal), key=lambda item: item[1])[0]
    radius, low, high = _extent((points - middle) @ _turn_frame(best).T, best.offset)
    rows = _turn_frame(best)
    ends = middle + np.array([[*best.offset, low], [*best.offset, high]]) @ rows
    return Capsule(link, radius, ends, 'fitted to its flat visual mesh')


def between(link: str, end: Array, *, share: float = 0.12) -> Capsule:
    """Make a capsule from the frame of a link to a point, in [m].

    It is a guess. The link can be thicker, above all where joints are close to each other.

    :param share: of the length, which is its radius: arms are about a quarter as thick as long
    """
    length = float(np.linalg.norm(end))
    ends = np.array([np.zeros(3), end])
    text = f'from its frame to its next joint, {share:.0%} of the length of {length:.2g} m'
    return Capsule(link, share * length, ends, text)


@dataclass(frozen=True)
class _Axis:
    """Line: turned from a frame by two angles, and moved across itself."""

    frame: Array
    angles: Array
    offset: Array


def _axis(points: Array, start: Array) -> tuple[_Axis, float]:
    """Find the axis of the capsule with the smallest volume near a direction, and the volume."""
    frame = _frame(start)
    size = float(np.abs(points).max()) or 1.0

    def axis(x: Array) -> _Axis:
        return _Axis(frame, x[:2], size * x[2:])

    def volume(x: Array) -> float:
        poll()
        trial = axis(x)
        radius, low, high = _extent(points @ _turn_frame(trial).T, trial.offset)
        return float(np.pi * radius**2 * (high - low + 4.0 / 3.0 * radius))

    simplex = np.vstack([np.zeros(4), 0.2 * np.eye(4)])
    options = {'initial_simplex': simplex, 'maxfev': 300, 'xatol': 1e-4, 'fatol': 0.0}
    result = minimize(volume, np.zeros(4), method='Nelder-Mead', options=options)
    return axis(result.x), float(result.fun)


def _extent(points: Array, offset: Array) -> tuple[float, float, float]:
    """Return radius and ends along z of the smallest capsule around a line parallel to z."""
    across = ((points[:, :2] - offset) ** 2).sum(axis=1)
    square = across.max()
    radius, room = np.sqrt(square), np.sqrt(square - across)
    high, low = (points[:, 2] - room).max(), (points[:, 2] + room).min()
    if high < low:  # a ball is enough, with its centre anywhere in between
        high = low = 0.5 * (high + low)
    return float(radius), float(low), float(high)


def _turn_frame(axis: _Axis) -> Array:
    """Return the rows x, y, z of the frame of an axis, shape (3, 3)."""
    x, y = axis.angles
    return _frame(axis.frame[2] + x * axis.frame[0] + y * axis.frame[1])


def _frame(direction: Array) -> Array:
    """Return rows x, y, z of a frame with z in a direction; a zero direction is z."""
    length = np.linalg.norm(direction)
    z = direction / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def has_volume(points: Array) -> bool:
    """Return True if points (N, 3) have a convex hull."""
    return len(_corners(points)) > 0


def _corners(points: Array) -> Array:
    """Return the corners of the convex hull; none for flat points."""
    try:
        return np.asarray(points[ConvexHull(points, qhull_options='Qt').vertices])
    except (QhullError, ValueError):
        return points[:0]
