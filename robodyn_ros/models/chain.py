"""Exact derivatives of a URDF's rigid-body regressor, for many samples at once.

The regressor itself is that of `UrdfModel`. Of any weighted sum of its entries the derivatives
with respect to the whole state are computed backwards: one such derivative costs about as much
as five regressors, whatever the number of joints, where differences need six per joint. An
optimiser of motions needs it thousands of times.

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
from robodyn_ros.models.urdf import UrdfModel
from robodyn_ros.models.urdf_file import UrdfFile, UrdfJoint


@dataclass(frozen=True)
class _Joint:
    parent: int
    rotation: Array
    offset: Array
    axis: Array
    prismatic: bool


_Links = dict[str, tuple[int, Array]]
"""Of each link the joint that carries it, -1 for the root, and its placement there (4, 4)."""


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
        count = len(self._joints)
        self._order = _outwards([joint.parent for joint in self._joints])
        carries = np.eye(count, dtype=bool)
        for index in self._order:
            parent = self._joints[index].parent
            if parent >= 0:
                carries[:, index] |= carries[:, parent]
        self._by, self._body = np.nonzero(carries)

    def gradient(self, weights: Array, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """Derivatives of sum(weights * regressor) by q, qd and qdd, each of shape (N, n).

        :param weights: shape (N, n, 10 n)
        """
        state = self._kinematics(q, qd, qdd)
        count, samples = len(self._joints), len(q)
        blocks = weights.reshape(samples, count, count, 10)
        inertia = np.ascontiguousarray(blocks[:, self._by, self._body].transpose(2, 1, 0))
        pairs = self._body_gradient(state, inertia)
        by_axis, by_velocity, by_acceleration = pairs
        total = np.zeros((6, count, count, samples))  # [:, i, j]: of joint i's axis in body j
        total[:, self._by, self._body] = by_axis
        sums = np.zeros((3, 6, count, samples))
        for pair, body in enumerate(self._body):
            sums[0, :, body] += by_velocity[:, pair]
            sums[1, :, body] += by_acceleration[:, pair]
        sums[2] = _cross_wrench(state.velocity, sums[1])
        for index in reversed(self._order):
            parent = self._joints[index].parent
            if parent >= 0:
                sums[:, :, parent] += sums[:, :, index]
                total[:, :, parent] += total[:, :, index]
        return self._state_gradient(state, sums, total)

    def places(self, q: Array, links: Sequence[str]) -> Array:
        """Origins, shape (N, L, 3), in [m] in the root frame, of the frames of some links.

        :param q: joint positions, shape (N, n)
        :raises ModelError: a link the robot does not have
        """
        for name in links:
            if name not in self._links:
                raise ModelError(
                    f'{self._source} has no link {name!r}, it has: {", ".join(self._links)}'
                )
        rest = np.zeros(np.shape(q))
        state = self._kinematics(q, rest, rest)
        result = np.empty((len(q), len(links), 3))
        for number, name in enumerate(links):
            joint, placement = self._links[name]
            offset = placement[:3, 3]
            result[:, number] = offset
            if joint >= 0:
                turned = _turn(state.rotation[:, :, joint], offset[:, None])
                result[:, number] = (state.place[:, joint] + turned).T
        return result

    def _state_gradient(self, state: _State, sums: Array, total: Array) -> tuple[Array, ...]:
        """Collect what the wrenches of all bodies beyond a joint say about its q, qd, qdd.

        With S_k the axis, v_k, a_k the twists and N_k, G_k, Z_k the sums of wrenches (of
        velocities, of accelerations, and of v x* of the latter) beyond joint k::

            d/dqdd_k = G_k . S_k        d/dqd_k = S_k . (N_k + Z_k - 2 v_k x* G_k)
            d/dq_k = -sum_i A_ik . (S_k x S_i) - N_k . (S_k x v_k) - G_k . (S_k x a_k)
                     - (S_k x v_k) . (Z_k - v_k x* G_k)        over joints i before k
        """
        axis = state.axis
        by_velocity, by_acceleration, along = sums
        turned = _cross_wrench(state.velocity, by_acceleration)
        moved = _cross(axis, state.velocity)
        q = -_dot(moved, by_velocity + along - turned)
        q -= _dot(_cross(axis, state.acceleration), by_acceleration)
        before, after = (index[self._by != self._body] for index in (self._by, self._body))
        terms = _dot(total[:, before, after], _cross(axis[:, after], axis[:, before]))
        for pair, index in enumerate(after):
            q[index] -= terms[pair]
        qd = _dot(axis, by_velocity + along - 2.0 * turned)
        return q.T, qd.T, _dot(axis, by_acceleration).T

    def _body_gradient(self, state: _State, inertia: Array) -> tuple[Array, ...]:
        """Wrenches, by axis, velocity and acceleration, of s.(I a + v x* I v) for every pair."""
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
        """Axis of every pair's joint, velocity and acceleration of its body, in body axes."""
        rotation, place = state.rotation, state.place
        velocity, acceleration = (
            _inside(rotation, place, twist)[:, self._body]
            for twist in (state.velocity, state.acceleration)
        )
        axis = _inside(rotation[:, :, self._body], place[:, self._body], state.axis[:, self._by])
        return axis, velocity, acceleration

    def _kinematics(self, q: Array, qd: Array, qdd: Array) -> _State:
        q, qd, qdd = (np.asarray(value, dtype=np.float64).T for value in (q, qd, qdd))
        count, samples = q.shape
        state = _State(
            np.empty((3, 3, count, samples)),
            np.empty((3, count, samples)),
            *(np.empty((6, count, samples)) for _ in range(3)),
        )
        for index in self._order:
            self._place(state, index, q[index])
            parent = self._joints[index].parent
            axis = state.axis[:, index]
            velocity = axis * qd[index]
            acceleration = axis * qdd[index]
            if parent >= 0:
                velocity += state.velocity[:, parent]
                acceleration += state.acceleration[:, parent]
            else:
                acceleration += self._gravity[:, None]
            acceleration += _cross(velocity, axis) * qd[index]
            state.velocity[:, index], state.acceleration[:, index] = velocity, acceleration
        return state

    def _place(self, state: _State, index: int, q: Array) -> None:
        """Frame and axis of one joint, from those of its parent."""
        joint = self._joints[index]
        rotation: Array = joint.rotation[:, :, None]
        place: Array = joint.offset[:, None]
        if joint.parent >= 0:
            base = state.rotation[:, :, joint.parent]
            rotation = np.einsum('ijn,jk->ikn', base, joint.rotation)
            place = state.place[:, joint.parent] + _turn(base, joint.offset[:, None])
        axis = _turn(rotation, joint.axis[:, None])
        twist = state.axis[:, index]
        if joint.prismatic:
            twist[:3], twist[3:] = 0.0, axis
            state.rotation[:, :, index] = rotation
            state.place[:, index] = place + axis * q
            return
        twist[:3], twist[3:] = axis, _cross3(place, axis)
        state.rotation[:, :, index] = _rotated(rotation, joint.axis, q)
        state.place[:, index] = place


