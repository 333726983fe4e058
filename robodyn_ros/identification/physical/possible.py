# SPDX-License-Identifier: Apache-2.0
"""The robot that can exist nearest to an estimate, in what the estimate is certain of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import JointFactor
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.completion import (
    Completion,
    complete,
    completion_rule,
    parameter_stddevs,
)
from robodyn_ros.identification.physical.consistency import bodies_of, is_consistent
from robodyn_ros.identification.physical.semidefinite import WEAKEST, Data, Problem, weigh_rows
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel

CONTRADICTED = 1.1
"""Ratio of the RMS residual of the nearest possible robot to that of the estimate, above which
the recording contradicts it: no such robot is exported unless it was asked for."""


@dataclass(frozen=True)
class Estimated:
    """Base values to be completed.

    :param values: shape (b,)
    :param information: inverse of the covariance in units of the mean squared residual, (b, b)
    :param covariance: shape (b, b)
    :param factors: of the recording, one per joint
    :param sigma: residual standard deviation of each joint, shape (n,)
    """

    values: Array
    information: Array
    covariance: Array
    factors: tuple[JointFactor, ...]
    sigma: Array


def complete_possible(
    model: DynamicModel,
    base: BaseParameters,
    estimated: Estimated,
    prior: Array,
    problem: Problem,
    options: IdentifyOptions,
) -> tuple[Completion, float]:
    """Return all parameters of a robot, one that can exist unless the recording contradicts it.

    :param prior: shape (p,); NaN: nothing is known
    :return: parameters, and their RMS residual relative to that of the estimate
    """

    def complete_plain(*findings: Finding) -> Completion:
        plain = complete(model, base, estimated.values, estimated.covariance, prior)
        return replace(plain, findings=(*plain.findings, *findings))

    if options.consistent == 'no':
        return complete_plain(), 1.0
    if not bodies_of(model).links:
        asked = options.consistent == 'yes'
        return complete_plain(*([finding('consistency_without_links')] if asked else [])), 1.0
    try:
        values = problem.solve(_data(estimated), WEAKEST)
    except IdentificationError as error:
        refused = finding('not_physically_consistent.unconstrained', reason=error)
        return replace(complete_plain(), findings=(refused,)), 1.0
    excess = _excess(estimated, base.values(values))
    if excess > CONTRADICTED and options.consistent == 'auto':
        plain = complete_plain()
        return replace(plain, findings=(*plain.findings, *_negative(model, plain.values))), excess
    possible = Completion(
        values,
        parameter_stddevs(base, estimated.covariance),
        is_consistent(model, values),
        tuple(_negative(model, values)),
        completion_rule(model, prior),
    )
    return possible, excess


def _data(estimated: Estimated) -> Data:
    size, axes = np.linalg.eigh(estimated.information)
    return Data(np.sqrt(np.maximum(size, 0.0))[:, None] * axes.T, estimated.values)


def _excess(estimated: Estimated, values: Array) -> float:
    """Return the weighted residual of base values over that of the estimate."""
    rows, target = weigh_rows(estimated.factors, len(values), estimated.sigma)
    size, least = (float(np.linalg.norm(rows @ x - target)) for x in (values, estimated.values))
    return size / max(least, 1e-12)


def _negative(model: DynamicModel, values: Array) -> Iterator[Finding]:
    """Yield findings on rotor inertias and viscous friction that came out negative."""
    rotors = [model.parameters[k].name for k in bodies_of(model).rotors if values[k] < 0.0]
    if rotors:
        reason = f'the recording asks for a negative {", ".join(rotors)}'
        yield finding('not_physically_consistent', reason=reason)
    names = [
        item.name
        for item, value in zip(model.parameters, values, strict=True)
        if item.name.endswith('.viscous_friction') and value < 0.0
    ]
    if names:
        yield finding('negative_friction', parameters=', '.join(names))
