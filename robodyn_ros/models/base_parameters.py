# SPDX-License-Identifier: Apache-2.0
"""Base parameters: the combinations of a model's parameters that a motion can identify."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy  # its parts at their first use: they take half a second
from numpy.typing import NDArray

from robodyn_ros.errors import ModelError
from robodyn_ros.models.interface import Array, DynamicModel, sample_blocks

_WITHIN_LINK = ('Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz', 'mx', 'my', 'mz', 'm')


@dataclass(frozen=True)
class BaseParameters:
    """The identifiable combinations of a model's parameters.

    `columns` (b,) are the kept columns, ascending, and `grouping` (b, p) the matrix K with
    base values = K @ values and Y = Y[..., columns] @ K. Each base parameter has the unit of its
    kept column. `condition_number` is that of the kept, column-scaled regressor at random states.
    """

    columns: NDArray[np.intp]
    grouping: Array
    expressions: tuple[str, ...]
    units: tuple[str, ...]
    condition_number: float

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    def values(self, parameter_values: Array) -> Array:
        """Return the base parameter values, shape (b,), of parameter values (p,)."""
        result: Array = self.grouping @ parameter_values
        return result


def base_parameters(model: DynamicModel) -> BaseParameters:
    """Compute the base parameters of a model, independent of joint limits.

    Gautier, "Numerical calculation of the base inertial parameters of robots" (1991): columns of
    the regressor at random states are visited from the base outwards, within a link in the order
    Ixx Ixy Ixz Iyy Iyz Izz mx my mz m. A column that depends on those already kept is grouped into
    them, so that parameters of distal links are grouped into proximal ones.

    :raises ModelError: the regressor is not finite, or no parameter has any effect
    """
    factor, length = _factor(model)
    return group_columns(model, factor, length)


def group_columns(
    model: DynamicModel, rows: Array, length: Array, *, dependent: float = 1e-7
) -> BaseParameters:
    """Compute the base parameters of one motion, as `base_parameters` does for all motions.

    :param rows: regressor of the motion, shape (m, p), or any matrix with the same rows^T rows
    :param length: lengths of the columns, shape (p,), zero where there is only noise
    :param dependent: share of a column's length that must be independent of the kept ones
    :raises ModelError: all columns are zero
    """
    scaled = rows / np.where(length > 0.0, length, 1.0)
    kept = find_independent(scaled, [k for k in _order(model) if length[k] > 0.0], dependent)
    if not kept:
        raise ModelError('no parameter of the model has any effect on the torque')
    columns = np.array(sorted(kept), dtype=np.intp)
    grouping = _grouping(scaled, length, columns)
    names = [item.name for item in model.parameters]
    return BaseParameters(
        columns=columns,
        grouping=grouping,
        expressions=tuple(_expression(grouping[i], k, names) for i, k in enumerate(columns)),
        units=tuple(model.parameters[k].unit for k in columns),
        condition_number=condition_number(scaled[:, columns]),
    )


def condition_number(regressor: Array) -> float:
    """Return the condition number of a regressor (..., b) with columns scaled to length 1."""
    matrix = np.reshape(regressor, (-1, regressor.shape[-1]))
    length = np.linalg.norm(matrix, axis=0)
    if not (length > 0.0).all():
        return float('inf')
    singular = np.linalg.svd(matrix / length, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')


def _factor(model: DynamicModel) -> tuple[Array, Array]:
    """Return the triangular factor at random states, and column lengths (p,); noise is 0."""
    random = np.random.default_rng(0)
    width = len(model.parameters)
    states = random.uniform(-1.0, 1.0, size=(3, max(60, width), len(model.joints)))
    q, qd, qdd = model.positions(states[0]), model.velocities(states[1]), 10.0 * states[2]
    factor: Array = np.zeros((0, width))
    for block in sample_blocks(len(q)):
        rows = model.regressor(q[block], qd[block], qdd[block]).reshape(-1, width)
        if not np.isfinite(rows).all():
            raise ModelError('the regressor of the model is not finite at random states')
        (triangle,) = scipy.linalg.qr(np.vstack([factor, rows]), mode='r', check_finite=False)
        factor = np.asarray(triangle[:width], dtype=np.float64)
    length = np.linalg.norm(factor, axis=0)
    length[length < 1e-12 * length.max(initial=0.0)] = 0.0
    return factor, length


def _order(model: DynamicModel) -> list[int]:
    """Return the order in which columns are visited, see `base_parameters`."""
    place: dict[str, int] = {}
    keys = []
    for index, item in enumerate(model.parameters):
        body, _, suffix = item.name.rpartition('.')
        if suffix in _WITHIN_LINK:
            group = place.setdefault(body, index)
            keys.append((group, _WITHIN_LINK.index(suffix)))
        else:
            keys.append((index, 0))
    return sorted(range(len(keys)), key=keys.__getitem__)


def find_independent(scaled: Array, order: Iterable[int], dependent: float = 1e-7) -> list[int]:
    """Return the columns of which a share is independent of those before.

    :param scaled: matrix (m, p) whose columns have unit length
    :param order: indices in which columns are visited
    """
    basis: Array = np.zeros((len(scaled), 0))
    kept: list[int] = []
    for index in order:
        rest: Array = scaled[:, index]
        for _ in range(2):  # twice is enough (Kahan): then it is orthogonal up to rounding
            rest = rest - basis @ (basis.T @ rest)
        share = np.linalg.norm(rest)
        if share > dependent:
            kept.append(index)
            basis = np.column_stack([basis, rest / share])
    return kept


def _grouping(scaled: Array, length: Array, columns: NDArray[np.intp]) -> Array:
    """Return K (b, p) with rounding noise removed: exact zeros, and integers where meant."""
    orthogonal, triangle = scipy.linalg.qr(scaled[:, columns], mode='economic', check_finite=False)
    shares = scipy.linalg.solve_triangular(triangle, orthogonal.T @ scaled, check_finite=False)
    rounding = 1e-9  # of a few hundred sums of doubles
    shares[np.abs(shares) < rounding] = 0.0
    grouping: Array = shares * length / length[columns, None]
    nearest = np.round(grouping)
    near = (nearest != 0.0) & (np.abs(grouping - nearest) < rounding)
    grouping[near] = nearest[near]
    grouping[:, columns] = np.eye(len(columns))
    grouping[:, length == 0.0] = 0.0
    return grouping


def _expression(row: Array, kept: int, names: list[str]) -> str:
    """Write a row as a sum, the kept parameter first: 'link2.mx + 0.4318*link3.m - link3.my'."""
    text = names[kept]
    for index in np.flatnonzero(row):
        if index == kept:
            continue
        size = abs(row[index])
        factor = '' if size == 1.0 else f'{size:.6g}*'
        text += f' {"-" if row[index] < 0.0 else "+"} {factor}{names[index]}'
    return text
