"""A robot must not hit itself: checked with the collision geometry of its URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.constraints import STEEP, Excess, Limit, Rule, States
from robodyn_ros.excitation.trajectory import Array, Motion
from robodyn_ros.models.interface import DynamicModel

SAMPLES = 50
"""On so many samples of a motion an optimiser is told of distances."""
BETWEEN = 1e-3
"""Links may come so much nearer, in [m], between two samples that are 1 ms apart."""
SOFT = 0.02
"""This much above the clearance, in [m], a motion begins to be pulled away."""


@dataclass(frozen=True)
class SelfCollisionLimit(Limit):
    """Keep links apart that no joint joins.

    :param urdf: file with the collision geometry; joints that do not move are at zero
    :param packages: folders in which `package://` names are looked for
    :param clearance: smallest distance of two links, in [m]
    """

    urdf: str
    packages: tuple[str, ...] = ()
    clearance: float = 0.0

    def rule(self, model: DynamicModel) -> Rule:
        """Read the geometry.

        :raises MotionError: it cannot be read, there is none, or Pinocchio has no such library
        """
        return SelfCollisionRule(self, model.joint_names)


class SelfCollisionRule(Rule):
    """Pairs of links that a joint joins, directly or by links without geometry, are left out.

    Their geometry overlaps by design.
    """

    def __init__(self, limit: SelfCollisionLimit, joints: Sequence[str]) -> None:
        """Read model and geometry."""
        if limit.clearance < 0.0:
            raise MotionError(f'the clearance must not be below 0 m, got {limit.clearance}')
        if not hasattr(pin, 'computeCollisions'):
            raise MotionError('this Pinocchio was built without a collision library')
        self._model, self._geometry = _read(limit)
        self._data = self._model.createData()
        self._columns, self._velocities = _columns(self._model, joints)
        self._near = limit.clearance + SOFT
        _pair(self._model, self._geometry)
        if len(self._geometry.collisionPairs) == 0:
            raise MotionError(
                f'{limit.urdf} has no two links with collision geometry that could collide'
            )
        self._checked: Any = self._geometry.createData()
        for request in self._checked.collisionRequests:
            request.security_margin = limit.clearance + BETWEEN

    def excess(self, motion: Motion) -> Excess:
        """Look at every sample; the size is the share of samples in collision."""
        neutral: Array = pin.neutral(self._model)
        hits, first = 0, ''
        for row, position in enumerate(motion.position):
            self._set(neutral, position)
            if pin.computeCollisions(
                self._model, self._data, self._geometry, self._checked, neutral, True
            ):
                hits += 1
                first = first or f'{self._pair()} collide at t = {motion.time[row]:.3f} s'
        return Excess(hits / max(1, len(motion.position)), first)

    def penalty(self, states: States) -> tuple[float, States]:
        """Mean square, over some samples, of the distances below clearance + `SOFT`, in [m]."""
        _, slopes = super().penalty(states)
        neutral: Array = pin.neutral(self._model)
        rows = range(0, len(states[0]), max(1, len(states[0]) // SAMPLES))
        total = 0.0
        for row in rows:
            self._set(neutral, states[0][row])
            pin.computeDistances(self._model, self._data, self._geometry, self._checked, neutral)
            pin.computeJointJacobians(self._model, self._data, neutral)
            for number, result in enumerate(self._checked.distanceResults):
                near = self._near - result.min_distance
                if near > 0.0:
                    total += near**2
                    slopes[0][row] -= 2.0 * near * self._slope(number, result)
        factor = STEEP / len(rows)
        slopes[0][...] *= factor
        return factor * total, slopes

    def _slope(self, number: int, result: Any) -> Array:
        """Derivative (n,) by the positions of the distance of a pair; normal from 1 to 2."""
        pair = self._geometry.collisionPairs[number]
        objects = self._geometry.geometryObjects
        motion = []
        for index, point in (
            (pair.first, result.getNearestPoint1()),
            (pair.second, result.getNearestPoint2()),
        ):
            jacobian = pin.getJointJacobian(
                self._model, self._data, objects[index].parentJoint, pin.ReferenceFrame.WORLD
            )
            motion.append(jacobian[:3] + np.cross(jacobian[3:], point, axis=0))
        along: Array = result.normal @ (motion[1] - motion[0])
        return along[self._velocities]

    def _set(self, neutral: Array, position: Array) -> None:
        """Put joint positions (n,) into Pinocchio's q."""
        for (index, circular), value in zip(self._columns, position, strict=True):
            if circular:
                neutral[index : index + 2] = np.cos(value), np.sin(value)
            else:
                neutral[index] = value

    def _pair(self) -> str:
        objects = self._geometry.geometryObjects
        for pair, result in zip(
            self._geometry.collisionPairs, self._checked.collisionResults, strict=True
        ):
            if result.isCollision():
                frames = (
                    self._model.frames[objects[i].parentFrame] for i in (pair.first, pair.second)
                )
                return ' and '.join(repr(frame.name) for frame in frames)
        return 'two links'


def _read(limit: SelfCollisionLimit) -> tuple[Any, Any]:
    if not Path(limit.urdf).is_file():
        raise MotionError(f'the URDF {limit.urdf} cannot be read')
    try:
        model = pin.buildModelFromUrdf(limit.urdf)
        folders = [*limit.packages, str(Path(limit.urdf).parent)]
        geometry = pin.buildGeomFromUrdf(
            model, limit.urdf, pin.GeometryType.COLLISION, package_dirs=folders
        )
    except (ValueError, RuntimeError) as error:
        text = ' '.join(str(error).split())
        raise MotionError(
            f'the collision geometry of {limit.urdf} cannot be read: {text}'
        ) from error
    return model, geometry


def _columns(model: Any, joints: Sequence[str]) -> tuple[list[tuple[int, bool]], list[int]]:
    """Where each joint goes in Pinocchio's q, and whether as cosine and sine; and in its v."""
    result, velocities = [], []
    for name in joints:
        if not model.existJointName(name):
            raise MotionError(f'the URDF with the collision geometry has no joint {name!r}')
        joint = model.joints[model.getJointId(name)]
        result.append((int(joint.idx_q), joint.nq == 2))
        velocities.append(int(joint.idx_v))
    return result, velocities


def _pair(model: Any, geometry: Any) -> None:
    """Pair all objects on joints that do not follow each other, seen without empty joints."""
    carrying = {item.parentJoint for item in geometry.geometryObjects}

    def carrier(joint: int) -> int:
        joint = int(model.parents[joint])
        while joint > 0 and joint not in carrying:
            joint = int(model.parents[joint])
        return joint

    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first):
            one, other = objects[first].parentJoint, objects[second].parentJoint
            joined = one == other or carrier(one) == other or carrier(other) == one
            if not joined:
                geometry.addCollisionPair(pin.CollisionPair(second, first))
