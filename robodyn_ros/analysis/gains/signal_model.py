# SPDX-License-Identifier: Apache-2.0
"""Signal of each drive as a function of the unknowns, and its linearisation on condensed factors.

    signal_j = c_j Y_j (p + M x) + F_j f        M x = 0 without load

with c_j the signal per torque (the inverse of the factor), p the base parameters of the arm in SI
units, x the load and f the friction of the run in the unit of the signal. The known part of the
load sets the scale (Gautier and Briot, "Global identification of joint drive gains
and dynamic parameters of robots", 2014). There, the torque is the measured signal times its
factor, so that noise is in the regressor and least squares are biased towards zero. Here, all
noise is on the left side, and least squares are consistent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.factors.row_sample import RowSample
from robodyn_ros.models.interface import Array, Indices


@dataclass(frozen=True)
class SignalModel:
    """Places of the unknowns in one vector, and what they do to each joint of each run.

    :param joints: number of joints n
    :param rigid: base columns of the rigid body; the others are friction, bool of shape (b,)
    :param mixing: M, from the values of the load to the rigid base values, shape (r, k)
    :param spread: standard deviations of the values of the load around 0 that are known before,
        shape (k,); infinite: nothing is known
    :param loaded: runs with the load
    """

    joints: int
    rigid: NDArray[np.bool_]
    mixing: Array
    spread: Array
    loaded: tuple[bool, ...]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._first_friction + len(self.loaded) * int((~self.rigid).sum())

    @property
    def signal_per_torque(self) -> slice:
        """Places of c, one per joint."""
        return slice(0, self.joints)

    @property
    def arm(self) -> slice:
        """Places of the rigid base values p."""
        return slice(self.joints, self.joints + len(self.mixing))

    @property
    def load(self) -> slice:
        """Places of the values x of the load."""
        return slice(self.arm.stop, self._first_friction)

    @property
    def _first_friction(self) -> int:
        return self.joints + int(np.sum(self.mixing.shape))

    def friction(self, run: int) -> slice:
        """Places of the friction of a run."""
        count = int((~self.rigid).sum())
        return slice(self._first_friction + run * count, self._first_friction + (run + 1) * count)

    def body(self, run: int, values: Array) -> Array:
        """Return the rigid base values (r,) of the arm and what it carries in a run."""
        carried = self.mixing @ values[self.load] if self.loaded[run] else 0.0
        return np.asarray(values[self.arm] + carried)

    def columns(self, run: int, joint: int, values: Array) -> tuple[Array, Array]:
        """Return weights (b,) of the base columns in a joint's signal, and derivatives (b, size).

        :param values: of the unknowns, shape (size,)
        """
        factor, body = values[joint], self.body(run, values)
        weights = np.zeros(len(self.rigid))
        weights[self.rigid], weights[~self.rigid] = factor * body, values[self.friction(run)]
        derivatives = np.zeros((len(self.rigid), self.size))
        derivatives[self.rigid, joint] = body
        derivatives[self.rigid, self.arm] = factor * np.eye(len(body))
        if self.loaded[run]:
            derivatives[self.rigid, self.load] = factor * self.mixing
        derivatives[~self.rigid, self.friction(run)] = np.eye(int((~self.rigid).sum()))
        return weights, derivatives

    def linearise(
        self, run: int, arm: Condensed, values: Array, free: Indices
    ) -> tuple[JointFactor, ...]:
        """Return the factors of a run with columns of changes of the free unknowns from values.

        In place of the signal is the residual.

        :param arm: factors [Y | signal] of the run
        :param free: places of the unknowns that are estimated
        """
        result = []
        for joint, factor in enumerate(arm.factors):
            maps = self._map(run, joint, values, free)
            triangle = _map_rows(factor.triangle, factor.columns, *maps)
            result.append(JointFactor(np.arange(len(free)), triangle, factor.samples))
        return tuple(result)

    def linear_rows(self, run: int, arm: Condensed, values: Array, free: Indices) -> RowSample:
        """Return the rows of a run, see `linearise`."""
        sample, acting, maps = arm.sample.few(), [], []
        for joint, columns in enumerate(sample.columns):
            matrix, weights = self._map(run, joint, values, free)
            acting.append(np.flatnonzero(matrix[columns].any(axis=0)))
            maps.append((matrix[:, acting[-1]], weights))
        segments = tuple(
            replace(
                part,
                rows=tuple(map(_map_rows, part.rows, sample.columns, *zip(*maps, strict=True))),
            )
            for part in sample.segments
        )
        return replace(sample, columns=tuple(acting), width=len(free), segments=segments)

    def _map(self, run: int, joint: int, values: Array, free: Indices) -> tuple[Array, Array]:
        """Return the matrix (b, k) of changes of the free unknowns, and the weights there (b,)."""
        weights, derivatives = self.columns(run, joint, values)
        return derivatives[:, free], weights


def of_joints(arm: Condensed, joints: Collection[int]) -> Condensed:
    """Return factors in which only these joints have samples."""
    kept, none = [joint in joints for joint in range(len(arm.joints))], np.zeros(0, dtype=np.intp)
    idle = JointFactor(none, np.zeros((1, 1)), 0)
    factors = [each if keep else idle for each, keep in zip(arm.factors, kept, strict=True)]
    sample = arm.sample.few()
    segments = []
    for part in sample.segments:
        rows = zip(part.rows, kept, strict=True)
        rows_kept = tuple(each if keep else 0.0 * each[:, -1:] for each, keep in rows)
        segments.append(replace(part, rows=rows_kept, used=part.used & np.array(kept)))
    columns = [each if keep else none for each, keep in zip(sample.columns, kept, strict=True)]
    sample = replace(sample, columns=tuple(columns), segments=tuple(segments))
    return replace(arm, factors=tuple(factors), sample=sample)


def _map_rows(rows: Array, columns: Indices, matrix: Array, weights: Array) -> Array:
    """Return rows [Y | signal] with the regressor times a matrix, and the residual of weights."""
    regressor = rows[:, :-1]
    return np.column_stack(
        [regressor @ matrix[columns], rows[:, -1] - regressor @ weights[columns]]
    )
