# SPDX-License-Identifier: Apache-2.0
"""Values of a closed-form model that a robot can have: no mass or inertia is negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import clarabel
import numpy as np
import scipy  # its parts at their first use: they take half a second
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from robodyn_ros.findings import finding
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.least_squares import ROUNDING, Estimate
from robodyn_ros.identification.physical.completion import Completion
from robodyn_ros.identification.physical.consistency import minimise, pack_matrices
from robodyn_ros.identification.physical.semidefinite import WEAKEST, weigh_rows
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.friction_terms import BRAKING
from robodyn_ros.models.interface import Array, DynamicModel, Parameter

_BODY = np.array(
    [np.diag([1.0, 0, 0]), *(np.eye(3)[[k, 0]].T @ np.eye(3)[[0, k]] for k in (1, 2)),
     np.diag([0.0, 1, 1])]
)  # fmt: skip
"""[[I, h1, h2], [h1, m, 0], [h2, 0, m]] of unit I, h1, h2 and m, (4, 3, 3). It is positive if the
inertia about the centre, I - (h1^2 + h2^2) / m, and the mass are."""

_MARGIN = 1e-6
"""Distance from zero that is asked for, relative to each value: beyond the solver's tolerance."""


def limit_to_non_negative(
    model: DynamicModel,
    base: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    chosen: Completion,
) -> Completion:
    """Keep masses, inertias and friction of a closed-form model from being negative.

    Values of the same torque are preferred to those that suit the data less.

    :param chosen: values of all parameters that suit the data without limits
    """
    closed = closed_form_part(model)
    if closed is None:
        return chosen
    definite = np.array([is_definite(closed[0], each) for each in model.parameters], dtype=bool)
    body = [k + closed[1].start for k in closed[0].body]
    if (moved := move_to_possible(base, definite, body, chosen.values)) is not None:
        return replace(chosen, values=moved)
    wrong = definite & (chosen.values < 0.0)
    if not wrong.any():
        return chosen
    rows, target = weigh_rows(condensed.factors, condensed.width, fit.sigma)
    matrix = rows @ base.grouping
    length = np.linalg.norm(matrix, axis=0)
    # Columns of rounding errors, of joints at rest, are not scaled up to numbers.
    scale = np.where(length > ROUNDING * length.max(initial=0.0), length, 1.0)
    wanted = WEAKEST * scale * np.where(wrong, 0.0, chosen.values)
    solved = lsq_linear(
        np.vstack([matrix / scale, WEAKEST * np.eye(len(scale))]),
        np.concatenate([target, wanted]),
        (np.where(definite, 0.0, -np.inf), np.inf),
    )
    values = np.where(definite, np.maximum(solved.x, 0.0), solved.x) / scale
    moved = move_to_possible(base, definite, body, values)
    values = values if moved is None else moved
    names = ', '.join(model.parameters[k].name for k in np.flatnonzero(wrong))
    held = finding('held_at_zero', parameters=names)
    return replace(chosen, values=values, findings=(*chosen.findings, held))


def move_to_possible(
    base: BaseParameters, definite: NDArray[np.bool_], body: Sequence[int], values: Array
) -> Array | None:
    """Return the nearest values of the same torque that a robot can have; None if there are none.

    :param definite: which values are not negative, shape (p,)
    :param body: indices of I, h1, h2 and m of a body (see `_BODY`), or none
    :param values: shape (p,)
    """
    at = np.flatnonzero(definite)
    if _is_possible(values, at, body):
        return values
    directions = scipy.linalg.null_space(base.grouping)
    free = directions.shape[1]
    if not free:
        return None
    least = _MARGIN * np.abs(values)
    least[body[1:3]] = 0.0
    cones: list[Any] = [clarabel.NonnegativeConeT(len(at))]
    rows, limits = [-directions[at]], [(values - least)[at]]
    if body:
        packed = pack_matrices(_BODY).T
        cones.append(clarabel.PSDTriangleConeT(3))
        rows.append(-packed @ directions[body])
        limits.append(packed @ (values - least)[body])
    matrix = scipy.sparse.csc_matrix(np.vstack(rows))
    solution = minimise(np.eye(free), np.zeros(free), matrix, np.concatenate(limits), cones)
    moved: Array = values + directions @ np.array(solution.x)
    return moved if 'Solved' in str(solution.status) and _is_possible(moved, at, body) else None


def _is_possible(values: Array, at: NDArray[np.intp], body: Sequence[int]) -> bool:
    matrices = np.tensordot(values[list(body)], _BODY, 1) if body else np.zeros((1, 1))
    return bool(values[at].min(initial=0.0) >= 0.0 and np.linalg.eigvalsh(matrices).min() >= 0.0)


def is_definite(part: ClosedFormModel, parameter: Parameter) -> bool:
    """Return True if a parameter of a closed-form model is never negative."""
    if parameter.name.rpartition('.')[2] in BRAKING:
        return True
    if part.kind == 'puma':  # its other inertias are sums and differences
        return parameter.name.startswith('Im')
    return parameter.unit in ('kg', 'kg m^2') and not parameter.name.startswith('L1*')
