# SPDX-License-Identifier: Apache-2.0
"""Estimation of a payload on the condensed factors of the arm that carries it.

softMC document, "Identification with a Payload": first a run without payload, then one with it.
The arm's parameters stay. The regressor of the payload is Y M, Y that of the arm, so that its
factors are those of the arm times a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import nnls

from robodyn_ros.errors import IdentificationError, ModelError
from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.factors.condense import Condensed, JointFactor
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.fit.folds import Folds, least_squares
from robodyn_ros.identification.fit.least_squares import ESTIMATORS, Estimate
from robodyn_ros.identification.fit.weighting import fit_least_squares
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.completion import Completion
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.semidefinite import weigh_rows
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.base_parameters import BaseParameters, group_columns
from robodyn_ros.models.interface import Array
from robodyn_ros.models.payload import Payload, PayloadModel

CLEAR = 3.0
"""Standard deviations from which on a value differs from 0: chance reaches them once in 370."""


def check_payload_options(options: IdentifyOptions) -> None:
    """Refuse options that have no effect on a payload.

    :raises IdentificationError: another estimator than those for payloads
    """
    if options.estimator not in ESTIMATORS:
        raise IdentificationError(
            f'a payload is identified by the estimator {" or ".join(ESTIMATORS)}'
        )


def map_factors(arm: Condensed, mixing: Array) -> Condensed:
    """Return the factors of the payload's columns from those of the arm's.

    :param mixing: from the payload's columns to the arm's base columns, shape (b, k)
    """
    columns = np.arange(mixing.shape[1])
    kept = tuple(
        replace(
            part,
            rows=tuple(
                _map_rows(rows, mixing[indices])
                for rows, indices in zip(part.rows, arm.sample.columns, strict=True)
            ),
        )
        for part in arm.sample.segments
    )
    sample = replace(
        arm.sample,
        columns=(columns,) * len(arm.joints),
        width=len(columns),
        segments=kept,
    )
    factors = _map_factors(arm.factors, mixing)
    return replace(arm, width=len(columns), factors=factors, coupled=None, sample=sample)


def _map_factors(factors: Sequence[JointFactor], mixing: Array) -> tuple[JointFactor, ...]:
    columns = np.arange(mixing.shape[1])
    return tuple(
        replace(each, columns=columns, triangle=_map_rows(each.triangle, mixing[each.columns]))
        for each in factors
    )


def _map_rows(rows: Array, mixing: Array) -> Array:
    """Return the rows [Y | tau] with the regressor times a matrix."""
    return np.column_stack([rows[:, :-1] @ mixing, rows[:, -1]])


def payload_parameters(model: PayloadModel, arm: Condensed, mixing: Array) -> BaseParameters:
    """Return the combinations of payload parameters that the motion excites.

    Joints are weighted by their torque.

    :param mixing: from all parameters of the payload to the arm's base columns, shape (b, 10)
    :raises IdentificationError: there are none
    """
    rows = []
    for factor in _map_factors(arm.factors, mixing):
        rows.append(factor.triangle[:, :-1] / max(factor.torque_norm, 1e-12))
    stacked = np.vstack(rows)
    length = np.linalg.norm(stacked, axis=0)
    length[length < 1e-9 * length.max(initial=1e-300)] = 0.0
    try:
        # A column that depends more on the others has a thousand times the standard deviation.
        return group_columns(model, stacked, length, dependent=1e-3)
    except ModelError as error:
        raise IdentificationError(
            'the payload is not observable in this motion: no joint that moves carries it'
        ) from error


def with_arm_uncertainty(
    fit: Estimate,
    arm: Condensed,
    mixing: Array,
    base: IdentifiedModel,
    options: IdentifyOptions,
) -> Estimate:
    """Add the uncertainty of arm and torque gain to the covariance of a payload's estimate.

    A wrong factor of all torques is in the arm's parameters too, and so in all values of the
    payload by the same share.

    :param mixing: from the payload's columns to the arm's base columns, shape (b, k)
    """
    spread = _arm_covariance(base, arm, options)
    factors = arm.factors
    rows, _ = weigh_rows(_map_factors(factors, mixing), mixing.shape[1], fit.sigma)
    arms, _ = weigh_rows(factors, arm.width, fit.sigma)
    passed = np.linalg.lstsq(rows, arms, rcond=1e-9)[0]
    given = options.payload_gain_uncertainty
    gain = base.gain_uncertainty if given is None else given
    common = gain**2 * np.outer(fit.values, fit.values)
    return replace(fit, covariance=fit.covariance + passed @ spread @ passed.T + common)


def _arm_covariance(base: IdentifiedModel, arm: Condensed, options: IdentifyOptions) -> Array:
    """Return the covariance (b, b) of the arm's base values.

    Its result has the standard deviations but not the correlations: these are taken from the
    motion at hand, and where the result has none, the standard deviations too.
    """
    covariance = np.nan_to_num(fit_least_squares(arm, options).covariance)
    known = np.array(base.facts.get('base_parameter_stddevs', ()), dtype=float)
    if known.shape != (arm.width,) or np.isnan(known).any():
        return covariance
    local = np.sqrt(np.diag(covariance))
    scale = known / np.where(local > 0.0, local, np.inf)
    result: Array = covariance * np.outer(scale, scale)
    return result


def beside_free_arm(arm: Condensed, mixing: Array, sigma: Array) -> tuple[HeldOut, HeldOut] | None:
    """Return the held-out errors of a payload and of free parameters of the arm instead.

    :param mixing: from the payload's columns to the arm's base columns, shape (b, k)
    :param sigma: residual standard deviation that joints are weighted by, shape (n,)
    :return: errors of the payload and of the free parameters; None: too few samples
    """
    folds = Folds.of_sample(arm.sample.few(), sigma)
    if folds is None:
        return None
    to_arm = block_diag(mixing, 1.0)

    def fit(gram: Array) -> Array:
        return np.array([mixing @ least_squares(to_arm.T @ gram @ to_arm), least_squares(gram)])

    payload, free = folds.held_out(fit)
    return payload, free


def scalar_completion(
    model: PayloadModel, seen: BaseParameters, condensed: Condensed, fit: Estimate
) -> Completion:
    """Return mass and inertia of a payload of the document's models, which are not negative."""
    stddevs = np.full(len(model.parameters), np.nan)
    stddevs[seen.columns] = fit.stddevs
    values = np.zeros(len(model.parameters))
    values[seen.columns] = fit.values
    findings = tuple(scalar_findings(model, seen, values, stddevs))
    negative = not model.products and bool((values < 0.0).any())
    if negative and not has_error(findings):
        rows, target = weigh_rows(condensed.factors, seen.rank, fit.sigma)
        values[seen.columns] = nnls(rows, target)[0]
    possible = bool(model.products) or bool((values >= 0.0).all())
    return Completion(values, stddevs, possible, findings)


def scalar_findings(
    model: PayloadModel, seen: BaseParameters, values: Array, stddevs: Array
) -> Iterator[Finding]:
    """Yield the mass and inertia of the models of the document."""
    names = [item.name.removeprefix('payload.') for item in model.parameters]
    for index, value in enumerate(values.tolist()):
        unit = model.parameters[index].unit
        if index not in seen.columns:
            beside = seen.grouping[:, index].any()
            if beside:
                other = names[seen.columns[0]]
                yield finding('payload_partly_visible.shared', parameter=names[index], other=other)
            else:
                yield finding('payload_partly_visible.unseen', parameter=names[index])
        elif not model.products and value < 0.0:
            yield finding(
                'payload_not_physical'
                if value < -CLEAR * stddevs[index]
                else 'payload_not_physical.zero',
                parameter=names[index],
                value=value,
                unit=unit,
                stddev=stddevs[index],
            )


def is_possible(payload: Payload) -> bool:
    """Return True if a body can have these values."""
    if len(payload.values) == 10:
        return is_consistent(payload.model, payload.values)
    return bool(payload.model.products) or bool((payload.values >= 0.0).all())
