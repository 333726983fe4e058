# SPDX-License-Identifier: Apache-2.0
"""One fit: from the condensed factors of all recordings to the parameters that are exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.average.candidates import EstimateCandidate, list_candidates
from robodyn_ros.identification.average.mean import Mean, average
from robodyn_ros.identification.average.parts import (
    Parts,
    count_independent,
    label_rows,
    relabel,
)
from robodyn_ros.identification.factors.condense import Condensed, keep_columns
from robodyn_ros.identification.factors.passes import condense_parts, together
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.fit.least_squares import ESTIMATORS, Estimate
from robodyn_ros.identification.fit.noise_spectrum import score_covariance
from robodyn_ros.identification.fit.robust import Robust
from robodyn_ros.identification.fit.weighting import Fitted, fit_condensed, robust_weights
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.payload.estimate import (
    beside_free_arm,
    check_payload_options,
    map_factors,
    payload_parameters,
    scalar_completion,
    with_arm_uncertainty,
)
from robodyn_ros.identification.physical.completion import Completion, parameter_stddevs
from robodyn_ros.identification.physical.extrapolation import average_products, random_states_of
from robodyn_ros.identification.physical.non_negative import limit_to_non_negative
from robodyn_ros.identification.physical.possible import Estimated, complete_possible
from robodyn_ros.identification.physical.semidefinite import (
    Problem,
    residual_sigma,
    starting_prior,
)
from robodyn_ros.identification.result.weighted import Weighted, WeightedCandidate
from robodyn_ros.identification.signals.segments import Segments
from robodyn_ros.identification.steps.preparation import ProcessedRecordings, Task
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel

STAYS = 1.0
"""Information on base values that no row depends on, in their natural scale: they stay as they
are where another value has to move."""

COUNTS = 0.1
"""Weight of the candidates at a cut-off from which on errors are reported there."""


@dataclass(frozen=True)
class ParameterEstimate:
    """Estimated parameters and the intermediate results of their estimation.

    :param fit: plain least squares, zero for base values that it does not have
    :param mean: of the candidates; None: a payload of the document's models
    :param error: mean squared error (b, b) of the exported base values
    :param independent: independent samples per unknown
    """

    fit: Estimate
    completion: Completion
    error: Array
    findings: tuple[Finding, ...]
    mean: Mean | None = None
    weighted: Weighted = field(default_factory=Weighted)
    independent: float = 0.0

    @property
    def level(self) -> int:
        """Number of the highest cut-off whose candidates count, 0 the highest of all."""
        return 0 if self.mean is None else int(np.argmax(self.mean.levels >= COUNTS))

    @property
    def values(self) -> Array:
        """Exported parameter values, shape (p,)."""
        return self.completion.values


class Regression:
    """Condensed factors of the recordings, on the base parameters of what is estimated."""

    def __init__(self, task: Task, prepared: ProcessedRecordings) -> None:
        """Condense every recording.

        :raises IdentificationError: options without effect, or a payload that no joint feels
        """
        self.task, self.prepared, self.model = task, prepared, prepared.model
        carrier = self.model.arm if isinstance(self.model, PayloadModel) else self.model
        self.carrier, self.carrier_base = carrier, base_parameters(carrier)
        self.options = task.options
        self.arms = self._condense(None, range(len(prepared.parts)))
        self._lower = [self._condense(None, range(len(each)), each) for each in prepared.lower]
        self.base, self._mixing = self.carrier_base, np.zeros((0, 0))
        if isinstance(self.model, PayloadModel):
            check_payload_options(task.options)
            self.options = replace(task.options, prior='none')
            mixing = self.carrier_base.grouping @ self.model.matrix
            arm = together(self.arms)
            self.base = payload_parameters(self.model, arm, mixing)
            self._mixing = mixing[:, self.base.columns]

    def factors(
        self, chosen: Sequence[int] | None = None, robust: Robust | None = None
    ) -> Condensed:
        """Return the factors of some recordings (default: all) together.

        :param robust: fit whose residuals weigh the samples; None: all samples count alike
        """
        chosen = range(len(self.arms)) if chosen is None else chosen
        arms = [self.arms[k] for k in chosen]
        if robust is not None:
            arms = self._condense(robust, chosen)
        merged = together(arms)
        return map_factors(merged, self._mixing) if self.task.arm else merged

    def apart(self) -> list[Condensed]:
        """Return the factors of each recording."""
        arms = self.arms
        return [map_factors(arm, self._mixing) for arm in arms] if self.task.arm else arms

    def estimate(self, chosen: Sequence[int] | None = None) -> ParameterEstimate:
        """Estimate the parameters from some recordings (default: all)."""
        chosen = range(len(self.arms)) if chosen is None else chosen
        model, base = self.model, self.base
        candidates, fitted, parts = self.divide(chosen)
        fit, weighted = fitted.fit, fitted.weighted
        if isinstance(model, PayloadModel) and len(model.parameters) < 10:
            completion = scalar_completion(model, base, weighted, fit)
            error = fit.error_of(base.values(completion.values))
            return ParameterEstimate(fit, completion, error, fitted.findings)
        mean = average(candidates, parts, self.problem, self.products)
        covariance = self._covariance(weighted, fit, mean, parts[0])
        information = self._information(mean, parts[0])
        estimated = Estimated(
            mean.values, information, covariance, weighted.factors, parts[0].sigma
        )
        prior = _prior(model, self.options.prior)
        completion, excess = complete_possible(
            model, base, estimated, prior, self.problem, self.options
        )
        if self.options.consistent != 'no':
            completion = limit_to_non_negative(model, base, weighted, fit, completion)
        shift = base.values(completion.values) - mean.values
        error = covariance + np.outer(shift, shift)
        completion = replace(completion, stddevs=parameter_stddevs(base, error))
        unknowns = int(candidates[0].kept.sum()) - fit.unseen.shape[1]
        return ParameterEstimate(
            fit, completion, error, fitted.findings, mean,
            self._weigh(candidates, mean, excess),
            count_independent(weighted, fit.values, unknowns),
        )  # fmt: skip

    def divide(self, chosen: Sequence[int]) -> tuple[list[EstimateCandidate], Fitted, list[Parts]]:
        """Return the candidates, plain least squares, and recordings divided at every cut-off.

        Robust and coupled weights are those of one cut-off, so that there is no other one.
        """
        plain = self.options.estimator in ESTIMATORS
        levels = [self.factors(chosen)]
        levels += [self._together(each, chosen) for each in self._lower if plain]
        _, known = starting_prior(self.model, self.options.prior)
        known &= not isinstance(self.model, PayloadModel)
        candidates = list_candidates(
            self.model, self.base, len(levels), automatic=self.prepared.automatic, known=known
        )
        kept = candidates[0].kept if plain else np.ones(self.base.rank, dtype=bool)
        fitted = fit_condensed(
            keep_columns(levels[0], kept), self.options, lambda fit: self.factors(chosen, fit)
        )
        fit = fitted.fit.embed(kept)
        if self.task.arm is not None:
            arm = self._together(self.arms, chosen)
            fit = with_arm_uncertainty(fit, arm, self._mixing, self.task.arm, self.options)
        weighted = levels[0] if plain else fitted.weighted
        labels = label_rows(weighted)
        sigma = _sigma(weighted, fit, self.options)
        parts = [Parts.of(weighted, sigma, labels)]
        for each in levels[1:]:
            count = sum(len(part.used) for part in each.sample.segments)
            sigma = _sigma(each, fit, self.options)
            parts.append(Parts.of(each, sigma, relabel(labels, count)))
        return candidates, replace(fitted, fit=fit, weighted=weighted), parts

    @cached_property
    def problem(self) -> Problem:
        """The search for consistent parameters, without the data."""
        prior, _ = starting_prior(self.model, self.options.prior)
        return Problem.of(self.model, self.base, prior)

    @cached_property
    def products(self) -> list[Array]:
        """Return the mean products of each joint's rows on random states, see `average`."""
        if self.task.arm is not None:  # its only candidate needs no weight
            return [np.zeros((self.base.rank,) * 2)] * len(self.model.joints)
        rests = [name in self.prepared.frozen for name in self.model.joint_names]
        signals = self.prepared.parts[0].shown
        states = random_states_of(self.model, signals, rests)
        return average_products(self.model, self.base, states)

    def _covariance(self, condensed: Condensed, fit: Estimate, mean: Mean, parts: Parts) -> Array:
        """Return the covariance (b, b) of the mean: of noise, and between the candidates."""
        if self.task.arm is not None:
            return fit.covariance + mean.between
        data = parts.normal[-1, :-1, :-1]
        hidden = np.isnan(np.diag(fit.covariance)) | (np.diag(data) <= 0.0)
        if self.options.estimator not in ESTIMATORS:
            inner = data @ np.nan_to_num(fit.covariance) @ data
        else:
            scores = score_covariance(condensed.sample.few(), fit)
            size = fit.sigma / (parts.sigma**2 * parts.samples.sum())
            inner = np.einsum('i,j,ijbc->bc', size, size, scores)
        covariance = mean.noise @ inner @ mean.noise.T + mean.between
        covariance[hidden], covariance[:, hidden] = np.nan, np.nan
        return np.asarray(covariance)

    def _information(self, mean: Mean, parts: Parts) -> Array:
        """Return the information (b, b) on the mean: that of data and priors."""
        data = parts.normal[-1, :-1, :-1]
        scale = self.problem.scale[self.base.columns]
        unseen = np.where(np.diag(data) > 0.0, 0.0, STAYS / scale**2)
        return np.asarray(data + mean.precision + np.diag(unseen))

    def _weigh(self, listed: Sequence[EstimateCandidate], mean: Mean, excess: float) -> Weighted:
        cutoffs = [self.prepared.parts[0].shown.cutoff]
        cutoffs += [each[0].shown.cutoff for each in self.prepared.lower]
        weighted = [
            WeightedCandidate(
                each.law, cutoffs[each.cutoff], each.prior_weight, float(weight), float(error)
            )
            for each, weight, error in zip(listed, mean.weights, mean.errors, strict=True)
        ]
        weighted.sort(key=lambda each: -each.weight)
        return Weighted(tuple(weighted), mean.error, float(mean.errors[0]), excess)

    def payload_or_free_arm(self, sigma: Array) -> tuple[HeldOut, HeldOut] | None:
        """Return the held-out errors of the payload and of a free arm, see `beside_free_arm`."""
        return beside_free_arm(together(self.arms), self._mixing, sigma)

    def _together(self, arms: Sequence[Condensed], chosen: Sequence[int]) -> Condensed:
        return together([arms[k] for k in chosen])

    def _condense(
        self,
        robust: Robust | None,
        chosen: Sequence[int],
        parts: Sequence[Segments] | None = None,
    ) -> list[Condensed]:
        weights = None
        if robust is not None:
            weights = robust_weights(self.model, self.base, robust)
        parts = self.prepared.parts if parts is None else parts
        return [
            condense_parts(self.carrier, parts[k], self.carrier_base, self.options, weights)
            for k in chosen
        ]


def _sigma(condensed: Condensed, fit: Estimate, options: IdentifyOptions) -> Array:
    """Return the residual standard deviations (n,) that weigh joints; equal with OLS."""
    sigma = residual_sigma(condensed.factors, fit.values)
    return np.full_like(sigma, np.sqrt(np.mean(sigma**2))) if options.estimator == 'ols' else sigma


def _prior(model: DynamicModel, kind: str) -> Array:
    """Return the prior of the parameters, shape (p,); NaN where nothing is known.

    Values in the description of a closed-form model count as known.
    """
    prior = model.prior()
    if kind == 'none' and closed_form_part(model) is None:
        return np.zeros(len(prior))
    return prior
