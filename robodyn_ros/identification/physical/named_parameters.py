# SPDX-License-Identifier: Apache-2.0
"""The document's parameters of a closed-form model: values, signs, and how each is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.physical.completion import combination_stddevs
from robodyn_ros.identification.physical.non_negative import is_definite
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel

Status = Literal['identified', 'combination', 'prior', 'unseen', 'given', 'absent', 'impossible']


@dataclass(frozen=True)
class NamedParameters:
    """Parameters in the order of the softMC document, section 5.4.

    :param values: shape (k,), SI; NaN for what has neither an effect on torque nor a prior
    :param stddevs: shape (k,); NaN where the parameter is not identified on its own
    :param status: how each value is known, see `files.report.MEANING`
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    stddevs: Array
    status: tuple[Status, ...]


def classify(
    values: Array, stddevs: Array, fitted: Array | None = None, prior: Array | None = None
) -> tuple[str, ...]:
    """Return how each value is known: determined, weak, or from the prior.

    A determined value is beyond two standard deviations, so that its sign at least is known. A
    value that is nearer to the prior than to what the data alone give is from the prior.

    :param stddevs: shape (k,); NaN: the data do not determine the value
    :param fitted, prior: by the data alone and by the prior alone, shape (k,); None: not compared
    """
    known = np.isfinite(stddevs)
    determined = known & (np.abs(values) > 2.0 * np.where(known, stddevs, 0.0))
    drawn = ~known
    if fitted is not None and prior is not None:
        drawn |= np.abs(values - prior) < np.abs(values - fitted)
    words = np.where(determined, 'determined', np.where(drawn, 'from the prior', 'weak'))
    return tuple(words.tolist())


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
