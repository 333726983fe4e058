# SPDX-License-Identifier: Apache-2.0
"""Least squares with the covariance of the errors of different joints at the same time.

Liu et al., "An accurate dynamic model identification method of an industrial robot based on
double-encoder compensation" (2023), Eq. 21 to 24. With the covariance Omega = L D L^T, L unit
lower triangular, the errors of L^-1 [Y | tau] are independent of each other: its rows are those
of n other joints, weighted by D like any joints, and all that works on condensed factors works on
these too. Row i is joint i less what the errors of the joints before it say about its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from robodyn_ros.identification.factors.condense import Condensed, CoupledFactor, JointFactor
from robodyn_ros.identification.fit.least_squares import Estimate, estimate
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Coupled:
    """Factors whose errors are independent between joints.

    :param mixing: L^-1, shape (n, n): decoupled residuals are residual @ mixing.T
    :param correlation: between the errors of the joints, shape (n, n)
    """

    condensed: Condensed
    mixing: Array
    correlation: Array


def decouple(condensed: Condensed, start: Estimate) -> Coupled:
    """Decouple joints; covariance and values are computed in turn until they settle."""
    merged, values = condensed.coupled, start.values
    assert merged is not None
    mixing = np.eye(len(start.sigma))
    # With fewer samples than values there is hardly a residual, so they are reported as too few.
    for _ in range(20 if merged.samples > condensed.width else 1):
        omega = error_covariance(merged, values, start.sigma)
        before, mixing = mixing, unit_lower_inverse(omega)
        factors = _decouple_factor(merged, mixing, omega, condensed.width)
        values = estimate(factors, condensed.width).values
        scale = np.sqrt(np.outer(np.diag(omega), 1.0 / np.diag(omega)))
        if np.abs((mixing - before) / scale).max() < 1e-6:
            break
    size = np.sqrt(np.diag(omega))
    return Coupled(
        condensed=replace(condensed, factors=factors, coupled=None),
        mixing=mixing,
        correlation=omega / np.outer(size, size),
    )


def error_covariance(factor: CoupledFactor, values: Array, sigma: Array) -> Array:
    """Return covariance (n, n) of the joints' errors at the same time (Eq. 23), slightly shrunk.

    :param values: base values, shape (b,)
    :param sigma: standard deviation of the error of each joint, shape (n,), a hundredth of which
        is taken as the least; what samples do not show is taken from it
    """
    width = len(values)
    rows = [factor.rows(joint, width) for joint in range(len(sigma))]
    errors = np.column_stack([row[:, -1] - row[:, :-1] @ values for row in rows])
    freedom = max(factor.samples - width / len(sigma), 1.0)
    omega = (errors.T @ errors) / freedom
    least = sigma**2 * (1e-4 if factor.samples else 1.0)
    size = np.maximum(np.diag(omega), least)
    omega = 0.999 * omega  # errors that always go together would make it singular
    np.fill_diagonal(omega, size)
    return np.asarray(omega)


def unit_lower_inverse(omega: Array) -> Array:
    """Return the L^-1 of Omega = L D L^T, L unit lower triangular."""
    size = np.sqrt(np.diag(omega))
    root = np.linalg.cholesky(omega / np.outer(size, size)) * size[:, None]
    lower = root / np.diag(root)
    return np.asarray(solve_triangular(lower, np.eye(len(omega)), lower=True, unit_diagonal=True))


def _decouple_factor(
    factor: CoupledFactor, mixing: Array, omega: Array, width: int
) -> tuple[JointFactor, ...]:
    """Return the factors of the decoupled joints."""
    rows = np.array([factor.rows(joint, width) for joint in range(len(mixing))])
    mixed = np.tensordot(mixing, rows, axes=1)
    size = np.sqrt(np.einsum('ij,jk,ik->i', mixing, omega, mixing) / np.diag(omega))
    columns = np.arange(width)
    joints = []
    for joint, (matrix, rest) in enumerate(zip(mixed, factor.rest, strict=True)):
        counts = factor.samples if rows[joint].any() else 0
        alone = np.column_stack(rest.rows(width)) * size[joint]
        triangle = np.asarray(np.linalg.qr(np.vstack([matrix, alone]), mode='r'))
        joints.append(JointFactor(columns, triangle, counts + rest.samples))
    return tuple(joints)
