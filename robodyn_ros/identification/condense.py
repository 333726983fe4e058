"""Condense a recording: per joint one triangular factor of [regressor | torque].

Estimates, condition numbers, confidence intervals and cross-validation all work on these small
triangles, so the recording is read once and memory does not grow with it. The factors come from
Householder QR of blocks (never from Y^T Y, which would square the condition number).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.interface import BLOCK_SIZE, Array, DynamicModel, sample_blocks

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Progress = Callable[[float], None]
"""Called with the share of the work done, 0 to 1; may raise to cancel."""


@dataclass(frozen=True)
class Thinning:
    """Linear-phase low pass and decimation along time, applied to regressor and torque alike.

    :param taps: symmetric filter of odd length; default: no filter
    :param stride: every stride-th sample is kept
    """

    taps: Array = field(default_factory=lambda: np.ones(1))
    stride: int = 1

    def count(self, samples: int) -> int:
        """Samples left of so many."""
        return max(0, (samples - len(self.taps)) // self.stride + 1)

    def rows(self, first: int, last: int) -> slice:
        """Samples that the thinned samples first to last - 1 are made of."""
        return slice(first * self.stride, (last - 1) * self.stride + len(self.taps))

    def centres(self, samples: int) -> slice:
        """Where the thinned samples of so many samples lie in time."""
        half = len(self.taps) // 2
        return slice(half, samples - half, self.stride)

    def apply(self, values: Array) -> Array:
        """Filter and decimate, shape (N, k) to (count(N), k)."""
        if len(self.taps) == 1:
            return np.asarray(values[:: self.stride] * self.taps[0])
        if len(values) < len(self.taps):
            return values[:0]
        windows = sliding_window_view(values, len(self.taps), axis=0)[:: self.stride]
        return np.asarray(windows @ self.taps)


@dataclass(frozen=True)
class JointFactor:
    """Triangular factor of [Y_j | tau_j] of one joint, over one stretch of the recording.

    :param columns: which of the selected columns act on this joint, shape (k,)
    :param triangle: R of the QR factorisation, shape (at most k + 1, k + 1)
    :param samples: how many samples it stands for
    """

    columns: Indices
    triangle: Array
    samples: int

    @property
    def torque_norm(self) -> float:
        """Norm ||tau_j|| of the torques condensed into the factor, in [Nm] or [N]."""
        return float(np.linalg.norm(self.triangle[:, -1]))

    def rows(self, width: int) -> tuple[Array, Array]:
        """Rows (A, y) with all `width` columns: ||A x - y|| is the joint's residual norm."""
        matrix = np.zeros((len(self.triangle), width))
        matrix[:, self.columns] = self.triangle[:, :-1]
        return matrix, self.triangle[:, -1]


@dataclass(frozen=True)
class Condensed:
    """Factors of every joint, in one or several segments of the recording.

    :param joints: names of the n joints
    :param width: number of selected (base) columns b
    :param segments: per segment one factor per joint
    """

    joints: tuple[str, ...]
    width: int
    segments: tuple[tuple[JointFactor, ...], ...]

    @property
    def samples(self) -> NDArray[np.int64]:
        """Samples condensed per joint, shape (n,)."""
        counts = [[factor.samples for factor in segment] for segment in self.segments]
        return np.asarray(np.array(counts, dtype=np.int64).sum(axis=0))

    def merged(self, segments: Sequence[int] | None = None) -> tuple[JointFactor, ...]:
        """One factor per joint over the given segments (default: all), for cross-validation."""
        chosen = range(len(self.segments)) if segments is None else segments
        picked = [self.segments[index] for index in chosen]
        if len(picked) == 1:
            return picked[0]
        return tuple(
            JointFactor(
                columns=factors[0].columns,
                triangle=_triangle([factor.triangle for factor in factors]),
                samples=sum(factor.samples for factor in factors),
            )
            for factors in zip(*picked, strict=True)
        )


def condense(
    model: DynamicModel,
    motion: tuple[Array, Array, Array],
    torque: Array,
    used: Mask,
    columns: Indices,
    *,
    thinning: Thinning | None = None,
    segments: int = 1,
    progress: Progress | None = None,
) -> Condensed:
    """Condense samples into per-joint triangular factors.

    :param motion: q, qd, qdd, each of shape (N, n), SI units
    :param torque: torques, shape (N, n), in [Nm] or [N]
    :param used: which samples of which joint count, shape (N, n)
    :param columns: columns of the model's regressor to use (those of the base parameters)
    :param thinning: low pass and decimation of regressor and torque; default: none
    :param segments: number of stretches of time of equal length with factors of their own
    :raises IdentificationError: fewer samples than segments
    """
    thinning = thinning or Thinning()
    samples = thinning.count(len(torque))
    if not 1 <= segments <= samples:
        raise IdentificationError(
            f'cannot condense {len(torque)} samples ({samples} after the low pass) into '
            f'{segments} segments'
        )
    used = used[thinning.centres(len(torque))]
    acting = acting_columns(model, columns)
    size = max(1, thinning.count(BLOCK_SIZE))
    bounds = np.linspace(0, samples, segments + 1).astype(int)
    parts = []
    for first, last in pairwise(bounds.tolist()):
        triangles = [np.zeros((0, len(own) + 1)) for own in acting]
        for block in sample_blocks(last - first, size):
            start, stop = first + block.start, first + block.stop
            rows = thinning.rows(start, stop)
            regressor = model.regressor(*(values[rows] for values in motion))
            for joint, own in enumerate(acting):
                fresh = np.empty((len(regressor), len(own) + 1))
                np.take(regressor[:, joint], columns[own], axis=1, out=fresh[:, :-1], mode='clip')
                fresh[:, -1] = torque[rows, joint]
                kept = thinning.apply(fresh)[used[start:stop, joint]]
                triangles[joint] = _triangle([triangles[joint], kept])
            if progress is not None:
                progress(stop / samples)
        counts = used[first:last].sum(axis=0)
        parts.append(
            tuple(
                JointFactor(columns=own, triangle=triangle, samples=int(count))
                for own, triangle, count in zip(acting, triangles, counts, strict=True)
            )
        )
    return Condensed(joints=model.joint_names, width=len(columns), segments=tuple(parts))


def acting_columns(model: DynamicModel, columns: Indices) -> list[Indices]:
    """Which of `columns` can act on each joint; the others are zero whatever the motion.

    A joint feels only the links beyond it, so that the factors of the outer joints are small.
    """
    random = np.random.default_rng(0)
    states = random.uniform(-1.0, 1.0, size=(3, 16, len(model.joints)))
    regressor = model.regressor(*states)[:, :, columns]
    size = np.abs(regressor).max(axis=0)
    largest = size.max(axis=0, initial=np.finfo(float).tiny)
    return [np.flatnonzero(row > 1e-12 * largest) for row in size]


def _triangle(parts: list[Array]) -> Array:
    """Triangular factor of matrices on top of each other."""
    stacked = np.vstack(parts)
    if not len(stacked):
        return stacked
    return np.asarray(np.linalg.qr(stacked, mode='r'), dtype=np.float64)