def _read(urdf: UrdfFile, moving: tuple[str, ...]) -> tuple[list[_Joint], _Links]:
    """Moving joints in the order asked for, and where every link is: fixed joints folded in."""
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
    return _Joint(
        parent, placement[:3, :3], placement[:3, 3], axis, prismatic=item.type == 'prismatic'
    )


def _outwards(parents: list[int]) -> list[int]:
    """Joints in an order in which each comes after the one that carries it."""
    order: list[int] = []
    while len(order) < len(parents):
        order += [
            index
            for index, parent in enumerate(parents)
            if index not in order and (parent < 0 or parent in order)
        ]
    return order


def _rotated(rotation: Array, axis: Array, angle: Array) -> Array:
    """Rotations (3, 3, N) turned about an axis of their own by angles (N,): Rodrigues."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = (
        np.eye(3)[:, :, None]
        + skew[:, :, None] * np.sin(angle)
        + (skew @ skew)[:, :, None] * (1.0 - np.cos(angle))
    )
    result: Array = np.einsum('ijn,jkn->ikn', np.broadcast_to(rotation, turn.shape), turn)
    return result


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
    """Twists at the origin in root axes as twists at a body's origin in its axes."""
    result = np.empty(twist.shape)
    result[:3] = _turn_back(rotation, twist[:3])
    result[3:] = _turn_back(rotation, twist[3:] + _cross3(twist[:3], place))
    return result


def _outside(rotation: Array, place: Array, wrench: Array) -> Array:
    """Wrenches at a body's origin in its axes as wrenches at the origin in root axes."""
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
    """Twist u x m."""
    lower = _cross3(u[:3], m[3:])
    lower += _cross3(u[3:], m[:3])
    return np.concatenate([_cross3(u[:3], m[:3]), lower])


def _cross_wrench(u: Array, f: Array) -> Array:
    """Wrench u x* f."""
    upper = _cross3(u[:3], f[:3])
    upper += _cross3(u[3:], f[3:])
    return np.concatenate([upper, _cross3(u[:3], f[3:])])


def _dot(a: Array, b: Array) -> Array:
    result: Array = np.einsum('i...,i...->...', a, b)
    return result


def _momentum(p: Array, u: Array) -> Array:
    """Wrench I u of bodies with the ten parameters p = (m, m c, Ixx Ixy Iyy Ixz Iyz Izz)."""
    result = np.empty(u.shape)
    x, y, z = u[:3]
    result[0] = p[4] * x + p[5] * y + p[7] * z
    result[1] = p[5] * x + p[6] * y + p[8] * z
    result[2] = p[7] * x + p[8] * y + p[9] * z
    result[:3] += _cross3(p[1:4], u[3:])
    result[3:] = p[0] * u[3:]
    result[3:] += _cross3(u[:3], p[1:4])
    return result
