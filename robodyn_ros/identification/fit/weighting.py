# SPDX-License-Identifier: Apache-2.0
"""Which estimator weighs the samples, and its estimate with honest standard deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.fit.joint_coupling import Coupled, decouple
from robodyn_ros.identification.fit.least_squares import Estimate, Estimator, estimate
from robodyn_ros.identification.fit.noise_spectrum import score_covariance
from robodyn_ros.identification.fit.robust import (
    OUTLIER,
    Robust,
    pseudo_observed,
    reweigh,
    robust_fit,
)
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.base_parameters import BaseParameters
from robodyn_ros.models.interface import Array, DynamicModel

Recondense = Callable[[Robust], Condensed]
"""Condenses the recording again with the weights of a robust fit."""


@dataclass(frozen=True)
class Fitted:
    """An unconstrained estimate.

    :param weighted: factors as the estimator weighs them, for all further fits
    """

    fit: Estimate
    weighted: Condensed
    findings: tuple[Finding, ...] = ()


def fit_condensed(
    condensed: Condensed, options: IdentifyOptions, recondense: Recondense
) -> Fitted:
    """Estimate base values by the estimator that the options name.

    :param condensed: with coupled factors if the estimator is 'covariance'
    :param recondense: called where the rows kept are not all rows
    :raises IdentificationError: no samples
    """
    method = options.estimator
    if method not in ('robust', 'covariance'):
        return Fitted(fit_least_squares(condensed, options), condensed)
    first = estimate(condensed.factors, condensed.width)
    if method == 'robust':
        robust = robust_fit(condensed.sample.few(), first.values, options.loss)
        return _robust(condensed, robust, recondense)
    return _fit_coupled(condensed, decouple(condensed, first))


def fit_least_squares(condensed: Condensed, options: IdentifyOptions) -> Estimate:
    """Estimate base values by least squares, joints weighted unless the options say 'ols'.

    :raises IdentificationError: no samples
    """
    plain: Estimator = 'ols' if options.estimator == 'ols' else 'wls'
    factors, width = condensed.factors, condensed.width
    first = estimate(factors, width, estimator=plain)
    scores = score_covariance(condensed.sample.few(), first)
    return estimate(factors, width, estimator=plain, scores=scores)


def _robust(condensed: Condensed, robust: Robust, recondense: Recondense) -> Fitted:
    """Return the weighted least squares with the weights of a robust fit."""
    if condensed.sample.complete:
        weighted = reweigh(condensed, robust)
        first = estimate(weighted.factors, weighted.width)
    else:  # samples that excite rare parameters must not be taken for outliers
        again = estimate(recondense(robust).factors, condensed.width)
        robust = replace(robust, values=again.values)
        weighted = recondense(robust)
        first = estimate(weighted.factors, weighted.width)
    sample = pseudo_observed(condensed.sample.few(), robust, first.values)
    scores = score_covariance(sample, first)
    wider = np.einsum('i,j,ijbc->ijbc', robust.widening, robust.widening, scores)
    fit = estimate(weighted.factors, weighted.width, scores=wider)
    return Fitted(fit, weighted, (_outlier_finding(robust, condensed.joints),))


def _fit_coupled(condensed: Condensed, coupled: Coupled) -> Fitted:
    """Return the weighted least squares of decoupled joints."""
    factors, width = coupled.condensed.factors, condensed.width
    first = estimate(factors, width)
    scores = score_covariance(condensed.sample.few(), first, mixing=coupled.mixing)
    fit = estimate(factors, width, scores=scores)
    text = tuple(_correlation_findings(coupled.correlation, condensed.joints))
    return Fitted(fit, coupled.condensed, text)


def _outlier_finding(robust: Robust, joints: tuple[str, ...]) -> Finding:
    """Return the finding on the share of samples that the robust loss gives no weight."""
    worst = int(np.argmax(robust.gross))
    return finding(
        'outliers',
        loss=robust.loss,
        share=robust.gross[worst],
        worst=joints[worst],
        limit=OUTLIER,
    )


def _correlation_findings(correlation: Array, joints: tuple[str, ...]) -> Iterator[Finding]:
    """Yield a finding on the two joints with the largest error correlation, from 0.5 on."""
    apart = np.abs(np.tril(correlation, -1))
    if not apart.size or apart.max() < 0.5:
        return
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    yield finding(
        'correlated_errors',
        one=joints[other],
        other=joints[one],
        correlation=correlation[one, other],
    )


def robust_weights(
    model: DynamicModel, base: BaseParameters, robust: Robust
) -> Callable[[Processed], Array]:
    """Return a function that weighs samples (M, n) by the residuals of a robust fit."""
    # The base parameters are columns of the model: with zeros for all others they give its torque.
    values = np.zeros(len(model.parameters))
    values[base.columns] = robust.values

    def weights(signals: Processed) -> Array:
        predicted = model.torque(*signals.motion, values)
        return robust.weights(signals.thinning.apply(signals.measured - predicted))

    return weights
