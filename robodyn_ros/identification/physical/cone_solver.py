# SPDX-License-Identifier: Apache-2.0
"""Quadratic programmes over cones, by Clarabel; a failure there is an error like any other."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.interface import Array


def minimise(
    quadratic: Array, linear: Array, rows: sparse.csc_matrix, limits: Array, cones: list[Any]
) -> Any:
    """Minimise x^T Q x / 2 + c^T x with limits - rows x in the cones.

    :param quadratic: Q, shape (n, n), symmetric
    :param linear: c, shape (n,)
    :return: Clarabel's solution, with `x` and `status`
    :raises IdentificationError: the solver broke down
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    upper = sparse.triu(quadratic, format='csc')
    try:
        return clarabel.DefaultSolver(upper, linear, rows, limits, cones, settings).solve()
    except BaseException as error:
        # A panic of Rust code is no Exception, so that it would end the node.
        if isinstance(error, Exception) or type(error).__name__ == 'PanicException':
            text = ' '.join(str(error).split())
            raise IdentificationError(f'the consistency solver failed: {text}') from error
        raise


def minimise_within(quadratic: Array, linear: Array, lower: Array, upper: Array) -> Array | None:
    """Minimise x^T Q x / 2 - c^T x with lower <= x <= upper, by an active set; None: not found.

    :param quadratic: Q, shape (n, n), positive definite
    :param linear: c, shape (n,)
    :param lower: shape (n,), -inf where there is no limit
    :param upper: shape (n,), inf where there is no limit
    """
    at = np.zeros(len(linear))  # -1: at the lower limit, 1: at the upper one
    for _ in range(30):
        held = at != 0.0
        x = np.where(at < 0.0, lower, np.where(held, upper, 0.0))
        try:
            rest = linear[~held] - quadratic[np.ix_(~held, held)] @ x[held]
            x[~held] = np.linalg.solve(quadratic[np.ix_(~held, ~held)], rest)
        except np.linalg.LinAlgError:
            return None
        outside = (x > upper).astype(float) - (x < lower)
        pulled = at * (quadratic @ x - linear) > 0.0
        if not (outside.any() or pulled.any()):
            return x if np.isfinite(x).all() else None
        at = np.where(pulled, 0.0, at + outside)
    return None
