# SPDX-License-Identifier: Apache-2.0
"""Regressor columns of a tree of rigid bodies, for many samples at once.

Each step is one product of small matrices for several hundred samples, and only requested columns
are computed. Spatial vectors are (angular, linear), in the body's frame, at its origin
(Featherstone, "Rigid Body Dynamics Algorithms", 2008, sections 2.2 and 5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn_ros.models.interface import Array, Indices, sample_blocks

_AT_ONCE = 512
"""Samples per block, so that its numbers fit into the processor's cache."""


def cross_matrix(vector: Array) -> Array:
    """Return the matrix of the cross product vector x."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True)
class Body:
    """A moving body and the joint that carries it.

    :param parent: index of the body that carries it, which is listed before it; -1: the base
    :param placement: pose (4, 4) of its joint in the parent's frame, lengths in [m]
    :param axis: of its joint, a unit vector (3,)
    """

    parent: int
    joint: int
    placement: Array
    axis: Array
    prismatic: bool

    @property
    def screw(self) -> Array:
        """Motion (6,) of the body at a joint velocity of 1 rad/s or 1 m/s."""
        none = np.zeros(3)
        return np.concatenate([none, self.axis] if self.prismatic else [self.axis, none])

    def passage(self) -> Array:
        """Return four flat matrices whose sum, times 1, cos q, sin q and q, transforms motions.

        A motion of the parent, as a row, times the sum X (6, 6) is that of the body (Rodrigues).
        """
        rotation, place = self.placement[:3, :3].T, self.placement[:3, 3]
        fixed = np.kron(np.eye(2), rotation)
        fixed[3:, :3] = -rotation @ cross_matrix(place)
        if self.prismatic:
            shift = np.zeros((6, 6))
            shift[3:, :3] = -cross_matrix(self.axis)
            terms = [fixed, 0.0 * fixed, 0.0 * fixed, shift @ fixed]
        else:
            along = np.kron(np.eye(2), np.outer(self.axis, self.axis)) @ fixed
            turn = np.kron(np.eye(2), cross_matrix(self.axis)) @ fixed
            terms = [along, fixed - along, -turn, 0.0 * fixed]
        return np.array([term.T.ravel() for term in terms])

    def drive(self) -> Array:
        """Return the joint's part in velocity and acceleration, (8, 12), by qd, qdd and v qd."""
        result = np.zeros((8, 12))
        result[0, :6] = result[1, 6:] = self.screw
        angular, linear = cross_matrix(self.screw[:3]), cross_matrix(self.screw[3:])
        result[2:5, 6:9] = result[5:, 9:] = angular  # v x screw
        result[2:5, 9:] = linear
        return result


