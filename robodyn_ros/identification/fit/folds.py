# SPDX-License-Identifier: Apache-2.0
"""Folds of a recording: blocks of time, and regions of the workspace, each left out in turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from robodyn_ros.identification.factors.row_sample import RowSample
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.signals.cutoff import moving_joints
from robodyn_ros.models.interface import Array

Labels = NDArray[np.intp]

BLOCKS, REGIONS = 10, 6
"""Numbers of folds: enough that most samples are fitted and that a standard error can be computed,
few enough that a block is longer than the correlation of the motion, and regions are separate.
"""

NEGLIGIBLE = 1e-9
"""Ridge on columns of unit length: values that no row depends on become zero."""


def labels_of(position: Array) -> tuple[Labels, ...]:
    """Return the fold of each sample for both kinds of folds, shapes (m,).

    Regions are clusters (k-means) of the positions, each joint in units of its own spread.

    :param position: in the order of time, shape (m, n), in [rad] or [m]
    """
    samples = len(position)
    blocks = np.arange(samples) * BLOCKS // max(samples, 1)
    spread, moving = position.std(axis=0), moving_joints(position)
    if not moving.any():
        return (blocks,)
    scaled = (position - position.mean(axis=0))[:, moving] / spread[moving]
    start = scaled[np.linspace(0, samples - 1, REGIONS).astype(int)]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)  # an empty region is no fold
        _, regions = kmeans2(scaled, start, iter=20, minit='matrix', missing='warn')
    return blocks, np.asarray(regions, dtype=np.intp)


@dataclass(frozen=True)
class Folds:
    """Normal equations of every fold, all joints together.

    :param weighted: per kind, of [A | y] with the joints weighted, shape (folds, b + 1, b + 1);
        all folds of a kind sum up to the mean squared residual
    :param plain: the same without weights, for errors in units of torque
    :param samples: number of samples of every fold, shape (folds,)
    :param independent: independent samples (by the residual of least squares) per unknown that
        any row shows, at most the samples per column
    """

    weighted: tuple[Array, ...]
    plain: tuple[Array, ...]
    samples: tuple[Array, ...]
    independent: float

    @classmethod
    def of(
        cls,
        rows: Sequence[Array],
        columns: Sequence[Labels],
        width: int,
        labels: Sequence[Labels],
        used: NDArray[np.bool_],
        sigma: Array,
    ) -> Folds | None:
        """Divide rows; None: too few of them have torque to leave any out.

        :param rows: per joint [Y | tau], shape (m, k + 1); rows that do not count are zero
        :param columns: per joint, which of the `width` columns act on it, shape (k,)
        :param labels: fold of each row for every kind, in the order of time (see `labels_of`)
        :param used: rows that count, shape (m, n)
        :param sigma: residual standard deviation that joints are weighted by, shape (n,)
        """
        total = max(int(used.sum()), 1)
        weighted, plain, samples = [], [], []
        places = [np.ix_(acting := np.append(indices, width), acting) for indices in columns]
        for kind in labels:
            grams = np.zeros((2, kind.max() + 1, width + 1, width + 1))
            for joint, (where, size) in enumerate(zip(places, sigma, strict=True)):
                for fold, square in enumerate(products_of(rows[joint], kind) / total):
                    grams[0, fold][where] += square / size**2
                    grams[1, fold][where] += square
            filled = grams[1, :, -1, -1] > 0.0
            if filled.sum() < 2:
                return None
            weighted.append(grams[0])
            plain.append(grams[1])
            counts = np.bincount(kind, used.sum(axis=1), minlength=len(filled))
            samples.append(counts.astype(np.float64))
        total_gram = weighted[0].sum(axis=0)
        values = least_squares(total_gram)
        residual = np.column_stack(
            [
                matrix[:, -1] - matrix[:, :-1] @ values[indices]
                for matrix, indices in zip(rows, columns, strict=True)
            ]
        )
        independent = used.sum(axis=0) / correlation_length(residual, used)
        # A few samples of a motion show few unknowns, however many there are.
        per_unknown = float(independent.sum()) / max(_unknowns(total_gram), 1.0)
        per_unknown = min(per_unknown, total / max(width, 1))
        return cls(tuple(weighted), tuple(plain), tuple(samples), per_unknown)

    @classmethod
    def of_sample(cls, sample: RowSample, sigma: Array) -> Folds | None:
        """Divide the rows kept of a recording."""
        parts = sample.segments
        return cls.of(
            [
                np.concatenate([part.rows[joint] for part in parts])
                for joint in range(len(sample.columns))
            ],
            sample.columns,
            sample.width,
            labels_of(np.concatenate([part.position for part in parts])),
            np.concatenate([part.used for part in parts]),
            sigma,
        )

    @property
    def count(self) -> tuple[int, ...]:
        """Number of folds of each kind."""
        return tuple(len(each) for each in self.samples)

    def held_out(self, fit: Callable[[Array], Array]) -> list[HeldOut]:
        """Return the errors of several candidates, each on the fold that it has not seen.

        :param fit: gives base values (k, b) of k candidates for normal equations of [A | y],
            (b + 1, b + 1), with the joints weighted
        """
        kinds = [
            np.array([sum_squared_errors(fit(total - left), plain) for left, plain in pairs])
            for total, pairs in (
                (weighted.sum(axis=0), zip(weighted, plain, strict=True))
                for weighted, plain in zip(self.weighted, self.plain, strict=True)
            )
        ]
        return [
            HeldOut(each, self.samples, self.independent)
            for each in zip(*(errors.T for errors in kinds), strict=True)
        ]


def products_of(rows: Array, labels: Labels) -> Array:
    """Return the products A^T A of rows (m, k) in every fold, shape (folds, k, k).

    :param labels: fold of each row, shape (m,)
    """
    return np.array([part.T @ part for part in parts_of(rows, labels)])


def parts_of(rows: Array, labels: Labels) -> list[Array]:
    """Return the rows (m, k) of every fold, without a copy if these follow each other."""
    if (np.diff(labels) < 0).any():
        order = np.argsort(labels, kind='stable')
        rows, labels = rows[order], labels[order]
    return np.split(rows, np.searchsorted(labels, np.arange(1, labels[-1] + 1)))


def least_squares(gram: Array) -> Array:
    """Return the values (b,) that suit the normal equations of [A | y] best."""
    scaled, length = _scale_columns(gram)
    scaled += NEGLIGIBLE * np.eye(len(scaled))
    values: Array = np.linalg.solve(scaled, gram[:-1, -1] / length) / length
    return values


def _scale_columns(gram: Array) -> tuple[Array, Array]:
    """Return A^T A (b, b) with columns of unit length, and their lengths (b,), 1 for none."""
    length = np.sqrt(np.maximum(np.diag(gram)[:-1], 0.0))
    length[length == 0.0] = 1.0
    return gram[:-1, :-1] / np.outer(length, length), length


def _unknowns(gram: Array) -> float:
    """Return the effective number of unknowns of normal equations of [A | y]."""
    size = np.maximum(np.linalg.eigvalsh(_scale_columns(gram)[0]), 0.0)
    return float(np.sum(size / (size + NEGLIGIBLE)))


def sum_squared_errors(values: Array, gram: Array) -> Array:
    """Return ||A x - y||^2 (k,) of values (k, b) from the normal equations of [A | y]."""
    full = np.column_stack([values, np.full(len(values), -1.0)])
    return np.asarray(np.maximum(np.einsum('ki,ij,kj->k', full, gram, full), 0.0))


def correlation_length(residual: Array, used: NDArray[np.bool_]) -> Array:
    """Return the samples per independent sample of each joint's residuals, shape (n,), at least 1.

    1 + 2 sum of the autocorrelation, cut where the sum of two neighbours is no longer positive
    (initial positive sequence; Geyer, "Practical Markov chain Monte Carlo", 1992, section 3.3).
    For regressors that change slowly against the residuals this is the factor by which the
    variance of a least-squares estimate exceeds that with independent noise of equal size.

    :param residual: shape (N, n), in time order
    :param used: samples that count, shape (N, n); the others are taken as zero
    """
    result = np.ones(residual.shape[1])
    samples = len(residual)
    size = 1 << (2 * samples - 1).bit_length()
    for joint in range(residual.shape[1]):
        values = np.where(used[:, joint], residual[:, joint], 0.0)
        spectrum = np.fft.rfft(values, size)
        correlation = np.fft.irfft(np.abs(spectrum) ** 2, size)[:samples]
        if correlation[0] <= 0.0:
            continue
        pairs = correlation[: samples // 2 * 2].reshape(-1, 2).sum(axis=1) / correlation[0]
        ends = np.flatnonzero(pairs <= 0.0)
        positive = pairs[: ends[0]] if len(ends) else pairs
        result[joint] = max(1.0, 2.0 * float(positive.sum()) - 1.0)
    return result
