# SPDX-License-Identifier: Apache-2.0
"""Shapes of the planning scene of MoveIt, from plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # its parts at their first use: they take half a second

from robodyn_ros.bounds import GEOMETRY, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import around, has_volume
from robodyn_ros.excitation.collisions.meshes import coal
from robodyn_ros.excitation.trajectory import Array

NAME = 'the planning scene of MoveIt'
"""Name of the scene in messages."""
SIZES = {'box': 3, 'sphere': 1, 'cylinder': 2, 'cone': 2, 'plane': 4}
"""Kind of a shape -> number of its sizes."""
_SHAPES = {'box': coal.Box, 'sphere': coal.Sphere, 'cylinder': coal.Cylinder, 'cone': coal.Cone}
_CORNERS = np.array(np.meshgrid(*((-1.0, 1.0),) * 3)).reshape(3, -1).T


@dataclass(frozen=True, eq=False)
class SceneShape:
    """Shape of an object of a scene.

    :param size: in [m]: edges; radius; radius and length; of a mesh the vertices, shape (N, 3);
        of a plane a, b, c, d of a x + b y + c z + d = 0, which is solid on neither side
    :param pose: in its frame, shape (4, 4)
    :param frame: link of the URDF
    :param attached: True: it moves with the link; False: the link must not move
    :param touching: links that an attached object may touch
    """

    name: str
    kind: str
    size: Array
    pose: Array
    frame: str
    attached: bool = False
    touching: tuple[str, ...] = ()

    def check(self) -> SceneShape:
        """Return this shape if its numbers can be used.

        :raises RobodynError: naming the object and what was expected
        """
        if self.kind != 'mesh' and self.kind not in SIZES:
            raise self._error(f'is a {self.kind!r:.60}, expected {", ".join(SIZES)} or mesh')
        expected = (len(self.size), 3) if self.kind == 'mesh' else (SIZES[self.kind],)
        if self.size.shape != expected:
            raise self._error(f'is a {self.kind} with the size {self.size}, not of {expected}')
        if not len(self.size):
            raise self._error('has a mesh that has no vertices')
        if not np.isfinite([*self.size.flat, *self.pose.flat]).all():
            raise self._error('has numbers that are not finite')
        check_bound(
            GEOMETRY,
            max(np.abs(self.size).max(), np.abs(self.pose).max()),
            f'{NAME}: object {self.name!r}',
        )
        if self.kind == 'plane':
            if not np.linalg.norm(self.size[:3]) > 0.0:
                raise self._error('has a plane without normal')
            if self.size[3] != 0.0:  # MoveIt hands it to FCL, whose plane is n x = d
                raise self._error(
                    f'has a plane with d = {self.size[3]:g}, which MoveIt takes with the other '
                    'sign than its message defines: expected d = 0, and the place in the pose',
                )
        elif self.kind != 'mesh' and not (self.size > 0.0).all():
            raise self._error(f'has the size {self.size}, not above 0')
        return self

    def _error(self, text: str) -> MotionError:
        return MotionError(f'{NAME}: object {self.name!r} {text}')

    def solid(self) -> tuple[Any, Array]:
        """Return a shape of the library for collisions, and its pose (4, 4) in its frame.

        A mesh is its convex hull; one without volume is a capsule around its vertices.
        """
        if self.kind == 'plane':
            length = np.linalg.norm(self.size[:3])
            return coal.Plane(self.size[:3] / length, float(-self.size[3] / length)), self.pose
        if self.kind != 'mesh':
            return _SHAPES[self.kind](*self.size.tolist()), self.pose
        if not has_volume(self.size):
            capsule = around(self.name, self.size)
            return coal.Capsule(capsule.radius, capsule.length), self.pose @ capsule.placement()
        mesh = coal.BVHModelOBBRSS()
        mesh.beginModel(0, len(self.size))
        mesh.addVertices(self.size)
        mesh.endModel()
        mesh.buildConvexHull(True, 'Qt')
        return mesh.convex, self.pose

    def displacement(self, other: SceneShape) -> float:
        """Return an upper bound of the distance in [m] of any point from its place in another.

        The bound is exact for spheres, boxes and meshes, and `inf` if the shapes differ in more
        than place and size. A plane has no end, so one that turned has moved by `inf`.
        """
        words = [
            (item.name, item.kind, item.frame, item.attached, item.touching, item.size.shape)
            for item in (self, other)
        ]
        if words[0] != words[1]:
            return np.inf
        if self.kind == 'plane':
            one, two = (item._equation() for item in (self, other))
            return float(abs(one[3] - two[3])) if (one[:3] == two[:3]).all() else np.inf
        one, two = (item._outline() for item in (self, other))
        grown = abs(float(self.size[0] - other.size[0])) if self.kind == 'sphere' else 0.0
        return float(np.linalg.norm(one - two, axis=1).max()) + grown

    def _outline(self) -> Array:
        """Return points (M, 3) in its frame: the centre of a sphere, or corners around it."""
        if self.kind == 'mesh':
            points = self.size
        elif self.kind == 'sphere':
            points = np.zeros((1, 3))
        else:
            half = self.size if self.kind == 'box' else self.size[[0, 0, 1]] * (2.0, 2.0, 1.0)
            points = 0.5 * half * _CORNERS
        return np.asarray(points @ self.pose[:3, :3].T + self.pose[:3, 3])

    def _equation(self) -> Array:
        """Return a, b, c, d of a plane in its frame, with a normal of length 1."""
        normal, offset = np.split(self.size / np.linalg.norm(self.size[:3]), [3])
        turned = self.pose[:3, :3] @ normal
        return np.append(turned, offset - turned @ self.pose[:3, 3])


_LEAST = float(np.sqrt(np.finfo(float).tiny))
"""Smallest quaternion that has a direction: squares of smaller ones are rounded to zero."""


def pose_of(position: Sequence[float] | Array, quaternion: Sequence[float] | Array) -> Array:
    """Return the frame (4, 4) at a position in [m], turned by a quaternion x, y, z, w.

    :raises ValueError: the quaternion is zero, so that it has no direction
    """
    turn = np.array(quaternion, dtype=float)
    size = float(np.abs(turn).max())
    if size < _LEAST:
        raise ValueError(f'expected a quaternion that is not zero, got {turn}')
    pose = np.eye(4)
    pose[:3, 3] = position
    # NaN stays in it: `SceneShape.check` names the object
    turned = (
        scipy.spatial.transform.Rotation.from_quat(turn / size).as_matrix()
        if np.isfinite(size)
        else np.nan
    )
    pose[:3, :3] = turned
    return pose


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Objects around the robot that no option gives, see `cover`.

    :param shapes: that the robot must not enter, or that it carries
    """

    shapes: tuple[SceneShape, ...] = ()
    unchecked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def moves(self, other: Surroundings) -> dict[SceneShape, float] | None:
        """Return how far each shape has moved in others, see `SceneShape.displacement`.

        :return: of the shapes of this object, in [m]; None if not all are there, or others are
        """
        if (len(self.shapes), self.unchecked, self.notes) != (
            len(other.shapes), other.unchecked, other.notes
        ):  # fmt: skip
            return None
        distances = {
            one: one.displacement(two) for one, two in zip(self.shapes, other.shapes, strict=True)
        }
        return distances if np.isfinite(list(distances.values())).all() else None

    def same(self, other: Surroundings) -> bool:
        """Return True if others are the same shapes at the same places."""
        moves = self.moves(other)
        return moves is not None and not any(moves.values())

    def select(self, links: frozenset[str]) -> Surroundings:
        """Return what can be placed; what a link carries that is not there is not checked.

        :raises MotionError: an object stands in a frame that is not one of them
        """
        lost = [item for item in self.shapes if item.frame not in links]
        for item in lost:
            if not item.attached:
                raise MotionError(
                    f'{NAME}: object {item.name!r} is in the frame {item.frame!r}, which is '
                    'no link of the URDF, so its place is unknown: give the URDF that MoveIt uses'
                )
        gone = (f'object {item.name!r} of {NAME}, attached to the link {item.frame!r}, '
                'which is not in the URDF' for item in lost)  # fmt: skip
        kept = tuple(item for item in self.shapes if item not in lost)
        return replace(self, shapes=kept, unchecked=(*self.unchecked, *dict.fromkeys(gone)))


NOTHING = Surroundings()
