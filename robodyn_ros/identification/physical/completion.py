# SPDX-License-Identifier: Apache-2.0
"""From base values to all standard parameters, and what is known about each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.physical.consistency import bodies_of, consistent, nearest
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel


@dataclass(frozen=True)
class Completion:
    """Standard parameters with the identified base values.

    :param values: shape (p,), SI; their torque is that of the base values
    :param stddevs: shape (p,); NaN where the parameter cannot be identified on its own
    :param physically_consistent: every link and rotor is possible (see `consistency`)
    :param rule: rule for values that the torque determines only in combination
    """

    values: Array
    stddevs: Array
    physically_consistent: bool
    findings: tuple[Finding, ...]
    rule: str = ''


def complete(
    model: DynamicModel,
    base: BaseParameters,
    values: Array,
    covariance: Array,
    prior: Array,
) -> Completion:
    """Choose standard parameters that give exactly the torque of the base values.

    They are those of `consistency.nearest`, with the nearest physically consistent links, if there
    are any. A parameter that the data do not determine has no standard deviation.

    :param values: base values, shape (b,)
    :param covariance: of the base values, shape (b, b)
    :param prior: a-priori values of all parameters, shape (p,); NaN: nothing is known
    """
    prior = np.asarray(prior, dtype=np.float64)
    rule = completion_rule(model, prior)
    findings: tuple[Finding, ...] = ()
    possible = True
    try:
        chosen = consistent(model, base.grouping, values, prior)
    except IdentificationError as error:
        possible = False
        chosen = nearest(model, base.grouping, values, prior)
        findings = (finding('not_physically_consistent', reason=error),)
    return Completion(
        values=chosen,
        stddevs=parameter_stddevs(base, covariance),
        physically_consistent=possible,
        findings=findings,
        rule=rule,
    )


def completion_rule(model: DynamicModel, prior: Array) -> str:
    """Return the rule, in one sentence, for values that torque determines only in combination."""
    text = 'parameters not identifiable alone: '
    if bodies_of(model).links:
        return text + 'the physically consistent robot nearest to the prior, in natural scales'
    known = [
        item.name
        for item, value in zip(model.parameters, prior, strict=True)
        if np.isfinite(value)
    ]
    if known:
        text += f'prior kept where the data allow it ({", ".join(known)}), '
    return text + 'minimum norm in SI units' + (' for the others' if known else '')


def parameter_stddevs(base: BaseParameters, covariance: Array) -> Array:
    """Return the standard deviation of each standard parameter, shape (p,).

    A parameter that is a combination of base values has that combination's standard deviation;
    any other is NaN: its value is not determined by torque, however good the data are.

    :param covariance: of the base values, shape (b, b); NaN where the data show nothing
    """
    alone, stddevs = combination_stddevs(base, covariance, np.eye(base.grouping.shape[1]))
    return np.where(alone, stddevs, np.nan)


def combination_stddevs(
    base: BaseParameters, covariance: Array, combinations: Array
) -> tuple[NDArray[np.bool_], Array]:
    """Return which combinations are functions of the base values, and standard deviations.

    :param covariance: of the base values, shape (b, b); NaN where the data show nothing
    :param combinations: shape (k, p); a row with NaN is no such function
    :return: flags (k,), and standard deviations (k,), NaN where there is none
    """
    weights = combinations @ np.linalg.pinv(base.grouping)
    missed = np.abs(weights @ base.grouping - combinations).max(axis=1)
    size = np.abs(combinations).max(axis=1)
    alone = (missed < 1e-8 * size) & (size > 0.0)
    result = np.full(len(combinations), np.nan)
    for index in np.flatnonzero(alone):
        row = weights[index]
        used = np.abs(row) > 1e-12 * np.abs(row).max()
        result[index] = np.sqrt(row[used] @ covariance[np.ix_(used, used)] @ row[used])
    return alone, result
