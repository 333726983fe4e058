"""Exact derivatives of a URDF's rigid-body regressor, for many samples at once.

The regressor is that of `UrdfModel`. The derivatives of any weighted sum of its entries by the
complete state are computed in reverse mode. This costs about as much as five regressors, for any
number of joints, while differences need six regressors per joint. An optimiser of motions needs
the derivatives thousands of times.

Notation: twists and wrenches are stacked as (angular, linear), at the origin of the root link
and in its axes unless "body" is in the name. Arrays have their components first, then joints
(or pairs of a joint i and a body j it carries), then samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfJoint


@dataclass(frozen=True)
class _Joint:
    """Parent joint or -1, placement on it (4, 4), axis (3,), and whether it slides."""

    parent: int
    placement: Array
    axis: Array
    prismatic: bool


_Links = dict[str, tuple[int, Array]]
"""For each link the joint that carries it, -1 for the root, and its placement there (4, 4)."""


@dataclass(frozen=True)
class _State:
    """Kinematics of all samples: joint frames, joint axes as twists, twists of the bodies."""

    rotation: Array
    place: Array
    axis: Array
    velocity: Array
    acceleration: Array


class Chain:
    """The moving links of a `UrdfModel`, in the order of its joints; any tree."""

    def __init__(self, model: UrdfModel) -> None:
        """Read placements and axes from the model's URDF."""
        self._joints, self._links = _read(model.urdf, model.joint_names)
        self._source = model.urdf.source
        self._gravity = np.concatenate([np.zeros(3), -np.asarray(model.gravity)])
        self._order = _outwards([joint.parent for joint in self._joints])
        self._carries = _carries(self._joints, self._order)
        self._by, self._body = np.nonzero(self._carries)
        pairs = range(len(self._body))
        # sums over the bodies beyond a joint, of quantities per pair of a joint and a body
        self._ends: Array = np.array(
            [[float(self._body[p] == j) for p in pairs] for j in range(len(self._joints))]
        )
        self._beyond: Array = np.array(
            [
                [
                    float(
                        self._by[p] == self._by[r] and self._carries[self._body[p], self._body[r]]
                    )
                    for r in pairs
                ]
                for p in pairs
            ]
        )
        self._prepare()

    def _prepare(self) -> None:
        """Compute constant parts of the joints' frames, see `_kinematics`."""
        turns = [_turning(joint) for joint in self._joints]
        self._fixed, self._sine, self._cosine = (
            np.stack(part, axis=2) for part in zip(*turns, strict=True)
        )
        self._offset: Array = np.array([joint.placement[:3, 3] for joint in self._joints]).T
        self._axis: Array = np.array([joint.axis for joint in self._joints]).T
        self._slides: Array = np.array([float(joint.prismatic) for joint in self._joints])

    def gradient(self, weights: Array, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """Differentiate sum(weights * regressor) by q, qd and qdd, each of shape (N, n).

        :param weights: shape (N, n, 10 n)
        """
        state = self._kinematics(q, qd, qdd)
        count = len(self._joints)
        blocks = weights.reshape(len(q), count, count, 10)
        inertia = np.ascontiguousarray(blocks[:, self._by, self._body].transpose(2, 1, 0))
        by_axis, by_velocity, by_acceleration = self._body_gradient(state, inertia)
        forces = self._ends @ by_acceleration
        sums = np.stack([self._ends @ by_velocity, forces, _cross_wrench(state.velocity, forces)])
        return self._state_gradient(state, self._carries @ sums, self._beyond @ by_axis)

    def places(self, q: Array, links: Sequence[str]) -> Array:
        """Return the origins, shape (N, L, 3), in [m] in the root frame, of frames of links.

        :param q: joint positions, shape (N, n)
        :raises ModelError: a link the robot does not have
        """
        for name in links:
            if name not in self._links:
                raise ModelError(
                    f'{self._source} has no link {name!r}, it has: {", ".join(self._links)}'
                )
        rotation, origin = self._frames(np.asarray(q, dtype=np.float64).T)
        result = np.empty((len(q), len(links), 3))
        for number, name in enumerate(links):
            joint, placement = self._links[name]
            offset = placement[:3, 3]
            result[:, number] = offset
            if joint >= 0:
                turned = _turn(rotation[:, :, joint], offset[:, None])
                result[:, number] = (origin[:, joint] + turned).T
        return result

    def _state_gradient(self, state: _State, sums: Array, by_axis: Array) -> tuple[Array, ...]:
        """Collect the derivatives by q, qd, qdd of a joint from the bodies beyond it.

        With S_k the axis, v_k, a_k the twists and N_k, G_k, Z_k the sums of wrenches (of
        velocities, of accelerations, and of v x* of the latter) beyond joint k::

            d/dqdd_k = G_k . S_k        d/dqd_k = S_k . (N_k + Z_k - 2 v_k x* G_k)
            d/dq_k = -sum_i A_ik . (S_k x S_i) - N_k . (S_k x v_k) - G_k . (S_k x a_k)
                     - (S_k x v_k) . (Z_k - v_k x* G_k)        over joints i before k

        A_ik is the sum of the wrenches of joint i's axis in the bodies beyond joint k.
        """
        axis = state.axis
        by_velocity, by_acceleration, along = sums
        turned = _cross_wrench(state.velocity, by_acceleration)
        moved = _cross(axis, state.velocity)
        q = -_dot(moved, by_velocity + along - turned)
        q -= _dot(_cross(axis, state.acceleration), by_acceleration)
        crossed = _cross(axis[:, self._body], axis[:, self._by])
        q -= self._ends @ _dot(by_axis, crossed)
        qd = _dot(axis, by_velocity + along - 2.0 * turned)
        return q.T, qd.T, _dot(axis, by_acceleration).T

    def _body_gradient(self, state: _State, inertia: Array) -> tuple[Array, ...]:
        """Compute wrenches by axis, velocity, acceleration of s.(I a + v x* I v) for each pair."""
        axis, velocity, acceleration = self._in_bodies(state)
        moved = _cross(axis, velocity)
        stack = np.stack([acceleration, velocity, axis, moved], axis=1)
        pushed, momentum, by_acceleration, turned = np.moveaxis(
            _momentum(inertia[:, None], stack), 1, 0
        )
        by_axis = pushed + _cross_wrench(velocity, momentum)
        by_velocity = turned - _cross_wrench(axis, momentum)
        rotation, place = state.rotation[:, :, self._body], state.place[:, self._body]
        return tuple(
            _outside(rotation, place, wrench) for wrench in (by_axis, by_velocity, by_acceleration)
        )

    def _in_bodies(self, state: _State) -> tuple[Array, Array, Array]:
        """Return joint axis, body velocity and acceleration of every pair, in body axes."""
        rotation, place = state.rotation, state.place
        velocity, acceleration = (
            _inside(rotation, place, twist)[:, self._body]
            for twist in (state.velocity, state.acceleration)
        )
        axis = _inside(rotation[:, :, self._body], place[:, self._body], state.axis[:, self._by])
        return axis, velocity, acceleration

    def _kinematics(self, q: Array, qd: Array, qdd: Array) -> _State:
        q, qd, qdd = (np.asarray(value, dtype=np.float64).T for value in (q, qd, qdd))
        rotation, place = self._frames(q)
        direction = _turn(rotation, self._axis[:, :, None])
        slides = self._slides[:, None]
        turning = direction * (1.0 - slides)
        axis = np.concatenate([turning, _cross3(place, turning) + direction * slides])
        # the motion of a body is the sum over the joints that carry it
        carried = self._carries.T
        velocity = carried @ (axis * qd)
        acceleration = carried @ (axis * qdd + _cross(velocity, axis) * qd)
        acceleration += self._gravity[:, None, None]
        return _State(rotation, place, axis, velocity, acceleration)

    def _frames(self, q: Array) -> tuple[Array, Array]:
        """Return rotations (3, 3, n, N) and origins (3, n, N) of the joints' frames.

        The rotation of a joint is placement * (1 + K sin q + K K (1 - cos q)), K x = axis x x.
        """
        angle = q * (1.0 - self._slides[:, None])
        rotation = self._sine[:, :, :, None] * np.sin(angle)
        rotation += self._cosine[:, :, :, None] * (1.0 - np.cos(angle))
        rotation += self._fixed[:, :, :, None]
        along = _turn(self._fixed, self._axis) * self._slides
        place = self._offset[:, :, None] + along[:, :, None] * q
        for index in self._order:
            parent = self._joints[index].parent
            if parent >= 0:
                base = rotation[:, :, parent]
                place[:, index] = place[:, parent] + _turn(base, place[:, index])
                rotation[:, :, index] = np.einsum('ijn,jkn->ikn', base, rotation[:, :, index])
        return rotation, place


def _read(urdf: UrdfFile, moving: tuple[str, ...]) -> tuple[list[_Joint], _Links]:
    """Read the moving joints in the given order, and the place of each link on its joint."""
    carrier: _Links = {urdf.root: (-1, np.eye(4))}
    found: dict[int, _Joint] = {}
    for item in urdf.joints:
        parent, placement = carrier[item.parent]
        placement = placement @ item.origin
        if item.name in moving:
            found[moving.index(item.name)] = _joint(item, parent, placement)
            parent, placement = moving.index(item.name), np.eye(4)
        carrier[item.child] = (parent, placement)
    return [found[index] for index in range(len(moving))], carrier


def _joint(item: UrdfJoint, parent: int, placement: Array) -> _Joint:
    axis = np.asarray(item.axis, dtype=np.float64)
    return _Joint(parent, placement, axis, prismatic=item.type == 'prismatic')


def _turning(joint: _Joint) -> tuple[Array, Array, Array]:
    """Return placement, placement K and placement K K, each (3, 3)."""
    x, y, z = joint.axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation = joint.placement[:3, :3]
    return rotation, rotation @ skew, rotation @ skew @ skew


def _carries(joints: list[_Joint], order: list[int]) -> Array:
    """Return a matrix (n, n): 1 where the joint of the row carries the body of the column."""
    result = np.eye(len(joints))
    for index in order:
        if joints[index].parent >= 0:
            result[:, index] += result[:, joints[index].parent]
    return result


def _outwards(parents: list[int]) -> list[int]:
    """Order the joints so that each comes after the one that carries it."""
    order: list[int] = []
    while len(order) < len(parents):
        order += [
            index
            for index, parent in enumerate(parents)
            if index not in order and (parent < 0 or parent in order)
        ]
    return order


def _turn(rotation: Array, vector: Array) -> Array:
    result: Array = rotation[:, 0] * vector[0]
    result = result + rotation[:, 1] * vector[1]
    result += rotation[:, 2] * vector[2]
    return result


def _turn_back(rotation: Array, vector: Array) -> Array:
    result: Array = rotation[0] * vector[0]
    result = result + rotation[1] * vector[1]
    result += rotation[2] * vector[2]
    return result


def _inside(rotation: Array, place: Array, twist: Array) -> Array:
    """Transform twists at the origin in root axes to the body's origin and axes."""
    result = np.empty(twist.shape)
    result[:3] = _turn_back(rotation, twist[:3])
    result[3:] = _turn_back(rotation, twist[3:] + _cross3(twist[:3], place))
    return result


def _outside(rotation: Array, place: Array, wrench: Array) -> Array:
    """Transform wrenches at a body's origin in its axes to the origin in root axes."""
    result = np.empty(wrench.shape)
    result[3:] = _turn(rotation, wrench[3:])
    result[:3] = _turn(rotation, wrench[:3]) + _cross3(place, result[3:])
    return result


def _cross3(a: Array, b: Array) -> Array:
    first = a[1] * b[2]
    first -= a[2] * b[1]
    result: Array = np.empty((3, *first.shape))
    result[0] = first
    result[1] = a[2] * b[0]
    result[1] -= a[0] * b[2]
    result[2] = a[0] * b[1]
    result[2] -= a[1] * b[0]
    return result


def _cross(u: Array, m: Array) -> Array:
    """Return the twist u x m."""
    lower = _cross3(u[:3], m[3:])
    lower += _cross3(u[3:], m[:3])
    return np.concatenate([_cross3(u[:3], m[:3]), lower])


def _cross_wrench(u: Array, f: Array) -> Array:
    """Return the wrench u x* f."""
    upper = _cross3(u[:3], f[:3])
    upper += _cross3(u[3:], f[3:])
    return np.concatenate([upper, _cross3(u[:3], f[3:])])


def _dot(a: Array, b: Array) -> Array:
    result: Array = np.einsum('i...,i...->...', a, b)
    return result


def _momentum(p: Array, u: Array) -> Array:
    """Return the wrench I u of bodies with p = (m, m c, Ixx Ixy Iyy Ixz Iyz Izz)."""
    result = np.empty(u.shape)
    x, y, z = u[:3]
    result[0] = p[4] * x + p[5] * y + p[7] * z
    result[1] = p[5] * x + p[6] * y + p[8] * z
    result[2] = p[7] * x + p[8] * y + p[9] * z
    result[:3] += _cross3(p[1:4], u[3:])
    result[3:] = p[0] * u[3:]
    result[3:] += _cross3(u[:3], p[1:4])
    return result
