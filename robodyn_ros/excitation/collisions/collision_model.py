# SPDX-License-Identifier: Apache-2.0
"""Pinocchio model and collision objects of a robot: shapes, pairs, and the reach of each joint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from robodyn_ros.bounds import GEOMETRY, BoundError, check_bound
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.capsules import Capsule
from robodyn_ros.excitation.collisions.meshes import coal, loaded
from robodyn_ros.excitation.collisions.robot_files import CollisionFile
from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.long_work import poll


def build(file: CollisionFile) -> tuple[Any, Any]:
    """Return the model and its collision objects, with meshes as convex hulls.

    :raises MotionError: geometry that cannot be used
    """
    try:
        model = pin.buildModelFromXML(file.text)
        geometry = pin.buildGeomFromUrdfString(
            model, file.text, pin.GeometryType.COLLISION, mesh_loader=loaded(file.meshes)
        )
    except (ValueError, RuntimeError) as error:
        text = ' '.join(str(error).split())
        raise MotionError(
            f'the collision geometry of {file.source} cannot be read: {text}'
        ) from error
    _add_capsules(model, geometry, file.capsules)
    for item in geometry.geometryObjects:
        poll()
        _check_size(item, file.source)
        if isinstance(item.geometry, coal.BVHModelBase):
            try:  # coal crashes without a hull
                ConvexHull(item.geometry.vertices(), qhull_options='Qt')
            except (QhullError, ValueError) as error:
                raise MotionError(
                    f'the mesh {item.meshPath} of {file.source} has no volume'
                ) from error
            item.geometry.buildConvexHull(True, 'Qt')
            item.geometry = item.geometry.convex
    return model, geometry


def _add_capsules(model: Any, geometry: Any, capsules: Sequence[Capsule]) -> None:
    for item in capsules:
        frame = model.getFrameId(item.link, pin.FrameType.BODY)
        joint = model.frames[frame]
        geometry.addGeometryObject(
            pin.GeometryObject(
                f'{item.link}_capsule',
                joint.parentJoint,
                frame,
                joint.placement * pin.SE3(item.placement()),
                coal.Capsule(item.radius, item.length),
            )
        )


def _check_size(item: Any, source: str) -> None:
    """Refuse a shape that is absurdly large, or placed far away."""
    item.geometry.computeLocalAABB()
    corners = (item.geometry.aabb_local.min_, item.geometry.aabb_local.max_)
    largest = float(np.abs([*corners, item.placement.translation]).max())
    try:
        check_bound(GEOMETRY, largest, f'{source}: collision geometry {item.name}')
    except BoundError as error:
        raise MotionError(str(error)) from error


def columns(model: Any, joints: Sequence[str]) -> tuple[list[tuple[int, bool]], list[int]]:
    """Return the index of each joint in Pinocchio's q, if it is cosine and sine, and in its v.

    :raises MotionError: the model has no such joint
    """
    result, velocities = [], []
    for name in joints:
        if not model.existJointName(name):
            raise MotionError(f'the URDF with the collision geometry has no joint {name!r}')
        joint = model.joints[model.getJointId(name)]
        result.append((int(joint.idx_q), joint.nq == 2))
        velocities.append(int(joint.idx_v))
    return result, velocities


def rest_pose(model: Any) -> Array:
    """Return Pinocchio's q with every joint at 0, or at its nearest limit."""
    rest: Array = pin.neutral(model)
    for joint in model.joints:
        if joint.nq == joint.nv == 1:
            low, high = model.lowerPositionLimit, model.upperPositionLimit
            rest[joint.idx_q] = np.clip(0.0, low[joint.idx_q], high[joint.idx_q])
    return rest


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
