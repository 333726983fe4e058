# SPDX-License-Identifier: Apache-2.0
"""Data of the diagnosis: a few thousand samples of a recording, fitted joint by joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn_ros.models.interface import Array, Indices

LONGEST_SHIFT = 0.05
"""Largest shift in time between position and torque that is looked for, in [s]."""
ENOUGH = 2500
"""Samples for the least squares of any joint; more take time only."""


@dataclass(frozen=True)
class JointFit:
    """Least squares of one joint's torque alone, as if it shared no parameter with the others.

    :param rows: samples of the `Sample` that are used, shape (m,)
    :param columns: base columns that act on the joint, shape (k,)
    :param matrix: regressor of the joint on these, shape (m, k)
    :param basis: orthonormal basis of its columns, shape (m, r)
    :param inverse: pseudo-inverse, shape (k, m)
    :param torque: low-passed torque, shape (m,)
    """

    rows: Indices
    columns: Indices
    matrix: Array
    basis: Array
    inverse: Array
    torque: Array

    @property
    def values(self) -> Array:
        """Base values of `columns` by this joint alone, shape (k,)."""
        return self.inverse @ self.torque

    @cached_property
    def rest(self) -> Array:
        """Torque that the model cannot explain with any values, shape (m,)."""
        rest: Array = self.torque - self.basis @ (self.basis.T @ self.torque)
        return rest

    @property
    def rms(self) -> float:
        """RMS of the torque, in [Nm] or [N]."""
        return root_mean_square(self.torque)

    @property
    def sigma(self) -> float:
        """RMS of `rest`, with the degrees of freedom used up, not below a share of `rms`."""
        freedom = max(len(self.torque) - self.basis.shape[1], 1)
        size = float(np.linalg.norm(self.rest)) / np.sqrt(freedom)
        return float(max(size, 0.01 * self.rms, 1e-12))  # no model of a joint is more exact


def fit_joint(regressor: Array, columns: Indices, torque: Array, used: Array) -> JointFit | None:
    """Fit one joint alone; None with too few samples.

    :param regressor: of the joint, shape (M, b)
    :param used: which samples count, shape (M,)
    """
    rows = np.flatnonzero(used)
    if len(rows) < 4 * max(len(columns), 1):
        return None
    matrix = regressor[np.ix_(rows, columns)]
    length = np.linalg.norm(matrix, axis=0)
    if not length.any():  # nothing acts on it, as on a joint that never moves
        return None
    scale = np.where(length > 0.0, length, 1.0)
    orthogonal, triangle = np.linalg.qr(matrix / scale)
    left, singular, right = np.linalg.svd(triangle)
    left = orthogonal @ left
    kept = singular > 1e-5 * singular[0]  # below it directions are noise of the filter
    inverse = (right[kept].T / singular[kept]) @ left[:, kept].T / scale[:, None]
    return JointFit(rows, columns, matrix, left[:, kept], inverse, torque[rows])


def root_mean_square(values: Array) -> float:
    """Return the root mean square of all values."""
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
