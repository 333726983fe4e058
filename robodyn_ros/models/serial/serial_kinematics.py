# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of serial arms, computed with Pinocchio.

A pose is x, y, z in [m] and a quaternion x, y, z, w in the frame of the root link. An arm with
more than six joints has one more number for each of its `free` joints: that joint's position.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.kinematics_base import SINGULAR, JointMotion, Kinematics
from robodyn_ros.models.serial.urdf import UrdfModel

FRAME = 6
"""Degrees of freedom of a frame in space."""

POSE = FRAME + 1  # a quaternion has four numbers
_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_CLOSE, _REACHED = 1e-12, 1e-9
"""Distance [m, rad] at which the search ends, and largest one that counts as reached."""


class SerialKinematics(Kinematics):
    """An arm of n >= 6 joints one after the other, n - 6 of them free; see the module.

    The inverse is a Levenberg-Marquardt search from `near`. Use one object per thread.
    """

    kind = 'serial'
    rotates = True

    def __init__(
        self, body: UrdfModel, *, link: str | None = None, free: Sequence[str] | None = None
    ) -> None:
        """Build the arm of the joints of a URDF model, with other joints locked at zero.

        :param link: the tool; None: the link that the last joint moves
        :param free: names of the free joints; None: the third joint of an arm with seven
        :raises ModelError: an unknown link, one that not all joints carry, or a wrong number of
            joints
        """
        names, bodies = body.joint_names, body.tree.bodies
        self.axes = len(names)
        self._link = link or next(j.child for j in body.urdf.joints if j.name == names[-1])
        index, tool = body.tree.place(self._link)
        carriers = [bodies[number].joint for number in body.tree.carriers(index)]
        if carriers != list(range(self.axes)):
            raise ModelError(
                f'link {self._link!r} of {body.urdf.source} is carried by the joints '
                f'{[names[joint] for joint in carriers]}, needed are {list(names)} in this order'
            )
        self._free = tuple(free or (names[2:3] if self.axes == FRAME + 1 else ()))
        for name in self._free:
            if name not in names:
                raise ModelError(f'free joint {name!r} is not one of {list(names)}')
        self.free = tuple(names.index(name) for name in self._free)
        if len(set(self.free)) != self.axes - FRAME:
            raise ModelError(
                f'a serial arm with {self.axes} axes needs {max(0, self.axes - FRAME)} free '
                f'joints so that six move its tool, got {list(self._free)}'
            )
        from scipy.spatial.transform import Rotation  # takes half a second: other robots save it

        self._turns = Rotation
        self._urdf = body.urdf.xml
        self._turning = np.array([not joint.prismatic for joint in bodies])
        self._model = body.kinematic_copy()
        frame = pin.Frame('tool', self.axes, 0, pin.SE3(tool), pin.FrameType.OP_FRAME)
        self._frame = self._model.addFrame(frame)
        self._data = self._model.createData()

    def describe(self) -> dict[str, object]:
        """Return the text of the URDF without meshes, the tool and the free joints."""
        return {'urdf': self._urdf, 'link': self._link, 'free': list(self._free)}

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
        turned = self._turns.from_matrix(rotation).as_quat()
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
        turning = self._turning
        solution[turning] = (solution[turning] + np.pi) % (2.0 * np.pi) - np.pi
        return solution

    def _approach(self, poses: Array, q: Array) -> Array:
        """Improve q (N, n) in place, in at most 60 steps; return the distances left (N,)."""
        left = np.full(len(q), np.inf)
        rows = np.arange(len(q))
        turns = self._turns
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
