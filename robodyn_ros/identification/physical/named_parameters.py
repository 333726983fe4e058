"""The document's parameters of a closed-form model: values, and how each of them is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.physical.completion import combination_stddevs
from robodyn_ros.identification.physical.selected import NamedParameters, Status
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel


def named_parameters(
    model: DynamicModel, values: Array, base: BaseParameters, covariance: Array
) -> NamedParameters | None:
    """Compute the document's parameters from identified ones; None for a model without them.

    Standard deviations follow from the covariance of the base values through the derivatives of
    each name by the parameters; a name that is no function of the base values alone has none.

    :param values: parameter values, shape (p,)
    :param covariance: of the base values, shape (b, b)
    """
    found = closed_form_part(model)
    if found is None:
        return None
    part, place = found
    own = values[place]
    named = part.named_values(own)
    slopes = np.zeros((len(named), len(values)))
    slopes[:, place] = _slopes(part, own)
    known = np.isfinite(model.prior())
    shown = np.asarray(base.grouping.any(axis=0))
    alone, stddevs = combination_stddevs(base, covariance, slopes)
    status: list[Status] = []
    for row, value in enumerate(named.tolist()):
        used = np.flatnonzero(~(slopes[row] == 0.0))  # NaN counts
        how = _status(value, used, known, shown, bool(alone[row]))
        # Only an axis has columns that are felt with a payload alone.
        status.append('absent' if how == 'unseen' and part.kind != 'axis' else how)
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
    """How a name is known that depends on the parameters `used`."""
    if not len(used):
        return 'given' if value else 'absent'
    if alone:
        return 'identified'
    if known[used].all():
        return 'prior'
    return 'combination' if shown[used].any() else 'unseen'


def _slopes(part: ClosedFormModel, values: Array) -> Array:
    """Derivatives of the names by the parameters, shape (k, p), by central differences."""
    columns = []
    for index, value in enumerate(values.tolist()):
        step = np.zeros(len(values))
        step[index] = 1e-6 * max(abs(value), 1e-3)
        upper, lower = part.named_values(values + step), part.named_values(values - step)
        columns.append((upper - lower) / (2.0 * step[index]))
    return np.asarray(np.array(columns).T, dtype=np.float64)
