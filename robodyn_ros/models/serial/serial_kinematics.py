# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of serial arms, computed with Pinocchio.

A pose is x, y, z in [m] and a quaternion x, y, z, w in the frame of the root link. An arm with
more than six joints has one more number for each of its `free` joints: that joint's position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.kinematics_base import SINGULAR, JointMotion, Kinematics
from robodyn_ros.models.rotation import rotations
from robodyn_ros.models.serial.urdf import UrdfModel

FRAME = 6
"""Degrees of freedom of a frame in space."""

POSE = FRAME + 1  # a quaternion has four numbers
_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_CLOSE, _REACHED = 1e-12, 1e-9
"""Distance [m, rad] at which the search ends, and largest one that counts as reached."""


class SerialKinematics(Kinematics):
    """An arm of n >= 6 joints one after the other, n - 6 of them free; see the module.

    The inverse is computed by the Levenberg-Marquardt method, with damping proportional to the
    distance, starting from the position `near`. Use one object per thread.
    """

    kind = 'serial'
    rotates = True

    def __init__(self, *, geometry: Mapping[str, Any], axes: int) -> None:
        """Build the arm.

        :param geometry: `joints`, each with `type` (revolute or prismatic), `axis` (3,) and
            `placement` on the joint before; `tool`, placement on the last joint; `free`, numbers
            of the free joints. A placement is x, y, z in [m] and a quaternion x, y, z, w.
        :raises ModelError: a geometry of another form
        """
        _check_form(geometry, axes)
        self.axes = int(axes)
        self.free = tuple(int(index) for index in geometry.get('free', ()))
        if len(set(self.free)) != self.axes - FRAME or not set(self.free) <= set(range(axes)):
            raise ModelError(
                f'a serial arm with {axes} axes needs {max(0, axes - FRAME)} free joints so that '
                f'six move its tool, got {list(self.free)}'
            )
        self._model = pin.Model()
        for number, joint in enumerate(geometry['joints']):
            axis = np.array(joint['axis'], dtype=float)
            build = (
                pin.JointModelPrismaticUnaligned
                if joint['type'] == 'prismatic'
                else pin.JointModelRevoluteUnaligned
            )
            placement = _placement(joint['placement'])
            self._model.addJoint(number, build(axis), placement, f'joint_{number}')
        tool = pin.Frame(
            'tool', self.axes, 0, _placement(geometry['tool']), pin.FrameType.OP_FRAME
        )
        self._frame = self._model.addFrame(tool)
        self._data = self._model.createData()
        self.geometry = geometry

    @classmethod
    def of(
        cls, body: UrdfModel, *, link: str | None = None, free: Sequence[str] | None = None
    ) -> SerialKinematics:
        """Build kinematics of the joints of a URDF model, with other joints locked at zero.

        :param link: the tool; None: the link that the last joint moves
        :param free: names of the free joints; None: the third joint of an arm with seven
        :raises ModelError: an unknown link, one that not all joints carry, or a wrong number of
            joints
        """
        names, bodies = body.joint_names, body.tree.bodies
        link = link or next(j.child for j in body.urdf.joints if j.name == names[-1])
        index, tool = body.tree.place(link)
        carriers = [bodies[number] for number in body.tree.carriers(index)]
        if [joint.joint for joint in carriers] != list(range(len(names))):
            raise ModelError(
                f'link {link!r} of {body.urdf.source} is carried by the joints '
                f'{[names[joint.joint] for joint in carriers]}, needed are {list(names)} in this '
                f'order'
            )
        free = free or (names[2:3] if len(names) == FRAME + 1 else ())
        for name in free:
            if name not in names:
                raise ModelError(f'free joint {name!r} is not one of {list(names)}')
        geometry = {
            'joints': [
                {
                    'type': 'prismatic' if joint.prismatic else 'revolute',
                    'axis': joint.axis.tolist(),
                    'placement': _numbers(joint.placement),
                }
                for joint in carriers
            ],
            'tool': _numbers(tool),
            'free': [names.index(name) for name in free],
        }
        return cls(geometry=geometry, axes=len(names))

    @property
    def label(self) -> str:
        """Name for messages."""
        return 'a serial arm'

    @property
    def pose_size(self) -> int:
        """Number of values of a pose."""
        return POSE + len(self.free)

    def forward(self, q: Array) -> Array:
        """Return the poses, shape (N, p); quaternions have w >= 0."""
        q = self._check_shape('joint positions', q)
        place, rotation, _ = self._frames(q, jacobian=False)
        turned = rotations().from_matrix(rotation).as_quat()
        turned *= np.where(turned[:, 3:] < 0.0, -1.0, 1.0)
        return np.column_stack([place, turned, q[:, self.free]])

    def inverse(self, poses: Array, *, near: Array | None = None) -> Array:
        """Return the joint positions, shape (N, n), that the search from `near` converges to."""
        poses = self._check_shape('poses', poses, self.pose_size)
        if near is None:
            near = self._any(poses[0])
        q: Array = np.empty((len(poses), self.axes))
        q[:] = near
        left = self._approach(poses, q)
        self._refuse(~(left < _REACHED), poses, 'cannot reach')
        return q

    def _any(self, pose: Array) -> Array:
        """Return a solution: the first that a search from a fixed list of positions finds."""
        starts = np.random.default_rng(0).uniform(-1.5, 1.5, (40, self.axes))
        starts[0] = 0.0
        left = self._approach(np.repeat(pose[None], len(starts), axis=0), starts)
        good = np.flatnonzero(left < _REACHED)
        if not len(good):
            self._refuse(np.ones(1, dtype=bool), pose[None], 'cannot reach')
        solution: Array = starts[good[0]]
        turning = np.array([joint['type'] != 'prismatic' for joint in self.geometry['joints']])
        solution[turning] = (solution[turning] + np.pi) % (2.0 * np.pi) - np.pi
        return solution

    def _approach(self, poses: Array, q: Array) -> Array:
        """Improve q (N, n) in place and return the remaining distances (N,).

        At most 60 steps of at most 0.5 rad or m are made.
        """
        left = np.full(len(q), np.inf)
        rows = np.arange(len(q))
        turns = rotations()
        aims = turns.from_quat(poses[:, 3:POSE])
        for _ in range(60):
            place, rotation, jacobian = self._frames(q[rows])
            turn = aims[rows] * turns.from_matrix(rotation).inv()
            way = np.column_stack(
                [
                    poses[rows, :3] - place,
                    turn.as_rotvec(),
                    poses[rows][:, POSE:] - q[rows][:, self.free],
                ]
            )
            left[rows] = np.linalg.norm(way, axis=1)
            going = left[rows] > _CLOSE
            rows, way, jacobian = rows[going], way[going], jacobian[going]
            if not len(rows):
                break
            step = _solve_damped(jacobian, way)
            longest = np.abs(step).max(axis=1, keepdims=True)
            q[rows] += step * np.minimum(1.0, 0.5 / np.maximum(longest, 1e-300))
        return left

    def motion(self, x: Array, xd: Array, xdd: Array, *, near: Array | None = None) -> JointMotion:
        """Convert a motion of the tool with the Jacobian J: qd = J^-1 v, qdd = J^-1 (v' - J' qd).

        With the quaternion h of the pose the angular velocity is the vector part of 2 h' h*, and
        its derivative that of 2 h'' h*.
        """
        x, xd, xdd = (self._check_shape('poses', value, self.pose_size) for value in (x, xd, xdd))
        q = self.inverse(x, near=near)
        jacobian = self._frames(q)[2]
        size = np.linalg.norm(jacobian, axis=1).prod(axis=1)
        leverage = np.abs(np.linalg.det(jacobian))
        self._refuse(leverage <= SINGULAR * size, x, 'is singular at')
        speed, change = (
            np.column_stack([v[:, :3], _angular(x[:, 3:POSE], v[:, 3:POSE]), v[:, POSE:]])
            for v in (xd, xdd)
        )
        qd = _solve_systems(jacobian, speed)
        change[:, :FRAME] -= self._drift(q, qd)
        return q, qd, _solve_systems(jacobian, change)

    def _frames(self, q: Array, *, jacobian: bool = True) -> tuple[Array, Array, Array]:
        """Return places (N, 3), rotations (N, 3, 3) and Jacobians (N, n, n) of the tool."""
        model, data, frame = self._model, self._data, self._frame
        count, n = q.shape
        place, rotation = np.empty((count, 3)), np.empty((count, 3, 3))
        columns = np.zeros((count, n, n))
        columns[:, np.arange(FRAME, n), self.free] = 1.0
        for k in range(count):
            if jacobian:
                columns[k, :FRAME] = pin.computeFrameJacobian(model, data, q[k], frame, _WORLD)
            else:
                pin.forwardKinematics(model, data, q[k])
            spot = pin.updateFramePlacement(model, data, frame)
            place[k], rotation[k] = spot.translation, spot.rotation
        return place, rotation, columns

    def _drift(self, q: Array, qd: Array) -> Array:
        """Return the acceleration (N, 6) of the tool at constant joint velocities."""
        model, data, still = self._model, self._data, np.zeros(self.axes)
        result = np.empty((len(q), FRAME))
        for k in range(len(q)):
            pin.forwardKinematics(model, data, q[k], qd[k], still)
            result[k] = pin.getFrameClassicalAcceleration(model, data, self._frame, _WORLD).vector
        return result