class RigidColumns:
    """Selected columns of each joint, with constant matrices prepared once."""

    def __init__(self, bodies: Sequence[Body], gravity: Array, columns: Sequence[Indices]) -> None:
        """Prepare the constant matrices.

        :param gravity: in the frame of the base, shape (3,), in [m/s^2]
        :param columns: for each joint, indices into the 10 n columns of the links (in the order of
            the joints) followed by the n columns of the rotors
        """
        count = len(bodies)
        wanted = np.unique(np.concatenate(columns))
        self._parts: list[_Part] = []
        supports: list[list[int]] = []
        where, first = np.full((count, 11 * count), -1), 0
        for body in bodies:
            before = supports[body.parent] if body.parent >= 0 else []
            supports.append([*before, body.joint])
            link = wanted[(wanted >= 10 * body.joint) & (wanted < 10 * body.joint + 10)]
            shape = len(supports[-1]), len(link)
            last = first + shape[0] * shape[1]
            where[np.array(supports[-1])[:, None], link] = np.arange(first, last).reshape(shape)
            self._parts.append(_Part(body, len(before), link % 10, slice(first, last)))
            first = last
        where[np.arange(count), 10 * count + np.arange(count)] = first + np.arange(count)
        self._rotors = slice(first, first + count)
        self._wide = np.zeros((_AT_ONCE, first + count + 1))
        self._order = np.concatenate([where[k, indices] for k, indices in enumerate(columns)])
        self._order %= self._wide.shape[1]  # -1 is the last column, which stays zero
        self._start = np.zeros((_AT_ONCE, 2, 6))
        self._start[:, 1, 3:] = -gravity

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the columns side by side, shape (N, k), joint after joint.

        :param q, qd, qdd: each of shape (N, n), in rad or m, and s
        """
        result = np.empty((len(q), len(self._order)))
        for rows in sample_blocks(len(q), _AT_ONCE):
            wide = self._wide[: len(q[rows])]
            wide[:, self._rotors] = qdd[rows]
            here = q[rows]
            steps = np.stack([np.ones(here.shape), np.cos(here), np.sin(here), here], axis=2)
            motions: list[Array] = []
            for part in self._parts:
                parent, joint = part.body.parent, part.body.joint
                before = motions[parent] if parent >= 0 else self._start[: len(wide)]
                rates = qd[rows, joint], qdd[rows, joint]
                motions.append(part.move(before, steps[:, joint], rates))
                part.columns(motions[-1], wide)
            np.take(wide, self._order, axis=1, out=result[rows], mode='clip')
        return result


class _Part:
    """Constant matrices of one body, and work space for its numbers."""

    def __init__(self, body: Body, before: int, chosen: Indices, place: slice) -> None:
        """Prepare."""
        self.body, self.place, self.count = body, place, len(chosen)
        self.passage, self.drive = body.passage(), body.drive().T.copy()
        self.wrench = np.ascontiguousarray(_WRENCH[:, :, chosen].reshape(len(_WRENCH), -1))
        self.motions = np.empty((_AT_ONCE, before + 3, 6))
        self.motions[:, -1] = body.screw
        self.driving = np.empty((8, _AT_ONCE))
        self.features = np.empty((6 + len(_WRENCH), _AT_ONCE))

    def move(self, before: Array, steps: Array, rates: tuple[Array, Array]) -> Array:
        """Return velocity, acceleration less gravity, and screws up to this joint, (N, ., 6).

        :param before: the same of the parent
        :param steps: 1, cos q, sin q and q, shape (N, 4)
        :param rates: qd and qdd, each of shape (N,)
        """
        count = len(before)
        motions, features = self.motions[:count], self.features[:, :count]
        np.matmul(before, (steps @ self.passage).reshape(-1, 6, 6), out=motions[:, :-1])
        both, driving = motions[:, :2].reshape(-1, 12), self.driving[:, :count]
        features[:12] = both.T
        driving[:2] = rates
        np.multiply(features[:6], rates[0], out=driving[2:])
        features[:12] += self.drive @ driving
        both[...] = features[:12].T
        return motions

    def columns(self, motions: Array, wide: Array) -> None:
        """Write the torque that the body causes in each joint per unit of its parameters."""
        if not self.count:
            return
        count, features = len(motions), self.features[:, : len(motions)]
        velocity = features[:6]
        np.multiply(velocity[:3, None], velocity, out=features[12:].reshape(3, 6, count))
        wrench = (features[6:].T @ self.wrench).reshape(count, 6, self.count)
        out = wide[:, self.place].reshape(count, -1, self.count)
        np.matmul(motions[:, 2:], wrench, out=out)


def _wrenches() -> Array:
    """Return the wrench on a body per unit of its ten parameters, shape (24, 6, 10).

    Atkeson, An and Hollerbach (1986), Eq. 6, by the acceleration (6) and the products of w with
    the velocity (3 x 6).
    """
    unit, cross = np.eye(24), np.array([cross_matrix(axis) for axis in np.eye(3)])
    turning, products = unit[:, :3], unit[:, 6:].reshape(24, 3, 6)
    spin, identity = products[:, :, :3], np.eye(3)
    point = unit[:, 3:6] + np.einsum('bac,fbc->fa', cross, products[:, :, 3:])
    result = np.zeros((24, 6, 10))
    result[:, 3:, 0] = point
    result[:, 3:, 1:4] = np.einsum('cab,fc->fab', cross, turning) + spin
    result[:, 3:, 1:4] -= np.einsum('fcc,ab->fab', spin, identity)
    result[:, :3, 1:4] = -np.einsum('cab,fc->fab', cross, point)
    for column, (row, other) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        inertia = np.zeros((3, 3))
        inertia[row, other] = inertia[other, row] = 1.0
        gyroscopic = np.einsum('bac,cd,fbd->fa', cross, inertia, spin)
        result[:, :3, 4 + column] = turning @ inertia + gyroscopic
    return result


_WRENCH = _wrenches()
