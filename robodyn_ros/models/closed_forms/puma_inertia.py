# SPDX-License-Identifier: Apache-2.0
"""Mass matrix and gravity of a PUMA by Armstrong, Khatib and Burdick, and torque from them.

"The explicit dynamic model and inertial parameters of the PUMA 560 arm" (1986), Appendix, with
I1..I23 and g1..g5 as parameters. The matrices are trigonometric polynomials, so a discrete Fourier
transform gives their exact coefficients, from which follow Christoffel symbols and the regressor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

INERTIA_NAMES = tuple(f'I{k}' for k in range(1, 24))
ROTOR_NAMES = tuple(f'Im{k}' for k in range(1, 7))
GRAVITY_NAMES = tuple(f'g{k}' for k in range(1, 6))
NAMES = (*INERTIA_NAMES, *ROTOR_NAMES, *GRAVITY_NAMES)
"""Parameters of the model, in the order of the columns of the regressor."""

INERTIAS, JOINTS, GRAVITIES = len(INERTIA_NAMES), len(ROTOR_NAMES), len(GRAVITY_NAMES)
_ANGLES = slice(1, 5)
"""Mass matrix and gravity depend on q2..q5 only."""
_SIDE = np.linspace(0.0, 2 * np.pi, 5, endpoint=False)
"""Values of a joint angle that determine the series: mass matrix and gravity have its sine and
cosine, and those of twice the angle."""
_GRID = 2.0**-10
"""The coefficients are multiples of this; deviations from it are rounding noise."""

Row = dict[int, Array]


def mass_matrix(q: Array) -> Array:
    """Compute the mass matrix per unit of I1..I23, without rotors.

    :param q: joint positions, shape (N, 6), in [rad]
    :return: shape (N, 6, 6, 23), so that M = result @ I
    """
    result = np.zeros((len(q), JOINTS, JOINTS, INERTIAS))
    for (i, j), row in {**_first_row(q), **_other_rows(q)}.items():
        for k, value in row.items():
            result[:, i - 1, j - 1, k - 1] = result[:, j - 1, i - 1, k - 1] = value
    return result


def gravity(q: Array) -> Array:
    """Compute the gravity torque per unit of g1..g5, shape (N, 6, 5), at positions (N, 6)."""
    (c2, s2), _, (c4, s4), (c5, s5), (c23, s23) = _angles(q)
    result = np.zeros((len(q), JOINTS, GRAVITIES))
    wrist = s23 * c5 + c23 * c4 * s5
    result[:, 1] = np.stack([c2, s23, s2, c23, wrist], axis=1)
    result[:, 2, 1], result[:, 2, 3], result[:, 2, 4] = s23, c23, wrist
    result[:, 3, 4] = -s23 * s4 * s5
    result[:, 4, 4] = c23 * s5 + s23 * c4 * c5
    return result


def _angles(q: Array) -> list[tuple[Array, Array]]:
    """Return cosine and sine of q2, q3, q4, q5 and q2 + q3."""
    angles = [q[:, 1], q[:, 2], q[:, 3], q[:, 4], q[:, 1] + q[:, 2]]
    return [(np.cos(angle), np.sin(angle)) for angle in angles]


def _first_row(q: Array) -> dict[tuple[int, int], Row]:
    """Return elements a11 to a16: number of the inertia and its factor."""
    (c2, s2), _, (c4, s4), (c5, s5), (c23, s23) = _angles(q)
    ss5, sc5 = s5 * s5, s5 * c5
    a13 = {
        8: c23,
        13: s23,
        15: -c23 * s4 * s5,
        18: s23 * c4 * s5 - c23 * c5,
        19: s23 * s4 * c4,
        20: s4 * (s23 * c4 * c5 * c5 + c23 * sc5),
        22: s23 * s4 * s5,
    }
    return {
        (1, 1): _first_element(q),
        (1, 2): {**a13, 4: s2, 9: c2, 16: s2 * s4 * s5},
        (1, 3): a13,
        (1, 4): {
            14: c23,
            15: s23 * c4 * s5,
            16: c2 * c4 * s5,
            18: c23 * s4 * s5,
            20: -(s23 * c4 * sc5 + c23 * ss5),
            22: c23 * c4 * s5,
        },
        (1, 5): {
            15: s23 * s4 * c5,
            16: c2 * s4 * c5,
            17: s23 * s4,
            18: s23 * s5 - c23 * c4 * c5,
            22: c23 * s4 * c5,
        },
        (1, 6): {23: c23 * c5 - s23 * c4 * s5},
    }


def _first_element(q: Array) -> Row:
    """Return element a11: number of the inertia and its factor."""
    (c2, s2), _, (c4, s4), (c5, s5), (c23, s23) = _angles(q)
    ss23, sc23, cc23 = s23 * s23, s23 * c23, c23 * c23
    return {
        1: np.ones(len(q)),
        3: c2 * c2,
        7: ss23,
        10: sc23,
        11: s2 * c2,
        20: s5 * s5 * (ss23 * (1 + c4 * c4) - 1) - 2 * sc23 * c4 * s5 * c5,
        21: ss23 * c4 * c4,
        5: 2 * c2 * s23,
        12: 2 * c2 * c23,
        15: 2 * (ss23 * c5 + sc23 * c4 * s5),
        16: 2 * c2 * (s23 * c5 + c23 * c4 * s5),
        18: 2 * s4 * s5,
        22: 2 * (sc23 * c5 + cc23 * c4 * s5),
    }


def _other_rows(q: Array) -> dict[tuple[int, int], Row]:
    """Return elements a22 to a66: number of the inertia and its factor."""
    _, (c3, s3), (c4, s4), (c5, s5), _ = _angles(q)
    one = np.ones(len(q))
    upper = {5: s3, 12: c3, 16: s3 * c5 + c3 * c4 * s5}
    a33 = {
        6: one,
        20: s4 * s4 * s5 * s5,
        21: s4 * s4,
        15: 2 * c5,
        22: 2 * c4 * s5,
    }
    a34 = {15: -s4 * s5, 20: s4 * s5 * c5}
    a35 = {15: c4 * c5, 17: c4, 22: s5}
    a36 = {23: s4 * s5}
    return {
        (2, 2): {**a33, 2: one, **{k: 2 * value for k, value in upper.items()}},
        (2, 3): {**a33, **upper},
        (2, 4): {**a34, 16: -s3 * s4 * s5},
        (2, 5): {**a35, 16: c3 * s5 + s3 * c4 * c5},
        (2, 6): a36,
        (3, 3): a33,
        (3, 4): a34,
        (3, 5): a35,
        (3, 6): a36,
        (4, 4): {14: one, 20: -s5 * s5},
        (4, 6): {23: c5},
        (5, 5): {17: one},
        (6, 6): {23: one},
    }


@dataclass(frozen=True)
class TorqueTable:
    """The complete regressor as coefficients times features of the state.

    A feature is a wave, cos(n q) (or sin for the second half of `modes`), times a product of two
    of (1, qd, qdd): `modes` (m, 6), `wave`, `left` and `right` (f,) say which. `weights`
    (6 * 34, f) give the regressor, rows then columns: I1..I23, Im1..Im6, g1..g5.
    """

    modes: Array
    wave: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    weights: Array


@lru_cache(maxsize=1)
def torque_table() -> TorqueTable:
    """Return the coefficients of the regressor, which are computed once (in about 0.1 s)."""
    modes, series = _fourier(np.concatenate([_flat(mass_matrix), _flat(gravity)], axis=1))
    split = JOINTS * JOINTS * INERTIAS
    mass = series[:, :split].reshape(-1, JOINTS, JOINTS, INERTIAS)
    products = [(0, 1 + JOINTS + j) for j in range(JOINTS)]
    products += [(1 + j, 1 + k) for j in range(JOINTS) for k in range(j, JOINTS)]
    products += [(0, 0)]
    weights = np.zeros((len(products), len(series), JOINTS, len(NAMES)))
    weights[:JOINTS, ..., :INERTIAS] = np.moveaxis(mass, 2, 0)
    for joint in range(JOINTS):  # rotors, on the constant wave
        weights[joint, 0, joint, INERTIAS + joint] = 1.0
    symbols = _christoffel(modes, mass)
    for number, (j, k) in enumerate(products[JOINTS:-1], start=JOINTS):
        both = symbols[:, :, j - 1, k - 1] * (1.0 if j == k else 2.0)
        weights[number, ..., :INERTIAS] = both
    weights[-1, ..., -GRAVITIES:] = series[:, split:].reshape(-1, JOINTS, GRAVITIES)
    used = np.argwhere(weights.any(axis=(2, 3)))
    left, right = np.array(products)[used[:, 0]].T
    table = weights[used[:, 0], used[:, 1]].reshape(len(used), -1).T
    return TorqueTable(modes, used[:, 1], left, right, table)


def _flat(function: Callable[[Array], Array]) -> Array:
    """Evaluate a matrix function on a grid of q2..q5, shape (5^4, components)."""
    q = np.zeros((len(_SIDE) ** 4, JOINTS))
    q[:, _ANGLES] = np.stack(np.meshgrid(*[_SIDE] * 4, indexing='ij'), axis=-1).reshape(-1, 4)
    return function(q).reshape(len(q), -1)


def _fourier(values: Array) -> tuple[Array, Array]:
    """Return modes (m, 6) and coefficients (2 m, components) of their cosines, then sines.

    The first mode is zero: its cosine is the constant 1. Modes without effect are omitted.
    """
    side = len(_SIDE)
    spectrum = np.fft.fftn(values.reshape(*[side] * 4, -1), axes=range(4)) / side**4
    spectrum = spectrum.reshape(side**4, -1)
    order = np.fft.fftfreq(side, 1.0 / side)
    numbers = np.stack(np.meshgrid(*[order] * 4, indexing='ij'), axis=-1).reshape(-1, 4)
    # A real series needs one of n and -n: take the one whose first non-zero number is positive.
    half = numbers @ np.array([1000.0, 100.0, 10.0, 1.0]) > 0
    keep = np.flatnonzero(half & (np.abs(spectrum) > _GRID / 2).any(axis=1))
    modes = np.zeros((1 + len(keep), JOINTS))
    modes[1:, _ANGLES] = numbers[keep]
    cosines = np.concatenate([spectrum[:1].real, 2 * spectrum[keep].real])
    sines = np.concatenate([0 * spectrum[:1].imag, -2 * spectrum[keep].imag])
    return modes, np.round(np.concatenate([cosines, sines]) / _GRID) * _GRID


def _christoffel(modes: Array, mass: Array) -> Array:
    """Return c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, (2 m, 6, 6, 6, 23)."""
    count = len(modes)
    # d/dq_k of cos(n q) is -n_k sin(n q), of sin(n q) it is n_k cos(n q).
    turned = np.concatenate([mass[count:], -mass[:count]])
    slope = np.concatenate([modes, modes])[:, None, None, None, :] * turned[..., None]
    slope = np.moveaxis(slope, -1, 3)  # (wave, i, j, derivative, inertia)
    result: Array = 0.5 * (slope + np.swapaxes(slope, 2, 3) - np.transpose(slope, (0, 3, 1, 2, 4)))
    return result
