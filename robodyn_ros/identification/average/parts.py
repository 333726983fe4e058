# SPDX-License-Identifier: Apache-2.0
"""A recording at one cut-off, in parts that can be left out: products of its rows, by joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.folds import (
    Labels,
    correlation_length,
    labels_of,
    products_of,
)
from robodyn_ros.models.interface import Array, Indices

ROUNDED = 1e-7
"""Share of the torque below which a residual is that of rounding: of data without noise."""


@dataclass(frozen=True)
class Parts:
    """Products [Y | tau]^T [Y | tau] of each joint, over all samples and over every fold.

    :param every: of all samples, per joint (k + 1, k + 1)
    :param folds: of every fold, as many samples as `every`, per joint (f, k + 1, k + 1)
    :param columns: per joint, which of the b base columns these are, (k,)
    :param kinds: by which way each fold divides the samples, (f,)
    :param samples: of each joint, (n,)
    :param sigma: residual standard deviation that joints are weighted by, (n,)
    :param width: number of base columns b
    """

    every: tuple[Array, ...]
    folds: tuple[Array, ...]
    columns: tuple[NDArray[np.intp], ...]
    kinds: NDArray[np.intp]
    samples: Array
    sigma: Array
    width: int

    @classmethod
    def of(cls, condensed: Condensed, sigma: Array, labels: Sequence[Labels]) -> Parts:
        """Divide the rows that were kept of a recording.

        :param labels: fold of each of these rows, for each way to divide them
        """
        rows, used = gather_rows(condensed)
        factors, folds = condensed.factors, []
        kinds = np.concatenate([np.full(each.max() + 1, k) for k, each in enumerate(labels)])
        for joint, matrix in enumerate(rows):
            share = factors[joint].samples / max(int(used[:, joint].sum()), 1)
            products = share * np.concatenate([products_of(matrix, each) for each in labels])
            folds.append(_widen(products, condensed.sample.columns[joint], factors[joint].columns))
        return cls(
            tuple(each.triangle.T @ each.triangle for each in factors),
            tuple(folds),
            tuple(each.columns for each in factors),
            kinds,
            np.array([float(max(each.samples, 1)) for each in factors]),
            sigma,
            condensed.width,
        )

    @cached_property
    def normal(self) -> Array:
        """Normal equations of [A | y] without each fold, the last one with all samples.

        All joints together, weighted; the mean over all samples, shape (f + 1, b + 1, b + 1).
        """
        size = self.width + 1
        result = np.zeros((len(self.kinds) + 1, size, size))
        total = self.samples.sum()
        for joint, columns in enumerate(self.columns):
            place = np.append(columns, self.width)
            folds = self.folds[joint]
            sums = np.zeros_like(folds)
            for kind in np.unique(self.kinds):
                sums[self.kinds == kind] = folds[self.kinds == kind].sum(axis=0)
            products = np.concatenate([sums - folds, self.every[joint][None]])
            result[:, place[:, None], place] += products / (total * self.sigma[joint] ** 2)
        return result


def _widen(products: Array, columns: Indices, wanted: Indices) -> Array:
    """Return products (f, k + 1, k + 1) of some columns as those of more, which are zero."""
    if len(columns) == len(wanted):
        return products
    place = np.append(np.searchsorted(wanted, columns), len(wanted))
    result = np.zeros((len(products), len(wanted) + 1, len(wanted) + 1))
    result[:, place[:, None], place] = products
    return result


def gather_rows(condensed: Condensed) -> tuple[list[Array], NDArray[np.bool_]]:
    """Return the rows [Y | tau] that were kept of each joint, and which of them count, (m, n)."""
    parts = condensed.sample.segments
    rows = [
        np.concatenate([part.rows[joint] for part in parts])
        for joint in range(len(condensed.joints))
    ]
    return rows, np.concatenate([part.used for part in parts])


def label_rows(condensed: Condensed) -> tuple[Labels, ...]:
    """Return the fold of each row that was kept: by time, and by region of the workspace."""
    return labels_of(np.concatenate([part.position for part in condensed.sample.segments]))


def relabel(labels: Sequence[Labels], count: int) -> tuple[Labels, ...]:
    """Return the folds of as many rows as there are at another cut-off, at the same times."""
    nearest = (np.arange(count) + 0.5) * len(labels[0]) / count
    return tuple(each[nearest.astype(np.intp)] for each in labels)


def count_independent(condensed: Condensed, values: Array, unknowns: int) -> float:
    """Return the independent samples per unknown, by the residual of base values (b,)."""
    rows, used = gather_rows(condensed)
    residual = np.column_stack([
        matrix[:, -1] - matrix[:, :-1] @ values[columns]
        for matrix, columns in zip(rows, condensed.sample.columns, strict=True)
    ])  # fmt: skip
    torque = np.column_stack([matrix[:, -1] for matrix in rows])
    exact = np.linalg.norm(residual, axis=0) <= ROUNDED * np.linalg.norm(torque, axis=0)
    length = np.where(exact, 1.0, correlation_length(residual, used))  # rounding is no noise
    independent = used.sum(axis=0) / length
    return float(min(independent.sum(), used.sum())) / max(unknowns, 1)
