# SPDX-License-Identifier: Apache-2.0
"""Exact derivatives of a URDF's rigid-body regressor, for many samples at once.

The derivatives of any weighted sum of its entries by the complete state are computed in reverse
mode, which costs about as much as five regressors for any number of joints.

Notation: twists and wrenches are stacked as (angular, linear), at the origin of the root link and
in its axes unless "body" is in the name. Arrays have their components first, then joints (or pairs
of a joint i and a body j it carries), then samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array
from robodyn_ros.models.serial.rigid_columns import cross_matrix
from robodyn_ros.models.serial.urdf import UrdfModel


@dataclass(frozen=True)
class _State:
    """Kinematics of all samples: joint frames, joint axes as twists, twists of the bodies."""

    rotation: Array
    place: Array
    axis: Array
    velocity: Array
    acceleration: Array


class LinkTree:
    """The moving links of a `UrdfModel`, in the order of its joints; any tree."""

    def __init__(self, model: UrdfModel) -> None:
        """Compute the constant parts of the joints' frames and of the sums over bodies."""
        self._tree, bodies = model.tree, model.tree.bodies
        self._gravity = np.concatenate([np.zeros(3), -np.asarray(model.gravity)])
        parents = [bodies[body.parent].joint if body.parent >= 0 else -1 for body in bodies]
        self._order = [(body.joint, parent) for body, parent in zip(bodies, parents, strict=True)]
        # The joint of a row carries the body of a column if it carries the body's parent.
        self._carries = np.eye(len(bodies))
        for joint, parent in self._order:
            if parent >= 0:
                self._carries[:, joint] += self._carries[:, parent]
        self._by, self._body = np.nonzero(self._carries)
        # Sums over the bodies beyond a joint, of quantities per pair of a joint and a body.
        self._ends = (self._body == np.arange(len(bodies))[:, None]).astype(float)
        same = self._by[:, None] == self._by
        self._beyond = same * self._carries[np.ix_(self._body, self._body)]
        ordered = sorted(bodies, key=lambda body: body.joint)
        self._offset = np.stack([body.placement[:3, 3] for body in ordered], axis=1)
        self._axis = np.stack([body.axis for body in ordered], axis=1)
        self._slides = np.array([float(body.prismatic) for body in ordered])
        self._fixed = np.stack([body.placement[:3, :3] for body in ordered], axis=2)
        skews = np.stack([cross_matrix(body.axis) for body in ordered], axis=2)
        self._sine = np.einsum('ijn,jkn->ikn', self._fixed, skews)
        self._cosine = np.einsum('ijn,jkn->ikn', self._sine, skews)

    def gradient(self, weights: Array, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """Differentiate sum(weights * regressor) by q, qd and qdd, each of shape (N, n).

        :param weights: shape (N, n, 10 n)
        """
        state = self._kinematics(q, qd, qdd)
        count = len(self._order)
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
        places = [self._tree.place(name) for name in links]
        rotation, origin = self._frames(np.asarray(q, dtype=np.float64).T)
        result = np.empty((len(q), len(links), 3))
        for number, (index, pose) in enumerate(places):
            offset = pose[:3, 3]
            result[:, number] = offset
            if index >= 0:
                joint = self._tree.bodies[index].joint
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
        """Return rotations (3, 3, n, N) and origins (3, n, N) of the joints by Rodrigues."""
        angle = q * (1.0 - self._slides[:, None])
        rotation = self._sine[:, :, :, None] * np.sin(angle)
        rotation += self._cosine[:, :, :, None] * (1.0 - np.cos(angle))
        rotation += self._fixed[:, :, :, None]
        along = _turn(self._fixed, self._axis) * self._slides
        place = self._offset[:, :, None] + along[:, :, None] * q
        for index, parent in self._order:
            if parent >= 0:
                base = rotation[:, :, parent]
                place[:, index] = place[:, parent] + _turn(base, place[:, index])
                rotation[:, :, index] = np.einsum('ijn,jkn->ikn', base, rotation[:, :, index])
        return rotation, place


def _turn(rotation: Array, vector: Array) -> Array:
    result: Array = rotation[:, 0] * vector[0]
    result = result + rotation[:, 1] * vector[1]
    result += rotation[:, 2] * vector[2]
    return result


def _inside(rotation: Array, place: Array, twist: Array) -> Array:
    """Transform twists at the origin in root axes to the body's origin and axes."""
    result, back = np.empty(twist.shape), rotation.swapaxes(0, 1)
    result[:3] = _turn(back, twist[:3])
    result[3:] = _turn(back, twist[3:] + _cross3(twist[:3], place))
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
