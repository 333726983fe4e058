# SPDX-License-Identifier: Apache-2.0
"""One fit: from the condensed factors of all recordings to the parameters that are exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.factors.condense import Condensed
from robodyn_ros.identification.factors.passes import condense_parts, together
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.fit.robust import Robust
from robodyn_ros.identification.fit.weighting import fit_condensed, robust_weights
from robodyn_ros.identification.options import FOLDS
from robodyn_ros.identification.payload.estimate import (
    beside_free_arm,
    check_payload_options,
    map_factors,
    payload_parameters,
    scalar_completion,
    with_arm_uncertainty,
)
from robodyn_ros.identification.physical.chosen_estimate import Selection
from robodyn_ros.identification.physical.completion import (
    Completion,
    complete,
    fill_from_prior,
    parameter_stddevs,
)
from robodyn_ros.identification.physical.named_parameters import limit_to_non_negative
from robodyn_ros.identification.physical.selection import choose
from robodyn_ros.identification.steps.preparation import ProcessedRecordings, Task
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.closed_forms.closed_form import closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel


@dataclass(frozen=True)
class ParameterEstimate:
    """Estimated parameters and the intermediate results of their estimation.

    :param plain: values of all parameters of the unconstrained estimate, shape (p,)
    :param error: mean squared error (b, b) of the exported base values
    """

    fit: Estimate
    completion: Completion
    plain: Array
    selection: Selection
    error: Array
    findings: tuple[Finding, ...]

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
        self.base, self._mixing = self.carrier_base, np.zeros((0, 0))
        if isinstance(self.model, PayloadModel):
            check_payload_options(task.options)
            self.options = replace(task.options, prior='none')
            mixing = self.carrier_base.grouping @ self.model.matrix
            arm = together(self.arms, FOLDS)
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
        merged = together(arms, FOLDS)
        return map_factors(merged, self._mixing) if self.task.arm else merged

    def apart(self) -> list[Condensed]:
        """Return the factors of each recording."""
        arms = self.arms
        return [map_factors(arm, self._mixing) for arm in arms] if self.task.arm else arms

    def estimate(self, chosen: Sequence[int] | None = None) -> ParameterEstimate:
        """Estimate the parameters from some recordings (default: all)."""
        chosen = range(len(self.arms)) if chosen is None else chosen
        condensed = self.factors(chosen)
        fitted = fit_condensed(condensed, self.options, lambda fit: self.factors(chosen, fit))
        fit, model, base = fitted.fit, self.model, self.base
        if self.task.arm is not None:
            arm = together([self.arms[k] for k in chosen], FOLDS)
            fit = with_arm_uncertainty(fit, arm, self._mixing, self.task.arm, self.options)
        if isinstance(model, PayloadModel) and len(model.parameters) < 10:
            completion = scalar_completion(model, base, condensed, fit)
            error = fit.error_of(base.values(completion.values))
            return ParameterEstimate(
                fit, completion, completion.values, Selection(), error, fitted.findings
            )
        prior = _prior(model, self.options.prior)
        seen = fill_from_prior(fit, base, prior)
        plain = complete(model, base, seen, fit.covariance, prior)
        completion, selection = choose(model, base, fitted.weighted, fit, plain, self.options)
        if self.options.consistent != 'no' and self.options.ridge is None:
            completion = limit_to_non_negative(model, base, fitted.weighted, fit, completion)
        error = fit.error_of(base.values(completion.values))
        completion = replace(completion, stddevs=parameter_stddevs(base, error))
        return ParameterEstimate(fit, completion, plain.values, selection, error, fitted.findings)

    def payload_or_free_arm(self, sigma: Array) -> tuple[HeldOut, HeldOut] | None:
        """Return the held-out errors of the payload and of a free arm, see `beside_free_arm`."""
        return beside_free_arm(together(self.arms, FOLDS), self._mixing, sigma)

    def _condense(self, robust: Robust | None, chosen: Sequence[int]) -> list[Condensed]:
        weights = None
        if robust is not None:
            weights = robust_weights(self.model, self.base, robust)
        return [
            condense_parts(
                self.carrier,
                self.prepared.parts[k],
                self.carrier_base,
                self.options,
                weights,
            )
            for k in chosen
        ]


def _prior(model: DynamicModel, kind: str) -> Array:
    """Return the prior of the parameters, shape (p,); NaN where nothing is known.

    Values in the description of a closed-form model count as known.
    """
    prior = model.prior()
    if kind == 'none' and closed_form_part(model) is None:
        return np.zeros(len(prior))
    return prior
