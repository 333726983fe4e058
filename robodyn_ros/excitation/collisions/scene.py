# SPDX-License-Identifier: Apache-2.0
"""Planning scenes of MoveIt: objects around the robot, from its text format `.scene`.

The format is that of `PlanningScene::saveGeometryToStream` in moveit_core and `saveAsText` in
geometric_shapes; the older one, without poses of objects, is read too. Attached objects and
octomaps are not in such a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn_ros.bounds import GEOMETRY, SCENE, check_bound, read_text
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import around, has_volume
from robodyn_ros.excitation.collisions.meshes import coal
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll

_SIZES = {'box': 3, 'sphere': 1, 'cylinder': 2, 'cone': 2}
"""Kind of a shape -> number of its sizes in the file."""
_SHAPES = {'box': coal.Box, 'sphere': coal.Sphere, 'cylinder': coal.Cylinder, 'cone': coal.Cone}


@dataclass(frozen=True, eq=False)
class SceneShape:
    """Shape of an object of a scene.

    :param name: of the object
    :param kind: box, sphere, cylinder, cone or mesh
    :param size: in [m]: edges; radius; radius and length; of a mesh the vertices, shape (N, 3)
    :param pose: in the base frame, shape (4, 4)
    """

    name: str
    kind: str
    size: Array
    pose: Array

    def solid(self) -> tuple[Any, Array]:
        """Return a shape of the library for collisions, and its pose (4, 4) in the base frame.

        A mesh is its convex hull; one without volume is a capsule around its vertices.
        """
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


def read_scene(path: str) -> tuple[SceneShape, ...]:
    """Read a file that MoveIt wrote (RViz: Scene Objects, Export; service save_geometry_to_file).

    Poses are in the planning frame, which is the base frame of the robot.

    :raises MotionError: it cannot be read, is no such file, or has a shape that cannot be used
    """
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MotionError(f'the scene {path} cannot be read: {error}') from error
    return tuple(_Reader(lines, f'the scene {path}').shapes())


class _Reader:
    """Reads the lines of a file."""

    def __init__(self, lines: Sequence[str], source: str) -> None:
        """Keep the lines; the first one is the name of the scene."""
        self._lines, self._at, self._source = lines, 1, source

    def shapes(self) -> list[SceneShape]:
        """Return all shapes of all objects."""
        found: list[SceneShape] = []
        while (line := self._line('an object ("* NAME") or the end (".")')) != '.':
            if not line.startswith('*'):
                raise self._error('an object ("* NAME") or the end (".")', line)
            self._object(line[1:].strip(), found)
        return found

    def _object(self, name: str, found: list[SceneShape]) -> None:
        ahead = self._lines[self._at : self._at + 1]
        posed = bool(ahead) and len(ahead[0].split()) > 1
        pose = self._pose() if posed else np.eye(4)
        for _ in range(self._count('number of shapes')):
            poll()
            check_bound(SCENE, len(found) + 1, self._source)
            kind = self._line('a shape')
            size = self._size(name, kind)
            found.append(SceneShape(name, kind, size, pose @ self._pose()))
            self._numbers(4, 'a colour')
        for _ in range(self._count('number of subframes') if posed else 0):
            self._line('a subframe')
            self._pose()

    def _size(self, name: str, kind: str) -> Array:
        if kind == 'mesh':
            vertices, triangles = self._counts(2, 'numbers of vertices and triangles')
            rows = [self._numbers(3, 'a vertex') for _ in range(vertices)]
            for _ in range(triangles):
                self._numbers(3, 'a triangle')
            if not rows:
                raise MotionError(f'{self._source}: the mesh of {name!r} has no vertices')
            return np.array(rows)
        if kind not in _SIZES:
            raise MotionError(
                f'{self._source}: object {name!r} is a {kind!r:.60}, expected '
                f'{", ".join(_SIZES)} or mesh; a plane is given as floor or box'
            )
        size = self._numbers(_SIZES[kind], f'the size of a {kind}')
        if not (size > 0.0).all():
            raise MotionError(f'{self._source}: object {name!r} has the size {size}, not above 0')
        return size

    def _pose(self) -> Array:
        """Read translation and quaternion x, y, z, w; return the frame (4, 4)."""
        pose = np.eye(4)
        pose[:3, 3] = self._numbers(3, 'a position')
        quaternion = self._numbers(4, 'a quaternion')
        if quaternion @ quaternion < np.finfo(float).tiny:  # it has no direction
            raise self._error('a quaternion that is not zero', str(quaternion))
        pose[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
        return pose

    def _count(self, what: str) -> int:
        return self._counts(1, what)[0]

    def _counts(self, count: int, what: str) -> list[int]:
        values = self._numbers(count, what)
        if (values < 0.0).any() or (values % 1.0).any():
            raise self._error(f'{what}, {count} integers of 0 or more', self._lines[self._at - 1])
        return [int(value) for value in values]

    def _numbers(self, count: int, what: str) -> Array:
        line = self._line(what)
        try:
            values = np.array([float(word) for word in line.split()])
        except ValueError:
            values = np.array([])
        # NaN is not below anything
        if len(values) != count or not (np.abs(values) <= GEOMETRY.most).all():
            raise self._error(f'{what}, {count} numbers up to {GEOMETRY.most} in a line', line)
        return values

    def _line(self, what: str) -> str:
        if self._at >= len(self._lines):
            raise self._error(what, 'the end of the file')
        self._at += 1
        return self._lines[self._at - 1].strip()

    def _error(self, expected: str, got: str) -> MotionError:
        return MotionError(
            f'{self._source}, line {self._at}: expected {expected}, got {got:.60}; export it '
            'again from MoveIt (RViz: Scene Objects, Export)'
        )
