"""From base values to all standard parameters, and what is known about each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.consistency import consistent, nearest
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Finding


@dataclass(frozen=True)
class Completion:
    """Standard parameters with the identified base values.

    :param values: shape (p,), SI; their torque is that of the base values
    :param stddevs: shape (p,); NaN where the parameter cannot be identified on its own
    :param physically_consistent: every link and rotor is possible (see `consistency`)
    :param findings: why not, if not
    """

    values: Array
    stddevs: Array
    physically_consistent: bool
    findings: tuple[Finding, ...]


def complete(
    model: DynamicModel,
    base: BaseParameters,
    values: Array,
    covariance: Array,
    prior: Array,
) -> Completion:
    """Choose standard parameters that give exactly the torque of the base values.

    The rule: the physically consistent ones nearest to a prior, measured in natural scales;
    where none exist, those nearest to the prior. What the
    data do not determine is therefore the prior's choice and has no standard deviation.

    :param values: base values, shape (b,)
    :param covariance: of the base values, shape (b, b)
    :param prior: a-priori values of all parameters, shape (p,), finite
    """
    findings: tuple[Finding, ...] = ()
    possible = True
    try:
        chosen = consistent(model, base.grouping, values, prior)
    except IdentificationError as error:
        possible = False
        chosen = nearest(model, base.grouping, values, prior)
        text = f'{error}; no URDF is written, and the torque of the result is not affected'
        findings = (Finding('not_physically_consistent', text),)
    return Completion(
        values=chosen,
        stddevs=parameter_stddevs(base, covariance),
        physically_consistent=possible,
        findings=findings,
    )


def parameter_stddevs(base: BaseParameters, covariance: Array) -> Array:
    """Standard deviation of each standard parameter, shape (p,).

    A parameter that is a combination of base values has that combination's standard deviation;
    any other is NaN: its value is not determined by torque, however good the data are.

    :param covariance: of the base values, shape (b, b); NaN where the data show nothing
    """
    width = base.grouping.shape[1]
    inverse = np.linalg.pinv(base.grouping)
    alone = np.abs(inverse @ base.grouping - np.eye(width)).max(axis=1) < 1e-8
    result = np.full(width, np.nan)
    for index in np.flatnonzero(alone):
        weights = inverse[index]
        used = np.abs(weights) > 1e-12
        result[index] = np.sqrt(weights[used] @ covariance[np.ix_(used, used)] @ weights[used])
    return result
