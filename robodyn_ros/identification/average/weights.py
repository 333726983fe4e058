# SPDX-License-Identifier: Apache-2.0
"""Weights of candidates, by what they predict of the folds that were left out of their fit.

Stacking with weights that are not negative and sum to one (Wolpert, "Stacked generalization",
1992; Breiman, "Stacked regressions", 1996). Held-out folds lie where the motion was; elsewhere the
spread of the values without each fold (jackknife; Efron, "The jackknife, the bootstrap and other
resampling plans", 1982) says what a candidate makes of the same robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from robodyn_ros.identification.average.parts import Parts
from robodyn_ros.models.interface import Array

SPREAD = 0.1
"""Weight of the variance of the torque on random states, beside the held-out squared error."""

EXACT = 1e-14
"""Share of the squared torque below which squared errors are rounding errors."""

EVEN = 0.1
"""Weight of the sum of squared weights, relative to the smallest cost: among equals all count."""


@dataclass(frozen=True)
class Judged:
    """Products of the errors of candidates on a recording, for each joint, shape (n, k, k).

    Diagonals are mean squares, in [Nm^2] or [N^2].

    :param parts: the recording
    :param errors: of errors on the folds that were left out of the fit
    :param spread: of the spread of the torque on random states
    """

    parts: Parts
    errors: Array
    spread: Array

    @classmethod
    def of(cls, parts: Parts, values: Array, states: Sequence[Array]) -> Judged:
        """Judge candidates.

        :param values: base values of k candidates without each fold, shape (k, f + 1, b)
        :param states: mean products of the rows of each joint on random states, shape (b, b)
        """
        return cls(
            parts, _multiply_errors(parts, values), _multiply_spreads(parts, values, states)
        )

    @property
    def torque(self) -> Array:
        """Mean squared torque of each joint, (n,)."""
        squares = np.array([each[-1, -1] for each in self.parts.every])
        return np.asarray(squares / self.parts.samples)

    def weigh(self, squares: Array) -> Array:
        """Return the sum of mean squares (n, ...) over the joints, in units of their residuals."""
        scale = self.parts.samples / self.parts.sigma**2
        return np.asarray(np.einsum('j,j...->...', scale, squares))

    def cost(self, joints: slice = slice(None)) -> Array:
        """Return the matrix (k, k) whose form in the weights is small, relative to the best one.

        :param joints: those that count
        """
        counts = np.zeros(len(self.errors))
        counts[joints] = 1.0
        cost = self.weigh(counts[:, None, None] * (self.errors + SPREAD * self.spread))
        rounding = EXACT * float(self.weigh(counts * self.torque))
        return cost / max(float(np.diag(cost).min()), rounding, float(np.finfo(float).tiny))


def _multiply_errors(parts: Parts, values: Array) -> Array:
    count = len(np.unique(parts.kinds))
    result = []
    for joint, columns in enumerate(parts.columns):
        errors = np.concatenate(
            [values[:, :-1, columns], np.full((*values[:, :-1].shape[:2], 1), -1.0)], axis=2
        )
        half = np.einsum('kfa,fab->kfb', errors, parts.folds[joint])
        products = np.einsum('kfb,lfb->kl', half, errors)
        result.append(products / (count * parts.samples[joint]))
    return np.array(result)


def _multiply_spreads(parts: Parts, values: Array, states: Sequence[Array]) -> Array:
    kinds = np.unique(parts.kinds)
    result = np.zeros((len(states), len(values), len(values)))
    for kind in kinds:
        without = values[:, :-1][:, parts.kinds == kind]
        without = without - without.mean(axis=1, keepdims=True)
        folds = without.shape[1]
        for joint, square in enumerate(states):
            half = np.einsum('kfa,ab->kfb', without, square)
            products = np.einsum('kfb,lfb->kl', half, without)
            result[joint] += products * (folds - 1) / (folds * len(kinds))
    return result


def best_weights(cost: Array) -> Array:
    """Return the weights w (k,), not negative and with sum 1, that minimise w^T cost w.

    :param cost: positive semidefinite, shape (k, k)
    """
    count = len(cost)
    diagonal = np.diag(cost)
    least = max(float(diagonal.min()), 1e-12 * float(diagonal.max()), np.finfo(float).tiny)
    size, axes = np.linalg.eigh(cost / least + EVEN * np.eye(count))
    rows = np.sqrt(np.maximum(size, 0.0))[:, None] * axes.T
    heavy = 1e3 * np.sqrt(max(float(size[-1]), 1.0))
    matrix = np.vstack([rows, np.full(count, heavy)])
    weights, _ = nnls(matrix, np.append(np.zeros(count), heavy), maxiter=50 * count)
    return np.asarray(weights / weights.sum())