def _solve_systems(matrices: Array, rows: Array) -> Array:
    """Solve N systems of n equations, shape (N, n)."""
    solutions: Array = np.linalg.solve(matrices, rows[:, :, None])[:, :, 0].astype(np.float64)
    return solutions


def _solve_damped(jacobian: Array, way: Array) -> Array:
    """Return damped least-squares steps (N, n) for Jacobians (N, n, n) and distances (N, n)."""
    damping = 1e-3 * (way**2).sum(axis=1)[:, None, None] + 1e-14
    square = jacobian @ jacobian.transpose(0, 2, 1) + damping * np.eye(way.shape[1])
    step: Array = np.einsum('nij,ni->nj', jacobian, _solve_systems(square, way))
    return step


def _angular(h: Array, rate: Array) -> Array:
    """Return the vector part of 2 h' h* for quaternions x, y, z, w of shape (N, 4)."""
    v, w = rate[:, :3], rate[:, 3:]
    return 2.0 * (h[:, 3:] * v - w * h[:, :3] - np.cross(v, h[:, :3]))


def _numbers(placement: Array) -> list[float]:
    turned = rotations().from_matrix(placement[:3, :3]).as_quat()
    return [float(value) for value in (*placement[:3, 3], *turned)]


def _placement(values: Sequence[float]) -> Any:
    given = np.array(values, dtype=float)
    return pin.SE3(rotations().from_quat(given[3:]).as_matrix(), given[:3])


