# SPDX-License-Identifier: Apache-2.0
"""Capsules that the moving bodies of a robot are drawn as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.rigid_columns import Body

Places = Mapping[str, tuple[int, Array]]
"""Index of the body that carries each link (-1: the root), and the link's pose (4, 4) on it."""


@dataclass(frozen=True)
class BodyCapsule:
    """Cylinder with round ends.

    :param body: index of the body that carries it; -1: the base
    :param ends: in the frame of the body, shape (2, 3), in [m]
    :param radius: in [m]
    :param joint: it marks the axis of a joint
    """

    body: int
    ends: Array
    radius: float
    joint: bool = False


def capsules(tree: tuple[Body, ...], q: Array, places: Places | None = None) -> list[BodyCapsule]:
    """Return the capsules: between joint origins, to the tips, and one at each joint axis.

    :param q: recorded positions, shape (N, n), which give the length of rails, in [rad] or [m]
    :param places: of the links of a URDF; None: a closed form
    """
    links = [Span(each.parent, np.zeros(3), each.placement[:3, 3]) for each in tree]
    rails = _rails(tree, q)
    longest = max((each.length for each in (*links, *rails)), default=0.0) or 0.3
    radius = 0.11 * longest
    links += _tips(tree, longest, places)
    result = [each.capsule(min(radius, max(0.35 * each.length, 0.3 * radius))) for each in links]
    result += [each.capsule(0.5 * radius) for each in rails]
    for number, body in enumerate(tree):
        if body.parent >= 0 and _same_axis(tree[body.parent], body):
            continue
        half = 1.2 * radius * body.axis
        result.append(BodyCapsule(number, np.stack([-half, half]), 0.8 * radius, joint=True))
    return [each for each in result if np.ptp(each.ends, axis=0).max() > 1e-3 * longest]


def _same_axis(carrier: Body, body: Body) -> bool:
    """Return True if a marker would cover that of the body before: the quill of a SCARA."""
    along = body.placement[:3, :3] @ body.axis
    near = np.linalg.norm(body.placement[:3, 3]) < 1e-3
    return bool(near and abs(along @ carrier.axis) > 0.999)


@dataclass(frozen=True)
class Span:
    """Line between two points of a body, in [m]."""

    body: int
    start: Array
    end: Array

    @property
    def length(self) -> float:
        """Length in [m]."""
        return float(np.linalg.norm(self.end - self.start))

    def capsule(self, radius: float) -> BodyCapsule:
        """Return the capsule around the line."""
        return BodyCapsule(self.body, np.stack([self.start, self.end]), radius)


def _rails(tree: tuple[Body, ...], q: Array) -> list[Span]:
    """Return the path of each linear joint, on the body that carries it."""
    rails = []
    for body in tree:
        if body.prismatic:
            along, start = body.placement[:3, :3] @ body.axis, body.placement[:3, 3]
            low, high = q[:, body.joint].min(), q[:, body.joint].max()
            rails.append(Span(body.parent, start + low * along, start + high * along))
    return rails


def _tips(tree: tuple[Body, ...], longest: float, places: Places | None) -> list[Span]:
    """Return the line from the last joints to the farthest frame that is fixed to their body.

    Without one, a tool of a URDF is on its upright last axis, and any other hangs down.
    """
    tips = []
    frames = [] if places is None else list(places.values())
    for number, body in enumerate(tree):
        if any(other.parent == number for other in tree):
            continue
        ends = [pose[:3, 3] for index, pose in frames if index == number]
        far = max(ends, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))
        if np.linalg.norm(far) < 0.05 * longest:
            upright = places is not None and np.linalg.norm(body.axis[:2]) < 0.5
            far = 0.2 * longest * (body.axis if upright else np.array([0.0, 0.0, -1.0]))
        tips.append(Span(number, np.zeros(3), far))
    return tips
