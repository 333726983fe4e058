# SPDX-License-Identifier: Apache-2.0
"""Condense a recording: per joint one triangular factor of [regressor | torque].

The recording is read once, and memory does not grow with it. The factors come from Householder QR
of blocks: Y^T Y would square the condition number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.factors.row_sample import RowSample, SampleCollector
from robodyn_ros.identification.signals.thinning import Thinning, thin_columns
from robodyn_ros.long_work import progress
from robodyn_ros.models.interface import BLOCK_SIZE, Array, DynamicModel, sample_blocks

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

SAMPLES_PER_COLUMN = 10
"""Moving samples per parameter of a joint below which it is warned about: a fit to fewer takes
more than a tenth of the noise out of the residual: its errors look smaller than they are."""

_AT_ONCE, _PANEL = 512, 8
"""Rows that are worked into a triangle at once, and columns that are at once (see LAPACK)."""


@dataclass(frozen=True)
class JointFactor:
    """Triangular factor of [Y_j | tau_j] of one joint.

    :param columns: which of the selected columns act on this joint, shape (k,)
    :param triangle: R of the QR factorisation, shape (at most k + 1, k + 1); zero: no samples
    """

    columns: Indices
    triangle: Array
    samples: int

    @property
    def torque_norm(self) -> float:
        """Norm ||tau_j|| of the torques condensed into the factor, in [Nm] or [N]."""
        return float(np.linalg.norm(self.triangle[:, -1]))

    def rows(self, width: int) -> tuple[Array, Array]:
        """Return rows (A, y) with all `width` columns; ||A x - y|| is the joint's residual."""
        matrix = np.zeros((len(self.triangle), width))
        matrix[:, self.columns] = self.triangle[:, :-1]
        return matrix, self.triangle[:, -1]


@dataclass(frozen=True)
class CoupledFactor:
    """Triangular factor of [Y_1 | .. | Y_n | tau_1 .. tau_n] side by side.

    :param columns: per joint, which of the selected columns act on it
    :param triangle: R, shape (at most w, w), w all these columns and n torques
    :param samples: those that count for every joint that has any
    :param rest: factors per joint of the samples that count for some joints only
    """

    columns: tuple[Indices, ...]
    triangle: Array
    samples: int
    rest: tuple[JointFactor, ...]

    def rows(self, joint: int, width: int) -> Array:
        """Return rows [A | y] of a joint in all `width` columns, the same for every joint."""
        indices = self.columns[joint]
        first = sum(len(columns) for columns in self.columns[:joint])
        matrix = np.zeros((len(self.triangle), width + 1))
        matrix[:, indices] = self.triangle[:, first : first + len(indices)]
        matrix[:, -1] = self.triangle[:, joint - len(self.columns)]
        return matrix

    def apart(self) -> tuple[JointFactor, ...]:
        """Return the factors of the joints by themselves, of all samples."""
        width = max(int(indices.max(initial=-1)) for indices in self.columns) + 1
        result = []
        for joint, rest in enumerate(self.rest):
            indices = self.columns[joint]
            rows = self.rows(joint, width)[:, [*indices, -1]]
            result.append(
                JointFactor(indices, triangle([rest.triangle, rows]), rest.samples + self.samples)
            )
        return tuple(result)


@dataclass(frozen=True)
class Condensed:
    """Factors of every joint.

    :param joints: names of the n joints
    :param width: number of selected (base) columns b
    :param factors: of each joint by itself, n
    :param coupled: the factor of all joints together; None if not asked for
    """

    joints: tuple[str, ...]
    width: int
    factors: tuple[JointFactor, ...]
    coupled: CoupledFactor | None = None
    sample: RowSample = field(default_factory=RowSample, repr=False)

    @property
    def samples(self) -> NDArray[np.int64]:
        """Samples condensed per joint, shape (n,)."""
        return np.array([factor.samples for factor in self.factors], dtype=np.int64)