def _check_form(geometry: Mapping[str, Any], axes: object) -> None:
    """Check the form of a geometry."""
    joints = geometry.get('joints')
    known = set(geometry) <= {'joints', 'tool', 'free'} and type(axes) is int
    if not known or not isinstance(joints, list) or len(joints) != axes:
        raise ModelError(
            'the geometry of a serial arm needs joints (one for each of its axes), tool and, with '
            f'more than six, free, got {dict(geometry)!r:.80} for {axes!r} axes'
        )
    for number, joint in enumerate(joints):
        keys = {'type', 'axis', 'placement'}
        if not isinstance(joint, Mapping) or set(joint) != keys:
            raise ModelError(f'joint {number} of a serial arm needs type, axis and placement')
        if joint['type'] not in ('revolute', 'prismatic'):
            raise ModelError(
                f'joint {number} of a serial arm must be revolute or prismatic, got '
                f'{joint["type"]!r:.60}'
            )
        _check_numbers(joint['axis'], 3, f'axis of joint {number}')
        _check_numbers(joint['placement'], POSE, f'placement of joint {number}')
    _check_numbers(geometry.get('tool'), POSE, 'tool')
    free = geometry.get('free', [])
    if not isinstance(free, list) or not all(type(index) is int for index in free):
        raise ModelError(f'free joints of a serial arm must be integers, got {free!r:.60}')


def _check_numbers(values: object, count: int, what: str) -> None:
    try:
        given = np.array(values, dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != (count,) or not np.isfinite(given).all() or not given[-4:].any():
        raise ModelError(
            f'{what} of a serial arm must be {count} finite numbers, not all 0, got {values!r:.80}'
        )
