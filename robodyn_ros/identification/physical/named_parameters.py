# SPDX-License-Identifier: Apache-2.0
"""The document's parameters of a closed-form model: values, signs, and how each is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.physical.completion import combination_stddevs
from robodyn_ros.identification.physical.non_negative import is_definite
from robodyn_ros.identification.physical.status import NamedParameters, Status
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel


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
        negative = value < 0.0 and is_definite(part, part.named_parameters[row])
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
