"""What every robot model is: linear in its parameters, tau = Y(q, qd, qdd) p."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import ModelError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
TorqueFunction = Callable[[Array, Array, Array], Array]
"""Torque from position, velocity and acceleration, all of the same shape."""
JointType = Literal['revolute', 'continuous', 'prismatic']

BLOCK_SIZE = 2048
"""Samples whose regressor is held at once, so that memory does not grow with a recording."""


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
    """One column of a regressor: its name, SI unit, and the joint it belongs to (or '')."""

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
        """Regressor Y of every sample.

        :param q: joint positions, shape (N, n), in [rad] or [m]
        :param qd: joint velocities, shape (N, n), in [rad/s] or [m/s]
        :param qdd: joint accelerations, shape (N, n), in [rad/s^2] or [m/s^2]
        :return: Y, shape (N, n, p), so that torque = Y @ parameter values, in [Nm] or [N]
        """

    def packed(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Some of the regressor's columns of each joint, joint after joint, shape (N, k).

        Most of a regressor is zero or the same again: an estimate needs a third of it.

        :param columns: per joint, which of the p columns
        """
        return gathered(self.regressor(q, qd, qdd), columns)

    def selected(self, q: Array, qd: Array, qdd: Array, columns: Indices) -> Array:
        """The same columns of the regressor for every joint, shape (N, n, k)."""
        count = len(self.joints)
        side_by_side = self.packed(q, qd, qdd, [columns] * count)
        return side_by_side.reshape(len(side_by_side), count, len(columns))

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Plain description (YAML-safe) from which `models.catalog` builds this model again."""

    def prior(self) -> Array:
        """A-priori parameter values, shape (p,), SI; NaN where nothing is known."""
        return np.full(len(self.parameters), np.nan)

    def position_limits(self) -> Array:
        """Positions between which the model is defined, shape (n, 2), in [rad] or [m].

        They are no joint limits: random states for base parameters are drawn between them.
        """
        return np.tile([-np.pi, np.pi], (len(self.joints), 1))

    @property
    def smooth(self) -> bool:
        """Whether the regressor changes no faster than the motion: no signs of velocities."""
        return False

    @property
    def velocity_spread(self) -> int:
        """Power of a share that random velocities are drawn by: 1 evenly, above it many slow."""
        return 1

    def velocities(self, share: Array) -> Array:
        """Velocities (N, n) of random states at shares (N, n), -1 to 1, of 3 rad/s or m/s."""
        result: Array = 3.0 * share * np.abs(share) ** (self.velocity_spread - 1)
        return result

    def positions(self, share: Array) -> Array:
        """Positions (N, n) at shares (N, n), -1 to 1, of the way between `position_limits`."""
        lower, upper = self.position_limits().T
        result: Array = (lower + upper) / 2.0 + share * (upper - lower) / 2.0
        return result

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Joint torques of every sample, block by block, shape (N, n), in [Nm] or [N].

        :param values: parameter values, shape (p,), in the order of `parameters`
        :raises ModelError: wrong number of parameter values
        """
        self._check_values(values)
        result = np.empty(np.shape(q))
        for block in sample_blocks(len(q)):
            result[block] = self.regressor(q[block], qd[block], qdd[block]) @ values
        return result

    def sampled(self, values: Array) -> TorqueFunction:
        """The torque with these values of one sample after the other, as a controller asks for it.

        :param values: as of `torque`; a copy is kept
        :return: function of q, qd and qdd; its arguments and its result are of shape (n,)
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
        for part in parts[1:]:
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
        """Regressors of the parts side by side, shape (N, n, p)."""
        return np.concatenate([part.regressor(q, qd, qdd) for part in self.parts], axis=2)

    def packed(self, q: Array, qd: Array, qdd: Array, columns: Sequence[Indices]) -> Array:
        """Columns of the parts, in the order asked for."""
        shares = list(self.shares(columns))
        order = np.argsort(np.concatenate([place for _, _, place in shares]))
        beside = np.concatenate([part.packed(q, qd, qdd, own) for part, own, _ in shares], axis=1)
        return np.asarray(np.take(beside, order, axis=1, mode='clip'))

    def shares(
        self, columns: Sequence[Indices]
    ) -> Iterator[tuple[DynamicModel, list[Indices], Indices]]:
        """Each part, its columns per joint, and their places among all columns side by side."""
        whole, first = np.concatenate(columns), 0
        for part in self.parts:
            last = first + len(part.parameters)
            own = [each[(each >= first) & (each < last)] - first for each in columns]
            yield part, own, np.flatnonzero((whole >= first) & (whole < last))
            first = last

    def torque(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Sum of the parts' torques, each computed the part's own way, shape (N, n).

        :raises ModelError: wrong number of parameter values
        """
        self._check_values(values)
        result = np.zeros(np.shape(q))
        first = 0
        for part in self.parts:
            last = first + len(part.parameters)
            result += part.torque(q, qd, qdd, values[first:last])
            first = last
        return result

    def position_limits(self) -> Array:
        """Positions between which all parts are defined, shape (n, 2)."""
        limits = np.array([part.position_limits() for part in self.parts])
        return np.stack([limits[:, :, 0].max(axis=0), limits[:, :, 1].min(axis=0)], axis=1)

    @property
    def velocity_spread(self) -> int:
        """The largest of the parts."""
        return max(part.velocity_spread for part in self.parts)

    def prior(self) -> Array:
        """A-priori values of the parts, shape (p,)."""
        return np.concatenate([part.prior() for part in self.parts])

    def describe(self) -> dict[str, object]:
        """Descriptions of the parts."""
        return {'kind': 'sum', 'parts': [part.describe() for part in self.parts]}


def gathered(regressor: Array, columns: Sequence[Indices]) -> Array:
    """Columns of each joint, side by side, shape (N, k), of a regressor (N, n, p)."""
    width = regressor.shape[2]
    chosen = np.concatenate([width * joint + own for joint, own in enumerate(columns)])
    flat = regressor.reshape(len(regressor), width * len(columns))
    return np.asarray(np.take(flat, chosen.astype(np.intp), axis=1, mode='clip'))


def sample_blocks(samples: int, size: int = BLOCK_SIZE) -> Iterator[slice]:
    """Cut a number of samples into consecutive slices of at most `size`."""
    for start in range(0, samples, size):
        yield slice(start, min(start + size, samples))
