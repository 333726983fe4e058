# SPDX-License-Identifier: Apache-2.0
"""Distances between the links of a robot, and to the walls around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.collision_model import (
    add_pairs,
    build,
    columns,
    extent,
    reach_of,
    rest_pose,
)
from robodyn_ros.excitation.collisions.meshes import coal
from robodyn_ros.excitation.collisions.robot_files import CollisionFile
from robodyn_ros.excitation.collisions.scene_shape import NAME, SceneShape
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll

FAR = np.pi
"""Range of joints without position limits, in [rad] or [m]."""
_NORMALS = np.vstack([np.eye(3), -np.eye(3)])


class CollisionGeometry:
    """Signed distances of all pairs of objects that could touch.

    Pairs of links that a joint connects, directly or by links without geometry, are left out.
    Meshes are replaced by their convex hulls. Joints that do not move are at 0, or at the nearest
    limit.
    """

    def __init__(
        self,
        file: CollisionFile,
        joints: Sequence[str],
        *,
        disabled: frozenset[frozenset[str]] = frozenset(),
        lower: Sequence[float] = (-np.inf,) * 3,
        upper: Sequence[float] = (np.inf,) * 3,
        obstacles: Sequence[Sequence[float]] = (),
        scene: Sequence[SceneShape] = (),
    ) -> None:
        """Build the geometry.

        :param joints: that move; their order is that of all positions
        :param lower: x, y, z in [m] of a box around the robot, in the base frame; -inf: no wall
        :param obstacles: corners x, y, z, x, y, z of boxes that stand in it
        :param scene: further shapes that stand in it, or that links carry
        :raises MotionError: a joint that the URDF does not have, or geometry that cannot be used
        """
        if not hasattr(pin, 'computeDistances'):
            raise MotionError('this Pinocchio was built without a collision library')
        self._model, self._geometry = build(file)
        self._names = [
            self._model.frames[item.parentFrame].name for item in self._geometry.geometryObjects
        ]
        self._columns = columns(self._model, joints)
        self._rest = rest_pose(self._model)
        self.carried: list[str] = []
        """Names of the shapes that links carry."""
        touching = self._add_carried([item for item in scene if item.attached])
        add_pairs(self._model, self._geometry, self._names, disabled | touching, self.carried)
        self._walls: set[int] = set()
        self._shapes: dict[int, SceneShape] = {
            self._names.index(name): item
            for name, item in zip(self.carried, (s for s in scene if s.attached), strict=True)
        }
        self._add_walls(lower, upper)
        self._add_obstacles(obstacles)
        for number, item in enumerate(scene, start=1):
            if not item.attached:
                shape, pose = item.solid()
                name = f'shape {number} of {NAME}, {item.name}'
                index = self._add_standing(name, shape, self._place_of(item) * pin.SE3(pose))
                self._shapes[index] = item
        self._model_data = self._model.createData()
        self._reset()

    def _reset(self) -> None:
        """Build data that depend on the pairs."""
        self._data: Any = self._geometry.createData()
        self._reach = reach_of(self._model, self._geometry, self._columns)

    def _add_walls(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        """Add a half-space beyond every finite face of the box."""
        faces = zip(_NORMALS, [*lower, *(-np.array(upper))], strict=True)
        for number, (normal, offset) in enumerate(faces):
            if not np.isfinite(offset):
                continue
            shape = coal.Halfspace(normal, float(offset))
            # what is solid is where normal @ x < offset; a lower face in z is a floor
            what = 'the floor' if number == 2 else 'the wall'
            place = offset * normal.sum()
            name = f'{what} at {"xyz"[number % 3]} = {place:g} m'
            self._add_standing(name, shape, pin.SE3.Identity())

    def _add_obstacles(self, corners: Sequence[Sequence[float]]) -> None:
        for number, row in enumerate(corners, start=1):
            low, high = np.reshape(row, (2, 3))
            centre = ', '.join(f'{value:g}' for value in (low + high) / 2.0)
            name = f'obstacle {number} at ({centre}) m'
            place = pin.SE3(np.eye(3), (low + high) / 2.0)
            self._add_standing(name, coal.Box(*(high - low).astype(float)), place)

    def _place_of(self, item: SceneShape) -> Any:
        """Return the place in the base frame of the frame of a shape."""
        frame = self._frame(item)
        if frame.parentJoint > 0:
            raise MotionError(
                f'{NAME}: object {item.name!r} is in the frame {item.frame!r}, which moves '
                'with the robot; expected the root link, or a link that is fixed to it'
            )
        return frame.placement

    def _frame(self, item: SceneShape) -> Any:
        """Return the frame of a link; `Surroundings.select` has checked that there is one."""
        return self._model.frames[self._model.getFrameId(item.frame, pin.FrameType.BODY)]

    def _add_carried(self, shapes: Sequence[SceneShape]) -> frozenset[frozenset[str]]:
        """Add shapes that move with their link; return pairs with links that they may touch."""
        for number, item in enumerate(shapes, start=1):
            shape, pose = item.solid()
            frame = self._frame(item)
            name = f'attached shape {number} of {NAME}, {item.name} on {item.frame}'
            place = frame.placement * pin.SE3(pose)
            self._geometry.addGeometryObject(
                pin.GeometryObject(name, frame.parentJoint, 0, place, shape)
            )
            self.carried.append(name)
        self._names += self.carried
        return frozenset(
            frozenset((name, link))
            for name, item in zip(self.carried, shapes, strict=True)
            for link in item.touching
        )

    def _add_standing(self, name: str, shape: Any, place: Any) -> int:
        """Add a fixed shape, and a collision pair with each moving link; return its number."""
        moving = [i for i, o in enumerate(self._geometry.geometryObjects) if o.parentJoint > 0]
        item = pin.GeometryObject(name, 0, 0, place, shape)
        index = self._geometry.addGeometryObject(item)
        self._names.append(name)
        self._walls.add(index)
        for link in moving:
            self._geometry.addCollisionPair(pin.CollisionPair(link, index))
        return int(index)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the links, or walls, of every pair."""
        return [(self._names[p.first], self._names[p.second]) for p in self._collision_pairs]

    @property
    def at_walls(self) -> list[bool]:
        """Return for every pair whether it consists of a link and a wall or an obstacle."""
        return [pair.second in self._walls for pair in self._collision_pairs]

    @property
    def extent(self) -> float:
        """Bound on the distance of points of the robot from its base, in [m]."""
        return extent(self._model, self._geometry)

    @property
    def _collision_pairs(self) -> list[Any]:
        return list(self._geometry.collisionPairs)

    def nearer_by(self, moves: Mapping[SceneShape, float]) -> Array:
        """Return by how much moves of shapes can reduce each distance, shape (P,), in [m]."""
        shapes = {index: moves.get(item, 0.0) for index, item in self._shapes.items()}
        return np.array(
            [shapes.get(p.first, 0.0) + shapes.get(p.second, 0.0) for p in self._collision_pairs]
        )

    def without(self, names: Sequence[tuple[str, str]]) -> None:
        """Leave out all pairs of these names."""
        self.keep([name not in names for name in self.pairs])

    def keep(self, kept: Sequence[bool]) -> None:
        """Keep pairs by their number; links with several shapes have several pairs of a name."""
        # copies: pairs shift in Pinocchio's list when one is removed
        pairs = [(item.first, item.second) for item in self._collision_pairs]
        self._geometry.removeAllCollisionPairs()
        for first, second in (pair for pair, stays in zip(pairs, kept, strict=True) if stays):
            self._geometry.addCollisionPair(pin.CollisionPair(first, second))
        self._reset()

    def resting_joints(self) -> list[str]:
        """Names of the moving joints that stay at rest."""
        names = list(self._model.names)[1:]  # without the universe
        return [name for index, name in enumerate(names) if index not in self._columns]

    def nearer(self, position: Array, distance: float) -> Iterator[tuple[int, int, float]]:
        """Yield row, pair and distance [m] of all pairs below `distance`, and of some others.

        After each computation of a pair, rows are skipped until the joints have moved far enough
        for it to be that near; consecutive rows must be neighbours on a path.

        :param position: of the joints, shape (N, n)
        """
        moved = np.abs(np.diff(position, axis=0, prepend=position[:1]))
        poses = self._poses(position)
        for pair, reach in enumerate(self._reach):
            travel = np.cumsum(moved @ reach).tolist()
            row = 0
            while row < len(poses):
                gap = self._distance(pair, poses[row])
                yield row, pair, gap
                row = bisect_right(travel, travel[row] + gap - distance, row + 1)

    def distance(self, pair: int, position: Array) -> float:
        """Return the distance in [m] of a pair at joint positions (n,); negative: depth."""
        return self._distance(pair, self._poses(position[None])[0])

    def _distance(self, pair: int, pose: Array) -> float:
        poll()
        pin.updateGeometryPlacements(
            self._model, self._model_data, self._geometry, self._data, pose
        )
        return float(pin.computeDistance(self._geometry, self._data, pair).min_distance)

    def slopes(self, position: Array, distance: Array) -> Iterator[tuple[int, float, Array]]:
        """Yield for all pairs nearer than `distance` the row, by how much, and the slope (n,).

        :param position: of the joints, shape (N, n), in any order
        :param distance: of each pair, shape (P,), in [m]
        """
        for row, pose in enumerate(self._poses(position)):
            pin.computeDistances(self._model, self._model_data, self._geometry, self._data, pose)
            near = distance - [item.min_distance for item in self._data.distanceResults]
            pairs = np.flatnonzero(near > 0.0)
            if len(pairs):
                pin.computeJointJacobians(self._model, self._model_data, pose)
            for pair in pairs:
                yield row, float(near[pair]), self._slope(int(pair))

    def _slope(self, pair: int) -> Array:
        """Return the derivative (n,) of the last computed distance of a pair."""
        result, objects = self._data.distanceResults[pair], self._geometry.geometryObjects
        item = self._geometry.collisionPairs[pair]
        # the normal points from the first object to the second one
        x, y, z = result.normal
        slope = np.zeros(self._model.nv)
        for sign, index, point in (
            (-1.0, item.first, result.getNearestPoint1()),
            (1.0, item.second, result.getNearestPoint2()),
        ):
            u, v, w = point
            wrench = np.array([x, y, z, v * z - w * y, w * x - u * z, u * y - v * x])
            jacobian = pin.getJointJacobian(
                self._model, self._model_data, objects[index].parentJoint, pin.WORLD
            )
            slope += sign * (wrench @ jacobian)
        return slope[self._columns]

    def random_positions(self, count: int) -> Array:
        """Return reproducible positions (count, n) within the ranges of the joints."""
        lower = np.maximum(self._model.lowerPositionLimit, -FAR)[self._columns]
        upper = np.minimum(self._model.upperPositionLimit, FAR)[self._columns]
        return np.random.default_rng(0).uniform(lower, upper, (count, len(lower)))

    def _poses(self, position: Array) -> Array:
        """Return Pinocchio's q (N, nq) at joint positions (N, n)."""
        poses = np.tile(self._rest, (len(position), 1))
        poses[:, self._columns] = position
        return poses
