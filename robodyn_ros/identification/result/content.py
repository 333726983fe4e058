# SPDX-License-Identifier: Apache-2.0
"""Content of a result: data only, SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.gears.maps import GearCandidate
from robodyn_ros.identification.options import SuccessRule
from robodyn_ros.identification.physical.named_parameters import NamedParameters
from robodyn_ros.identification.result.verdict import Verdict
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload


@dataclass(frozen=True)
class IdentifiedResidual:
    """Residual torque in a result, and what it is worth."""

    torque: GearTorqueLaw
    candidates: tuple[GearCandidate, ...]
    without: FitReport
    validation_without: FitReport | None


@dataclass(frozen=True)
class IdentifiedPayload:
    """Identified payload, and the arm that carries it.

    :param without: torque errors of the arm alone on the same recording
    """

    payload: Payload
    without: FitReport
    base_source: str
    base_hash: str


@dataclass(frozen=True)
class ResultSignals:
    """Processed signals of the recording, with the model torque.

    :param predicted: torque of the identified model, shape (N, n), in [Nm] or [N]
    :param origin: time 0, in [ns] since the epoch
    """

    processed: Processed
    predicted: Array
    origin: int = 0


@dataclass(frozen=True)
class ResultContent:
    """Identified parameters, their source and their uncertainty; all values SI.

    :param success: each joint that moved can be used for a purpose, at least with care
    :param verdict: what each joint, the links and a payload can be used for
    :param values: parameter values of the model, shape (p,)
    :param stddevs: their standard deviations, shape (p,); NaN: not identifiable on its own
    :param base_values: shape (b,)
    :param base_status: status of each base value, see `physical.status.classify`
    :param base_stddevs: shape (b,); NaN where the recording does not determine the value. A
        consistent or regularised estimate differs from least squares; this difference is included
    :param torque_uncertainty: expected on other motions, shape (n,), see `extrapolation`
    :param condition_number: of the weighted regressor, columns as they are
    :param filter_cutoff: in [Hz]; None: signals were used as given
    :param physically_consistent: whether `values` are those of a possible robot
    :param weighted: candidates that the parameters are the mean of
    :param raw_samples: samples of the recording (the fit uses `identification.samples`)
    :param timings: seconds per step
    :param payload: payload in addition to the arm's parameters, whose `values` then are
        those of the run without payload; the base values are the payload's
    :param named: parameters of the softMC document; None: the model does not have them, or
        `payload` was identified instead
    :param completion_rule: rule for values that the torque determines only in combination
    :param residual: torque of gear deflection in addition to the model; all errors in the
        result include it
    :param residual_of_base: with `payload`: torque of gear deflection of the base result
    """

    success: bool
    verdict: Verdict
    model: DynamicModel
    values: Array
    stddevs: Array
    base_expressions: tuple[str, ...]
    base_units: tuple[str, ...]
    base_values: Array
    base_stddevs: Array
    torque_uncertainty: Array
    condition_number: float
    condition_number_scaled: float
    identification: FitReport
    validation: FitReport | None
    findings: tuple[Finding, ...]
    estimator: str
    filter_cutoff: float | None
    max_relative_error: float
    physically_consistent: bool
    weighted: Weighted
    raw_samples: int
    date: str
    timings: Mapping[str, float]
    payload: IdentifiedPayload | None = None
    named: NamedParameters | None = None
    completion_rule: str = ''
    signals: ResultSignals | None = field(default=None, repr=False)
    residual: IdentifiedResidual | None = None
    residual_of_base: GearTorqueLaw | None = None
    recordings: tuple[FitReport, ...] = ()
    success_rule: SuccessRule = 'torque'
    base_status: tuple[str, ...] = ()

    @property
    def has_estimate(self) -> bool:
        """True if there are values; a recording of too few samples gives none."""
        return bool(np.isfinite(self.values).all())