def keep_columns(condensed: Condensed, kept: NDArray[np.bool_]) -> Condensed:
    """Return the factors of some of the columns; `kept` (b,): which."""
    if kept.all():
        return condensed
    places = np.cumsum(kept) - 1

    def restrict(factor: JointFactor) -> JointFactor:
        here = kept[factor.columns]
        rows = factor.triangle[:, np.append(here, True)]
        return JointFactor(places[factor.columns[here]], rows, factor.samples)

    def restrict_coupled(factor: CoupledFactor) -> CoupledFactor:
        here = [kept[columns] for columns in factor.columns]
        rows = factor.triangle[:, np.concatenate([*here, np.ones(len(here), dtype=bool)])]
        columns = tuple(places[each[h]] for each, h in zip(factor.columns, here, strict=True))
        return CoupledFactor(columns, rows, factor.samples, tuple(map(restrict, factor.rest)))

    return replace(
        condensed,
        width=int(kept.sum()),
        factors=tuple(map(restrict, condensed.factors)),
        coupled=restrict_coupled(condensed.coupled) if condensed.coupled else None,
        sample=condensed.sample.keep_columns(kept),
    )


def condense(
    model: DynamicModel,
    motion: tuple[Array, Array, Array],
    torque: Array,
    used: Mask,
    columns: Indices,
    *,
    thinning: Thinning | None = None,
    weights: Array | None = None,
    coupled: bool = False,
    keep: bool = True,
) -> Condensed:
    """Condense samples into per-joint triangular factors.

    :param motion: q, qd, qdd, each of shape (N, n), SI units
    :param torque: torques, shape (N, n), in [Nm] or [N]
    :param used: samples of each joint that count, shape (N, n)
    :param columns: columns of the model's regressor to use, those of the base parameters
    :param thinning: low pass and decimation of regressor and torque; default: none
    :param weights: of the squared residual of each thinned sample, shape (M, n), 0 to 1; default 1
    :param coupled: condense all joints together too, for a joint error covariance
    :param keep: keep all rows in the sample, if they are not too many
    :raises InsufficientData: no samples after the low pass
    """
    thinning = thinning or Thinning()
    samples = thinning.count(len(torque))
    if not samples:
        raise InsufficientData(
            f'cannot condense {len(torque)} samples: the low pass needs {len(thinning.taps)}'
        )
    centres = thinning.centres(len(torque))
    used, position = used[centres], motion[0][centres]
    acting = acting_columns(model, columns)
    felt = [columns[indices] for indices in acting]
    counting = np.asarray(used.any(axis=0))
    # Of every step-th sample only are there rigid columns.
    size = max(1, thinning.count(BLOCK_SIZE * min(thinning.step, 4)))
    collector = SampleCollector(samples, acting, keep=keep)
    triangles = _Coupled(acting, counting) if coupled else _Apart(acting)
    for here in sample_blocks(samples, size):
        rows = thinning.rows(here.start, here.stop)
        packed = thin_columns(model, [values[rows] for values in motion], felt, thinning)
        fresh = _beside(packed, felt, thinning.apply(torque[rows]))
        weight = used[here].astype(np.float64) if weights is None else weights[here]
        triangles.add(fresh, used[here], weight)
        collector.add(here, fresh, used[here], position[here])
        progress('condense', here.stop / samples)
    return Condensed(
        joints=model.joint_names,
        width=len(columns),
        factors=triangles.factors(),
        coupled=triangles.coupling_factor() if isinstance(triangles, _Coupled) else None,
        sample=collector.sample(len(columns)),
    )


def _beside(packed: Array, columns: list[Indices], torque: Array) -> list[Array]:
    """Return rows [Y_j | tau_j] of each joint, of columns (N, k) of all joints side by side."""
    result, first = [], 0
    for joint, indices in enumerate(columns):
        fresh = np.empty((len(packed), len(indices) + 1), order='F')  # as LAPACK wants them
        fresh[:, :-1] = packed[:, first : first + len(indices)]
        fresh[:, -1] = torque[:, joint]
        result.append(fresh)
        first += len(indices)
    return result


class _Apart:
    """Triangles of each joint by itself, row by row."""

    def __init__(self, acting: list[Indices]) -> None:
        self.acting = acting
        self.triangles = [np.zeros((len(indices) + 1,) * 2) for indices in acting]
        self.count = np.zeros(len(acting))

    def add(self, fresh: list[Array], used: Mask, weights: Array) -> None:
        """Add rows per joint, those that are used, weighted."""
        for joint, rows in enumerate(fresh):
            counts = used[:, joint]
            kept, weight = rows, weights[:, joint]
            if not counts.all():
                kept, weight = rows[counts], weight[counts]
            scale = None if (weight == 1.0).all() else np.sqrt(weight)
            self.triangles[joint] = triangle([kept], self.triangles[joint], scale=scale)
            self.count[joint] += weight.sum()

    def factors(self) -> tuple[JointFactor, ...]:
        """Return the factor of each joint."""
        return tuple(
            JointFactor(columns=indices, triangle=factor, samples=round(count))
            for indices, factor, count in zip(self.acting, self.triangles, self.count, strict=True)
        )


