# SPDX-License-Identifier: Apache-2.0
"""Pinocchio model and collision objects of a robot: shapes, pairs, and the reach of each joint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from robodyn_ros.bounds import GEOMETRY, BoundError, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.meshes import coal
from robodyn_ros.excitation.collisions.robot_files import CollisionFile
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll
from robodyn_ros.models.serial.tree import body_tree
from robodyn_ros.models.serial.urdf import pinocchio_model
from robodyn_ros.models.serial.urdf_file import UrdfFile


def build(file: CollisionFile) -> tuple[Any, Any]:
    """Return the model and its collision objects, with meshes as convex hulls.

    :raises MotionError: geometry that cannot be used
    """
    model, geometry, loader = _model(file.urdf), pin.GeometryModel(), coal.CachedMeshLoader()
    counts: Counter[str] = Counter()
    for shape in sorted(file.shapes, key=lambda item: _frame(model, item.link)):
        poll()
        name = f'{shape.link}_{counts[shape.link]}'
        counts[shape.link] += 1
        _add(model, geometry, name, shape.link, shape.pose, shape.solid(loader, file.urdf.source))
    for item in file.capsules:
        solid = coal.Capsule(item.radius, item.length)
        _add(model, geometry, f'{item.link}_capsule', item.link, item.placement(), solid)
    for item in geometry.geometryObjects:
        _check_size(item, file.urdf.source)
    return model, geometry


def _model(urdf: UrdfFile) -> Any:
    """Return Pinocchio's model with a frame for each link, from what the dynamics have read."""
    moving = {item.name: item for item in urdf.joints if item.type != 'fixed'}
    tree = body_tree(urdf, tuple(moving))
    model = pinocchio_model(tree, tuple(moving), np.zeros(3))
    model.lowerPositionLimit = np.array([item.lower for item in moving.values()])
    model.upperPositionLimit = np.array([item.upper for item in moving.values()])
    for link, (index, pose) in tree.places.items():
        model.addBodyFrame(link, index + 1, pin.SE3(pose), 0)
    return model


def _frame(model: Any, link: str) -> int:
    return int(model.getFrameId(link, pin.FrameType.BODY))


def _add(model: Any, geometry: Any, name: str, link: str, pose: Array, solid: Any) -> None:
    """Add a shape at a pose (4, 4) in the frame of a link."""
    frame = _frame(model, link)
    joint = model.frames[frame]
    place = joint.placement * pin.SE3(pose)
    geometry.addGeometryObject(pin.GeometryObject(name, joint.parentJoint, frame, place, solid))


def _check_size(item: Any, source: str) -> None:
    """Refuse a shape that is absurdly large, or placed far away."""
    item.geometry.computeLocalAABB()
    corners = (item.geometry.aabb_local.min_, item.geometry.aabb_local.max_)
    largest = float(np.abs([*corners, item.placement.translation]).max())
    try:
        check_bound(GEOMETRY, largest, f'{source}: collision geometry {item.name}')
    except BoundError as error:
        raise MotionError(str(error)) from error


def columns(model: Any, joints: Sequence[str]) -> list[int]:
    """Return the index of each joint in Pinocchio's q and v.

    :raises MotionError: the model has no such joint
    """
    for name in joints:
        if not model.existJointName(name):
            raise MotionError(f'the URDF with the collision geometry has no joint {name!r}')
    return [int(model.joints[model.getJointId(name)].idx_v) for name in joints]


def rest_pose(model: Any) -> Array:
    """Return Pinocchio's q with every joint at 0, or at its nearest limit."""
    return np.clip(np.zeros(model.nq), model.lowerPositionLimit, model.upperPositionLimit)


def add_pairs(
    model: Any,
    geometry: Any,
    names: Sequence[str],
    disabled: frozenset[frozenset[str]],
    carried: Collection[str] = (),
) -> None:
    """Pair all objects on joints that are not neighbours, ignoring joints without geometry.

    :param carried: names of objects that no neighbour touches by design: all are paired with them
    """
    items = zip(geometry.geometryObjects, names, strict=True)
    carrying = {item.parentJoint for item, name in items if name not in carried}

    def carrier(joint: int) -> int:
        joint = int(model.parents[joint])
        while joint > 0 and joint not in carrying:
            joint = int(model.parents[joint])
        return joint

    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first):
            one, other = objects[first].parentJoint, objects[second].parentJoint
            joined = one == other
            if not {names[first], names[second]} & {*carried}:
                joined = joined or carrier(one) == other or carrier(other) == one
            if not joined and frozenset((names[first], names[second])) not in disabled:
                geometry.addCollisionPair(pin.CollisionPair(second, first))


def reach_of(model: Any, geometry: Any, velocities: Sequence[int]) -> Array:
    """Return the largest change (P, n) of distances with each joint, in [m/rad] or [m/m].

    This is the largest distance of a point of the geometry from the joint, over all positions.
    """
    radii = [_radius(item) for item in geometry.geometryObjects]
    reach = np.zeros((len(geometry.collisionPairs), model.nv))
    for row, pair in enumerate(geometry.collisionPairs):
        chains = [
            list(model.supports[geometry.geometryObjects[index].parentJoint])
            for index in (pair.first, pair.second)
        ]
        for index, chain, other in zip(
            (pair.first, pair.second), chains, reversed(chains), strict=True
        ):
            length = radii[index]
            for number in reversed(chain):
                if number == 0 or number in other:
                    break
                joint = model.joints[number]
                if joint.nv == 1:
                    reach[row, joint.idx_v] = 1.0 if _slides(joint) else length
                length += _longest(model, number)
    return reach[:, list(velocities)]


def extent(model: Any, geometry: Any) -> float:
    """Return a bound on the distance of points of moving links from the base, in [m]."""
    return max(
        (
            _radius(item)
            + sum(_longest(model, joint) for joint in model.supports[item.parentJoint])
            for item in geometry.geometryObjects
            if item.parentJoint > 0
        ),
        default=0.0,
    )


def _radius(item: Any) -> float:
    """Return the largest distance of a moving object's points from its joint, in [m]."""
    if item.parentJoint == 0:  # fixed objects, among them half-spaces, which are infinite
        return 0.0
    item.geometry.computeLocalAABB()
    center = item.placement.act(item.geometry.aabb_center)
    return float(np.linalg.norm(center)) + float(item.geometry.aabb_radius)


def _slides(joint: Any) -> bool:
    return 'P' in joint.shortname()


def _longest(model: Any, number: int) -> float:
    """Return the largest distance of what a joint moves from the joint before it, in [m]."""
    length = float(np.linalg.norm(model.jointPlacements[number].translation))
    joint = model.joints[number]
    if number > 0 and _slides(joint):
        # a linear joint without limits travels 100 m at most
        limits = (model.lowerPositionLimit, model.upperPositionLimit)
        length += max(min(abs(side[joint.idx_q]), 100.0) for side in limits)
    return length
