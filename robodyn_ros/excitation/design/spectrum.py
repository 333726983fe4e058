# SPDX-License-Identifier: Apache-2.0
"""Smoothed functions of the singular values of a regressor, with derivatives.

W is a matrix (rows, b), s_1 >= ... >= s_b its singular values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy  # its parts at their first use: they take half a second
from numpy.typing import NDArray

from robodyn_ros.excitation.trajectory import Array
from robodyn_ros.models.base_parameters import find_independent

SWITCH = float(1.0 / np.sqrt(np.finfo(float).eps))
"""Condition number beyond which the determinant is used instead, as rounding errors dominate."""
_ON_ONE_THREAD = 200_000
"""Largest number of multiplications that BLAS computes on one thread. On a busy machine, more
threads make such small steps a hundred times slower and may change digits."""


@dataclass(frozen=True)
class Spectrum:
    """Singular values (b,), descending, and right singular vectors (b, b) as columns."""

    values: Array
    vectors: Array

    @classmethod
    def of(cls, matrix: Array) -> Spectrum:
        """Compute the spectrum of a matrix (rows, b) from its triangular factor."""
        _, values, rows = np.linalg.svd(_triangle(matrix), full_matrices=True)
        padded = np.zeros(matrix.shape[1])
        padded[: len(values)] = values
        return cls(padded, rows.T)

    @property
    def condition_number(self) -> float:
        """s_1 / s_b; infinite if a column is zero or depends on others."""
        first, last = float(self.values[0]), float(self.values[-1])
        return first / last if last > 0.0 else float('inf')

    @property
    def log10_det(self) -> float:
        """log10 det(W'W); minus infinity if W has not full rank."""
        with np.errstate(divide='ignore'):
            return float(2.0 * np.log10(self.values).sum())

    def pull(self, matrix: Array, slope: Array) -> Array:
        """Return the derivative by W (rows, b) of f, with df/ds = slope (b,)."""
        values = np.maximum(self.values, 1e-300)
        by_square = (self.vectors * (slope / values)) @ self.vectors.T
        return np.concatenate([block @ by_square for block in _blocks(matrix)])


def _blocks(matrix: Array) -> Iterator[Array]:
    count = max(matrix.shape[1], _ON_ONE_THREAD // matrix.shape[1] ** 2)
    for first in range(0, len(matrix), count):
        yield matrix[first : first + count]


def _triangle(matrix: Array) -> Array:
    """Return the triangular factor of W, block by block, or W itself if it has few rows."""
    factor: Array = np.zeros((0, matrix.shape[1]))
    for block in _blocks(matrix):
        factor = np.concatenate([factor, block])
        if len(factor) > matrix.shape[1]:
            factor = np.asarray(np.linalg.qr(factor, mode='r'))
    return factor


def log_condition(spectrum: Spectrum, sharpness: float = np.inf) -> tuple[float, Array]:
    """Return the smoothed log10 condition number, and its derivative by singular values (b,).

    Largest and smallest are replaced by the p-norms of s and 1/s, p = `sharpness`. Beyond
    `SWITCH` it is -sum log10(s_i / s_1), half the negative log10 det of W'W / s_1^2: always above
    log10 `SWITCH`, and finite with a slope even if W is rank-deficient.
    """
    s = spectrum.values
    if not s[0] > 0.0:
        return np.inf, np.zeros(len(s))
    if s[-1] * SWITCH < s[0]:
        floored = np.hypot(s, 1e-16 * s[0])
        slope = -s / floored**2
        slope[0] -= slope @ s / s[0]
        return float(-np.log10(floored / s[0]).sum()), slope / np.log(10.0)
    if np.isinf(sharpness):
        slope = np.zeros(len(s))
        slope[0], slope[-1] = 1.0 / s[0], -1.0 / s[-1]
        return float(np.log10(s[0] / s[-1])), slope / np.log(10.0)
    large, small = (s / s[0]) ** sharpness, (s[-1] / s) ** sharpness
    value = np.log(s[0] / s[-1]) + np.log(large.sum() * small.sum()) / sharpness
    slope = (large / large.sum() - small / small.sum()) / s
    return float(value / np.log(10.0)), slope / np.log(10.0)


def log_det(spectrum: Spectrum) -> tuple[float, Array]:
    """Return -log10 det(W'W), finite for any rank, and its derivative by the singular values."""
    s = spectrum.values
    if not s[0] > 0.0:
        return np.inf, np.zeros(len(s))
    floored = np.hypot(s, 1e-16 * s[0])
    slope = -2.0 * s / floored**2
    slope[0] -= 2.0 * (1e-16**2 * s[0] / floored**2).sum()
    return float(-2.0 * np.log10(floored).sum()), slope / np.log(10.0)


def log_normalised_condition(matrix: Array, sharpness: float) -> tuple[float, Array]:
    """Return log10 of the column-scaled condition number, and its derivative by the matrix."""
    length = np.linalg.norm(matrix, axis=0)
    if not (length > 0.0).all():
        return np.inf, np.zeros(matrix.shape)
    scaled = matrix / length
    spectrum = Spectrum.of(scaled)
    value, slope = log_condition(spectrum, sharpness)
    by_scaled = spectrum.pull(scaled, slope)
    along = np.einsum('kj,kj->j', by_scaled, scaled)
    return value, (by_scaled - scaled * along) / length


def independent_columns(matrix: Array) -> NDArray[np.intp]:
    """Return the columns that are not combinations of earlier ones, in order."""
    (factor,) = scipy.linalg.qr(matrix, mode='r', check_finite=False)
    factor = np.asarray(factor[: matrix.shape[1]])
    length = np.linalg.norm(factor, axis=0)
    visited = np.flatnonzero(length > 1e-12 * length.max(initial=0.0))
    kept = find_independent(factor / np.where(length > 0.0, length, 1.0), visited.tolist())
    return np.array(kept, dtype=np.intp)