class _Coupled(_Apart):
    """Triangle of all joints side by side; samples that lack a joint are stored separately."""

    def __init__(self, acting: list[Indices], counting: Mask) -> None:
        super().__init__(acting)
        self.counting = counting
        size = sum(len(indices) + 1 for indices in acting)
        self.wide, self.samples = np.zeros((size, size)), 0

    def add(self, fresh: list[Array], used: Mask, weights: Array) -> None:
        """Add rows of all joints; weights are not for these."""
        complete = (used == self.counting).all(axis=1) & self.counting.any()
        matrices = [rows[complete, :-1] for rows in fresh]
        torques = [rows[complete, -1:] for rows in fresh]
        together = np.hstack([*matrices, *torques])
        for joint in np.flatnonzero(~self.counting):
            first = sum(matrix.shape[1] for matrix in matrices[:joint])
            together[:, first : first + matrices[joint].shape[1]] = 0.0
            together[:, joint - len(fresh)] = 0.0
        self.wide = triangle([together], self.wide)
        self.samples += int(complete.sum())
        super().add(fresh, used & ~complete[:, None], weights)

    def coupling_factor(self) -> CoupledFactor:
        """Return the factor of all joints."""
        return CoupledFactor(tuple(self.acting), self.wide, self.samples, super().factors())

    def factors(self) -> tuple[JointFactor, ...]:
        """Return the factor of each joint, of all samples."""
        return tuple(
            replace(factor, samples=factor.samples if counts else 0)
            for factor, counts in zip(self.coupling_factor().apart(), self.counting, strict=True)
        )


def acting_columns(model: DynamicModel, columns: Indices) -> list[Indices]:
    """Return which of `columns` can act on each joint; the others are zero whatever the motion.

    Friction can act in one direction, above a threshold or at low speed only: each state is tried
    in both directions, and 100 times as fast.
    """
    random = np.random.default_rng(0)
    q, share, qdd = random.uniform(-1.0, 1.0, size=(3, 16, len(model.joints)))
    slow = model.velocities(share)
    qd = np.vstack([slow, -slow, 100.0 * slow, -100.0 * slow])
    regressor = model.regressor(np.tile(q, (4, 1)), qd, np.tile(qdd, (4, 1)))[:, :, columns]
    size = np.abs(regressor).max(axis=0)
    largest = size.max(axis=0, initial=np.finfo(float).tiny)
    return [np.flatnonzero(row > 1e-12 * largest) for row in size]


def stack_factors(parts: Iterable[Sequence[JointFactor]]) -> tuple[JointFactor, ...]:
    """Return the factor of each joint of the samples of several parts."""
    return tuple(
        JointFactor(
            columns=factors[0].columns,
            triangle=triangle([factor.triangle for factor in factors]),
            samples=sum(factor.samples for factor in factors),
        )
        for factors in zip(*parts, strict=True)
    )


def stack_coupled(parts: Sequence[CoupledFactor]) -> CoupledFactor:
    """Return the factor of all joints together of the samples of several parts."""
    return CoupledFactor(
        columns=parts[0].columns,
        triangle=triangle([part.triangle for part in parts]),
        samples=sum(part.samples for part in parts),
        rest=stack_factors(part.rest for part in parts),
    )


def triangle(
    parts: Sequence[Array], start: Array | None = None, *, scale: Array | None = None
) -> Array:
    """Return the triangular factor (k, k) of matrices (m, k) on top of each other.

    :param start: triangular factor (k, k) of rows above them
    :param scale: factor of each row of a single matrix, shape (m,)
    """
    width = parts[0].shape[1]
    factor = np.zeros((width, width), order='F')
    if start is not None:
        factor[:] = start
    if not width:
        return factor
    for part in parts:
        for rows in sample_blocks(len(part), _AT_ONCE):
            block = np.array(part[rows], order='F')
            if scale is not None:
                block *= scale[rows, None]
            lapack.dtpqrt(0, min(_PANEL, width), factor, block, overwrite_a=1, overwrite_b=1)
    return factor
