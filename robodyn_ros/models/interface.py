# SPDX-License-Identifier: Apache-2.0
"""Interface of all robot models, linear in their parameters: tau = Y(q, qd, qdd) p."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import ModelError
from robodyn_ros.long_work import poll

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
TorqueFunction = Callable[[Array, Array, Array], Array]
"""Torque as a function of position, velocity and acceleration, all of the same shape."""
JointType = Literal['revolute', 'continuous', 'prismatic']

GRAVITY = 9.81
"""Default gravity [m/s^2] along -z, as in Pinocchio, MuJoCo and Gazebo."""

BLOCK_SIZE = 2048
"""Samples whose regressor is in memory at a time, so that memory is independent of N."""


@dataclass(frozen=True)
class Joint:
    """One axis of a robot."""

    name: str
    type: JointType = 'revolute'

    @property
    def position_unit(self) -> str:
        """Unit of the position: 'rad' or 'm'."""
        return 'm' if self.type == 'prismatic' else 'rad'

    @property
    def torque_unit(self) -> str:
        """Unit of the joint torque: 'Nm' or, for a prismatic joint, 'N'."""
        return 'N' if self.type == 'prismatic' else 'Nm'


@dataclass(frozen=True)
class Parameter:
    """One column of a regressor: its name, SI unit, and its joint (or '')."""

    name: str
    unit: str
    joint: str = ''


class DynamicModel(ABC):
    """A model that is linear in its parameters.

    Rigid bodies, friction and payload are all such models; `SumModel` adds them. Excitation,
    estimation, validation, feed-forward and collision monitoring are written against this
    class alone.
    """

    joints: tuple[Joint, ...]
    parameters: tuple[Parameter, ...]

    @abstractmethod
    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressor Y of every sample.

        :param q: joint positions, shape (N, n), in [rad] or [m]
        :param qd: joint velocities, shape (N, n), in [rad/s] or [m/s]
        :param qdd: joint accelerations, shape (N, n), in [rad/s^2] or [m/s^2]
        :return: Y, shape (N, n, p), so that torque = Y @ parameter values, in [Nm] or [N]
        :raises ModelError: an argument is not of shape (N, n), or the robot is not defined there
        """

    def pack_columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Compute selected columns of the regressor of each joint, side by side, shape (N, k).

        Most entries of a regressor are zero or repeated: an estimate needs about a third.

        :param columns: for each joint, the indices of its columns, within 0..p-1
        """
        return gather_columns(self.regressor(q, qd, qdd), columns)

    def select_columns(self, q: Array, qd: Array, qdd: Array, columns: Indices) -> Array:
        """Compute the same columns of the regressor for every joint, shape (N, n, k)."""
        count = len(self.joints)
        side_by_side = self.pack_columns(q, qd, qdd, [columns] * count)
        return side_by_side.reshape(len(side_by_side), count, len(columns))

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return the YAML-safe description from which `models.catalog` rebuilds the model."""

    def prior(self) -> Array:
        """Return a-priori parameter values, shape (p,), SI; NaN: unknown."""
        return np.full(len(self.parameters), np.nan)

    def position_limits(self) -> Array:
        """Return the range of positions where the model is defined, shape (n, 2), in [rad] or [m].

        These are not joint limits: random states for base parameters are drawn between them.
        """
        return np.tile([-np.pi, np.pi], (len(self.joints), 1))

    @property
    def smooth(self) -> bool:
        """True if the regressor is a smooth function of the state (no signs of velocities)."""
        return False

    @property
    def velocity_spread(self) -> int:
        """Exponent of the random velocity distribution: 1 is uniform, more favours low speeds."""
        return 1

    def velocities(self, share: Array) -> Array:
        """Return random velocities (N, n) within 3 rad/s or m/s, from shares (N, n) of -1 to 1."""
        result: Array = 3.0 * share * np.abs(share) ** (self.velocity_spread - 1)
        return result

    @property
    def slips(self) -> bool:
        """True if the samples of a regressor are consecutive, see `springs.slip_state`."""
        return False

    def positions(self, share: Array) -> Array:
        """Return positions (N, n) between `position_limits`, from shares (N, n) of -1 to 1.

        Where the model slips, every second one is near the one before: at large steps, slips of
        all sizes are alike.
        """
        lower, upper = self.position_limits().T
        result: Array = (lower + upper) / 2.0 + share * (upper - lower) / 2.0
        if self.slips:
            near = share[1::2]
            result[1::2] = result[: 2 * len(near) : 2] + 0.02 * near * near**4
        return result

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Compute the joint torques of every sample, shape (N, n), in [Nm] or [N].

        :param values: parameter values, shape (p,), in the order of `parameters`
        :raises ModelError: wrong number of parameter values, or as `regressor`
        """
        self._check_values(values)
        result = np.empty(np.shape(q))
        for block in sample_blocks(len(q)):
            result[block] = self.regressor(q[block], qd[block], qdd[block]) @ values
        return result

    def torque_function(self, values: Array) -> TorqueFunction:
        """Return a function that computes the torque of single samples, for use in a controller.

        :param values: parameter values, shape (p,); they are copied
        :return: function of q, qd and qdd; arguments and result have shape (n,)
        :raises ModelError: wrong number of parameter values
        """
        self._check_values(values)
        values = values.copy()
        return lambda q, qd, qdd: self.torque(q[None], qd[None], qdd[None], values)[0]

    def _check_values(self, values: Array) -> None:
        if values.shape != (len(self.parameters),):
            raise ModelError(
                f'the model has {len(self.parameters)} parameters, got values of shape '
                f'{values.shape}'
            )

    @property
    def title(self) -> str:
        """Name for messages."""
        return 'the model'

    def _check_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations as contiguous arrays (N, n)."""
        q = np.asarray(q, np.float64, 'C')
        qd = np.asarray(qd, np.float64, 'C')
        qdd = np.asarray(qdd, np.float64, 'C')
        shape, count = q.shape, len(self.joints)
        if len(shape) != 2 or shape[1] != count or qd.shape != shape or qdd.shape != shape:
            raise ModelError(
                f'{self.title} with {count} joints needs q, qd, qdd of shape (N, {count}), got '
                f'{shape}, {qd.shape}, {qdd.shape}'
            )
        return q, qd, qdd

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the torque columns."""
        return tuple(joint.name for joint in self.joints)


class SumModel(DynamicModel):
    """The sum of several models of the same joints: torques add, columns stand side by side."""

    def __init__(self, *, parts: Sequence[DynamicModel]) -> None:
        """Join the parts.

        :raises ModelError: no parts, parts with other joints, or a parameter name twice
        """
        if not parts:
            raise ModelError('a sum of models needs at least one part')
        for part in parts:
            if part.joint_names != parts[0].joint_names:
                raise ModelError(
                    f'the parts of a model must have the same joints in the same order: '
                    f'{list(parts[0].joint_names)} and {list(part.joint_names)}'
                )
        self.parts = tuple(parts)
        self.joints = parts[0].joints
        self.parameters = tuple(item for part in parts for item in part.parameters)
        names = [item.name for item in self.parameters]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ModelError(f'parameter names must be unique, {twice} occur twice')

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the regressors of the parts side by side, shape (N, n, p)."""
        return np.concatenate([part.regressor(q, qd, qdd) for part in self.parts], axis=2)

    def pack_columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Compute columns of the parts, in the requested order."""
        shares = list(self.shares(columns))
        order = np.argsort(np.concatenate([place for _, _, place in shares]))
        beside = np.concatenate(
            [part.pack_columns(q, qd, qdd, indices) for part, indices, _ in shares], axis=1
        )
        return np.asarray(np.take(beside, order, axis=1, mode='clip'))

    def shares(
        self, columns: Sequence[Indices]
    ) -> Iterator[tuple[DynamicModel, list[Indices], Indices]]:
        """Yield each part, its columns per joint, and their places among all requested columns."""
        every, first = np.concatenate(columns), 0
        for part in self.parts:
            last = first + len(part.parameters)
            chosen = [each[(each >= first) & (each < last)] - first for each in columns]
            yield part, chosen, np.flatnonzero((every >= first) & (every < last))
            first = last

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Add the torques of the parts, shape (N, n)."""
        self._check_values(values)
        result = np.zeros(np.shape(q))
        for part, place in parts_of(self):
            result += part.torque(q, qd, qdd, values[place])
        return result

    def position_limits(self) -> Array:
        """Return the range of positions where all parts are defined, shape (n, 2)."""
        limits = np.array([part.position_limits() for part in self.parts])
        return np.stack([limits[:, :, 0].max(axis=0), limits[:, :, 1].min(axis=0)], axis=1)

    @property
    def velocity_spread(self) -> int:
        """Largest value of the parts."""
        return max(part.velocity_spread for part in self.parts)

    @property
    def slips(self) -> bool:
        """True if a part slips."""
        return any(part.slips for part in self.parts)

    def prior(self) -> Array:
        """Return the a-priori values of the parts, shape (p,)."""
        return np.concatenate([part.prior() for part in self.parts])

    def describe(self) -> dict[str, object]:
        """Return the descriptions of the parts."""
        return {'kind': 'sum', 'parts': [part.describe() for part in self.parts]}


def parts_of(model: DynamicModel, first: int = 0) -> Iterator[tuple[DynamicModel, slice]]:
    """Yield the parts of a model, sums resolved, each with its slice of the parameters.

    :param first: index of the model's first parameter
    """
    if not isinstance(model, SumModel):
        yield model, slice(first, first + len(model.parameters))
        return
    for part in model.parts:
        yield from parts_of(part, first)
        first += len(part.parameters)


def gather_columns(regressor: Array, columns: Sequence[Indices]) -> Array:
    """Take columns of each joint from a regressor (N, n, p), side by side, shape (N, k)."""
    width = regressor.shape[2]
    chosen = np.concatenate([width * joint + indices for joint, indices in enumerate(columns)])
    flat = regressor.reshape(len(regressor), width * len(columns))
    return np.asarray(np.take(flat, chosen.astype(np.intp), axis=1, mode='clip'))


def sample_blocks(samples: int, size: int = BLOCK_SIZE) -> Iterator[slice]:
    """Cut a number of samples into consecutive slices of at most `size`.

    :raises CancelledError: the work is cancelled, see `poll`
    """
    for start in range(0, samples, size):
        poll()
        yield slice(start, min(start + size, samples))
