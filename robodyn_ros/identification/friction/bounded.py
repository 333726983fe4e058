# SPDX-License-Identifier: Apache-2.0
"""Least squares by normal equations, with dry friction that never drives a joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.fit.folds import NEGLIGIBLE
from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.interface import Array
from robodyn_ros.models.springs import SLIPS


def braking(terms: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which terms have amplitudes that cannot be negative, shape (k,).

    Viscous friction can: a delay of the torque adds to it. So can load-dependent friction, which
    only changes the Coulomb friction beside it, and whose load is not final here.
    """
    dry = [name for name, each in TERMS.items() if each.brakes and not each.load]
    dry += SLIPS['slip']
    return np.array([term in dry and 'viscous' not in term for term in terms], dtype=bool)


def largest(terms: tuple[str, ...]) -> Array:
    """Return the largest amplitude of each term, shape (k,), infinite for most.

    A gear loses at most the torque that passes it.
    """
    loads = [term in TERMS and TERMS[term].load for term in terms]
    return np.where(loads, 1.0, np.inf)


def mixing(terms: tuple[str, ...]) -> Array:
    """Return the matrix from bounded values to amplitudes, shape (k, k).

    A Stribeck peak comes with as much Coulomb friction (breakaway <= coulomb): a narrow peak
    between two samples could have any height.
    """
    matrix = np.eye(len(terms))
    if {'coulomb', 'breakaway'} <= {*terms}:
        matrix[terms.index('coulomb'), terms.index('breakaway')] = 1.0
    return matrix


def solve_bounded(
    gram: Array, side: Array, held: NDArray[np.bool_], most: Array | None = None
) -> Array:
    """Solve least squares with some values held at zero where they would be negative.

    Values that come out outside stay at their bound: it ends after at most m steps.

    :param gram: shape (m, m)
    :param held: values that are not negative, shape (m,)
    :param most: largest values, shape (m,); None: there are none
    """
    values, fixed = solve_normal(gram, side), np.zeros(len(side))
    most = np.full(len(side), np.inf) if most is None else most
    kept = np.ones(len(side))
    while (outside := (held & (values < 0.0)) | (values > most)).any():
        kept[outside] = 0.0
        fixed[outside] = np.where(values > most, most, 0.0)[outside]
        rest = (side - gram @ fixed) * kept
        values = solve_normal(gram * kept * kept[:, None], rest) + fixed
    return values


def solve_normal(gram: Array, side: Array) -> Array:
    """Solve least squares by the normal equations; unobservable directions are zero.

    :param gram: shape (.., m, m)
    :param side: one right side each, shape (.., m), or several, (.., m, r)
    """
    single = side.ndim < gram.ndim
    length = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 0.0))
    scale = (1.0 / np.where(length > 0.0, length, 1.0))[..., None]
    scaled = gram * scale * np.swapaxes(scale, -1, -2)
    scaled += NEGLIGIBLE * np.eye(gram.shape[-1])
    result: Array = scale * np.linalg.solve(scaled, scale * (side[..., None] if single else side))
    if single:
        result = result[..., 0]
    return result
