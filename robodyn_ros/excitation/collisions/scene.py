# SPDX-License-Identifier: Apache-2.0
"""Planning scenes of MoveIt: objects around the robot, from its text format `.scene`.

The format is that of `PlanningScene::saveGeometryToStream` in moveit_core and `saveAsText` in
geometric_shapes; the older one, without poses of objects, is read too. Attached objects and
octomaps are not in such a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robodyn_ros.bounds import GEOMETRY, SCENE, check_bound, read_text
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.scene_shape import SIZES, SceneShape, pose_of
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll


def read_scene(path: str) -> tuple[SceneShape, ...]:
    """Read a file that MoveIt wrote (RViz: Scene Objects, Export; service save_geometry_to_file).

    Poses are in the planning frame, which is the base frame of the robot.

    :raises MotionError: it cannot be read, is no such file, or has a shape that cannot be used
    """
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MotionError(f'the scene {path} cannot be read: {error}') from error
    return tuple(_SceneReader(lines, f'the scene {path}').shapes())


class _SceneReader:
    """Reader of the lines of a file."""

    def __init__(self, lines: Sequence[str], source: str) -> None:
        """Keep the lines; the first one is the name of the scene."""
        self._lines, self._at, self._source = lines, 1, source

    def shapes(self) -> list[SceneShape]:
        """Return all shapes of all objects."""
        result: list[SceneShape] = []
        while (line := self._line('an object ("* NAME") or the end (".")')) != '.':
            if not line.startswith('*'):
                raise self._error('an object ("* NAME") or the end (".")', line)
            self._object(line[1:].strip(), result)
        return result

    def _object(self, name: str, shapes: list[SceneShape]) -> None:
        ahead = self._lines[self._at : self._at + 1]
        posed = bool(ahead) and len(ahead[0].split()) > 1
        pose = self._pose() if posed else np.eye(4)
        for _ in range(self._count('number of shapes')):
            poll()
            check_bound(SCENE, len(shapes) + 1, self._source)
            kind = self._line('a shape')
            shape = SceneShape(name, kind, self._size(kind), np.eye(4)).check(self._source)
            shapes.append(replace(shape, pose=pose @ self._pose()))
            self._numbers(4, 'a colour')
        for _ in range(self._count('number of subframes') if posed else 0):
            self._line('a subframe')
            self._pose()

    def _size(self, kind: str) -> Array:
        if kind in SIZES:
            return self._numbers(SIZES[kind], f'the size of a {kind}')
        if kind != 'mesh':
            return np.array([])  # `checked` names the object
        vertices, triangles = self._counts(2, 'numbers of vertices and triangles')
        rows = [self._numbers(3, 'a vertex') for _ in range(vertices)]
        for _ in range(triangles):
            self._numbers(3, 'a triangle')
        return np.reshape(rows, (-1, 3))

    def _pose(self) -> Array:
        """Read translation and quaternion x, y, z, w; return the frame (4, 4)."""
        position = self._numbers(3, 'a position')
        quaternion = self._numbers(4, 'a quaternion')
        try:
            return pose_of(position, quaternion)
        except ValueError as error:
            raise self._error('a quaternion that is not zero', str(quaternion)) from error

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
