# SPDX-License-Identifier: Apache-2.0
"""Moving bodies of a robot, and the capsules that they are drawn as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.models.closed_forms.scara import ScaraModel
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.serial.rigid_columns import Body
from robodyn_ros.models.serial.urdf import UrdfModel


@dataclass(frozen=True)
class Capsule:
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


def bodies(model: DynamicModel) -> tuple[Body, ...]:
    """Return the moving bodies; () for robots that are no tree of known lengths."""
    for part, _ in parts_of(model):
        if isinstance(part, UrdfModel):
            return part.tree.bodies
        if isinstance(part, ScaraModel):
            return _scara(part)
        if isinstance(part, AxisModel):
            return (Body(-1, 0, np.eye(4), *_axis(part)),)
    return ()


def capsules(model: DynamicModel, tree: tuple[Body, ...], q: Array) -> list[Capsule]:
    """Return the capsules: between joint origins, to the tips, and one at each joint axis.

    :param q: recorded positions, shape (N, n), which give the length of rails, in [rad] or [m]
    """
    links = [Span(each.parent, np.zeros(3), each.placement[:3, 3]) for each in tree]
    rails = _rails(tree, q)
    longest = max((each.length for each in (*links, *rails)), default=0.0) or 0.3
    radius = 0.11 * longest
    links += _tips(model, tree, longest)
    found = [each.capsule(min(radius, max(0.35 * each.length, 0.3 * radius))) for each in links]
    found += [each.capsule(0.5 * radius) for each in rails]
    for number, body in enumerate(tree):
        if body.parent >= 0 and _same_axis(tree[body.parent], body):
            continue
        half = 1.2 * radius * body.axis
        found.append(Capsule(number, np.stack([-half, half]), 0.8 * radius, joint=True))
    return [each for each in found if np.ptp(each.ends, axis=0).max() > 1e-3 * longest]


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

    def capsule(self, radius: float) -> Capsule:
        """Return the capsule around the line."""
        return Capsule(self.body, np.stack([self.start, self.end]), radius)


def _rails(tree: tuple[Body, ...], q: Array) -> list[Span]:
    """Return the path of each linear joint, on the body that carries it."""
    found = []
    for body in tree:
        if body.prismatic:
            along, start = body.placement[:3, :3] @ body.axis, body.placement[:3, 3]
            low, high = q[:, body.joint].min(), q[:, body.joint].max()
            found.append(Span(body.parent, start + low * along, start + high * along))
    return found


def _tips(model: DynamicModel, tree: tuple[Body, ...], longest: float) -> list[Span]:
    """Return the line from the last joints to the farthest frame that is fixed to their body.

    Without one, a tool of a URDF is on its upright last axis, and any other hangs down.
    """
    found = []
    described = any(isinstance(part, UrdfModel) for part, _ in parts_of(model))
    for number, body in enumerate(tree):
        if any(other.parent == number for other in tree):
            continue
        places = [pose[:3, 3] for index, pose in _places(model) if index == number]
        far = max(places, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))
        if np.linalg.norm(far) < 0.05 * longest:
            upright = described and np.linalg.norm(body.axis[:2]) < 0.5
            far = 0.2 * longest * (body.axis if upright else np.array([0.0, 0.0, -1.0]))
        found.append(Span(number, np.zeros(3), far))
    return found


def _places(model: DynamicModel) -> list[tuple[int, Array]]:
    part = next((p for p, _ in parts_of(model) if isinstance(p, UrdfModel)), None)
    return [] if part is None else list(part.tree.places.values())


def _axis(part: AxisModel) -> tuple[Array, bool]:
    slides = part.joints[0].type == 'prismatic'
    return np.array([1.0, 0.0, 0.0] if slides else [0.0, 1.0, 0.0]), slides


def _scara(part: ScaraModel) -> tuple[Body, ...]:
    """Return the axes as the kinematics of the document has them, on a column."""
    up, geometry = np.array([0.0, 0.0, 1.0]), part.geometry
    first, second = geometry['L1'], geometry['L2']
    steps = [(0.0, 0.0, 0.8 * (first + second)), (first, 0.0, 0.0), (second, 0.0, 0.0), (0.0,) * 3]
    axes = [up, up, geometry['z_sense'] * up, geometry['s4'] * up]
    found = []
    for number in range(len(part.joints)):
        placement = np.eye(4)
        placement[:3, 3] = steps[number]
        found.append(Body(number - 1, number, placement, axes[number], number == 2))
    return tuple(found)
