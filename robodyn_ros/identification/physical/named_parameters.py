# SPDX-License-Identifier: Apache-2.0
"""The document's parameters of a closed-form model: values, signs, and how each is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from robodyn_ros.findings import finding
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.least_squares import ROUNDING, Estimate
from robodyn_ros.identification.physical.completion import Completion, combination_stddevs
from robodyn_ros.identification.physical.semidefinite import WEAKEST, weigh_rows
from robodyn_ros.identification.physical.status import NamedParameters, Status
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.friction_terms import BRAKING
from robodyn_ros.models.interface import Array, DynamicModel, Parameter


def limit_to_non_negative(
    model: DynamicModel,
    base: BaseParameters,
    condensed: Condensed,
    fit: Estimate,
    chosen: Completion,
) -> Completion:
    """Keep masses, inertias and friction of a closed-form model from being negative.

    :param chosen: values of all parameters that suit the data without limits
    """
    closed = closed_form_part(model)
    if closed is None:
        return chosen
    definite = np.array([_is_definite(closed[0], each) for each in model.parameters], dtype=bool)
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
    names = ', '.join(model.parameters[k].name for k in np.flatnonzero(wrong))
    held = finding('held_at_zero', parameters=names)
    return replace(chosen, values=values, findings=(*chosen.findings, held))


def _is_definite(part: ClosedFormModel, parameter: Parameter) -> bool:
    if parameter.name.rpartition('.')[2] in BRAKING:
        return True
    if part.kind == 'puma':  # its other inertias are sums and differences
        return parameter.name.startswith('Im')
    return parameter.unit in ('kg', 'kg m^2') and not parameter.name.startswith('L1*')


def compute_named(
    model: DynamicModel, values: Array, base: BaseParameters, covariance: Array
) -> NamedParameters | None:
    """Compute the document's parameters from identified ones; None for a model without them.

    Standard deviations follow from the covariance of the base values through the derivatives of
    each name by the parameters; a name that is no function of the base values alone has none.

    :param values: parameter values, shape (p,)
    :param covariance: of the base values, shape (b, b)
    """
    closed = closed_form_part(model)
    if closed is None:
        return None
    part, place = closed
    of_part = values[place]
    named = part.compute_named(of_part)
    slopes = np.zeros((len(named), len(values)))
    slopes[:, place] = _slopes(part, of_part)
    known = np.isfinite(model.prior())
    shown = np.asarray(base.grouping.any(axis=0))
    alone, stddevs = combination_stddevs(base, covariance, slopes)
    status: list[Status] = []
    for row, value in enumerate(named.tolist()):
        used = np.flatnonzero(~(slopes[row] == 0.0))  # NaN counts
        how = _status(value, used, known, shown, bool(alone[row]))
        # Only an axis has columns that are felt with a payload alone.
        how = 'absent' if how == 'unseen' and part.kind != 'axis' else how
        negative = value < 0.0 and _is_definite(part, part.named_parameters[row])
        status.append('impossible' if negative else how)
    unknown = np.array([item == 'unseen' for item in status])
    return NamedParameters(
        names=tuple(item.name for item in part.named_parameters),
        units=tuple(item.unit for item in part.named_parameters),
        values=np.where(unknown, np.nan, named),
        stddevs=np.where([item == 'identified' for item in status], stddevs, np.nan),
        status=tuple(status),
    )


def _status(
    value: float,
    used: NDArray[np.intp],
    known: NDArray[np.bool_],
    shown: NDArray[np.bool_],
    alone: bool,
) -> Status:
    """Return the status of a name that depends on the parameters `used`."""
    if not len(used):
        return 'given' if value else 'absent'
    if alone:
        return 'identified'
    if known[used].all():
        return 'prior'
    return 'combination' if shown[used].any() else 'unseen'


def _slopes(part: ClosedFormModel, values: Array) -> Array:
    """Return the derivatives of the names by the parameters, (k, p), by central differences."""
    columns = []
    for index, value in enumerate(values.tolist()):
        step = np.zeros(len(values))
        step[index] = 1e-6 * max(abs(value), 1e-3)
        upper, lower = part.compute_named(values + step), part.compute_named(values - step)
        columns.append((upper - lower) / (2.0 * step[index]))
    return np.asarray(np.array(columns).T, dtype=np.float64)
