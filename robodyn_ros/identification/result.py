"""The result of an identification, and the parts that it is made of: data only, SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.options import IdentifyOptions, Prior
from robodyn_ros.identification.result_methods import ResultMethods
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.gear_torque import ResidualTorque
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import Payload
from robodyn_ros.recording.recording import Finding, Recording

EstimateKind = Literal['unconstrained', 'consistent', 'consistent_links', 'ridge']


@dataclass(frozen=True)
class FitReport:
    """Torque errors of a model on one recording; arrays have shape (n,), joint order.

    The relative torque errors are those of the softMC document ("Explanation of the
    identification output file", lines 3, 4 and 7): torque error divided by the joint's largest
    absolute torque feedback, both on moving samples of the filtered torque.

    :param source: file of the recording
    :param samples: samples used
    :param moving_samples: of them, between the joint's velocity thresholds
    :param velocity_threshold: in [rad/s] or [m/s]
    :param upper_velocity_threshold: the same; infinite: none
    :param rms_error: on the unfiltered torque of all samples, in [Nm] or [N]
    :param max_relative_torque_error: 1 is 100 % of the joint's largest torque
    :param mean_relative_torque_error: mean of the absolute error, same measure
    :param usual_error: absolute error that 99 % of the moving samples keep, in [Nm] or [N]
    :param usual_torque: absolute torque that 99 % of the moving samples keep, in [Nm] or [N]
    :param relative_residual: ||tau - tau_hat|| / ||tau||, pooled over joints, unfiltered torque
    :param joint_relative_residual: the same for each joint alone
    """

    source: str
    samples: int
    moving_samples: NDArray[np.int64]
    velocity_threshold: Array
    upper_velocity_threshold: Array
    rms_error: Array
    max_relative_torque_error: Array
    mean_relative_torque_error: Array
    usual_error: Array
    usual_torque: Array
    relative_residual: float
    joint_relative_residual: Array

    @classmethod
    def empty(cls, source: str, joints: int) -> FitReport:
        """Return the report of a recording without usable samples."""
        unknown = np.full(joints, np.nan)
        return cls(
            source=source,
            samples=0,
            moving_samples=np.zeros(joints, dtype=np.int64),
            velocity_threshold=unknown,
            upper_velocity_threshold=unknown,
            rms_error=unknown,
            max_relative_torque_error=unknown,
            mean_relative_torque_error=unknown,
            usual_error=unknown,
            usual_torque=unknown,
            relative_residual=np.nan,
            joint_relative_residual=unknown,
        )


@dataclass(frozen=True)
class Selection:
    """Which estimate a result holds, and what it was compared with.

    Errors are root mean squares over all joints, each in units of the standard deviation of its
    unconstrained residual; NaN: not computed.

    :param estimate: 'unconstrained'; 'consistent': a robot that can exist; 'consistent_links':
        the links can exist, but rotor inertias and friction are what fits best; 'ridge': drawn
        to the prior without constraints (see `ridge`)
    :param prior: 'urdf' or 'none'
    :param prior_weight: see `physical`
    :param unseen_error: of the consistent estimate, on stretches it was not fitted to
    :param unseen_error_unconstrained: of the unconstrained one
    :param excess: residual of the consistent estimate on the whole recording, over the smallest
    :param unconstrained_residual: relative residual of the unconstrained estimate, whole recording
    """

    estimate: EstimateKind = 'unconstrained'
    prior: Prior = 'none'
    prior_weight: float = float('nan')
    unseen_error: float = float('nan')
    unseen_error_unconstrained: float = float('nan')
    excess: float = float('nan')
    unconstrained_residual: float = float('nan')


@dataclass(frozen=True)
class FrictionCandidate:
    """A law that was tried.

    :param name: of the law, or its terms; with `+load` load-dependent friction too
    :param terms: parameters per joint
    :param error: geometric mean over the joints of the RMS error on stretches left out in turn,
        over that of the first candidate
    :param residual: the same of the residual
    """

    name: str
    terms: int
    error: float
    residual: float


@dataclass(frozen=True)
class FrictionChoice:
    """Selected friction law, and the laws it was compared with.

    :param law: the law that the model has now
    :param candidates: what it was compared with, in the order tried; the law itself among them
    :param loops: how often the three loops of the search ran for it
    :param automatic: chosen by its error; otherwise it was asked for and only its figures found
    """

    law: str
    candidates: tuple[FrictionCandidate, ...]
    loops: int
    automatic: bool


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


@dataclass(frozen=True)
class GearCandidate:
    """Cross-validated error of one kind of residual torque with one set of inputs.

    :param rms_share: error left on stretches that it was not fitted to, as a share of that
        without it, shape (n,)
    :param mean: mean share over the joints, 1 for those that it makes worse
    """

    kind: Literal['rbf', 'gmr']
    inputs: tuple[str, ...]
    rms_share: Array
    mean: float


@dataclass(frozen=True)
class IdentifiedResidual:
    """Residual torque in a result, and what it is worth.

    :param candidates: what was tried, best first
    :param without: torque errors of the plain estimate, without residual torque
    :param validation_without: the same on the validation recording
    """

    torque: ResidualTorque
    candidates: tuple[GearCandidate, ...]
    without: FitReport
    validation_without: FitReport | None


@dataclass(frozen=True)
class IdentifiedPayload:
    """Identified payload, and the arm that carries it.

    :param payload: with values and standard deviations
    :param without: torque errors of the arm alone on the same recording
    :param base_source: file with the arm's parameters
    :param base_hash: fingerprint of the arm's parameters
    """

    payload: Payload
    without: FitReport
    base_source: str
    base_hash: str


@dataclass(frozen=True)
class Signals:
    """What was identified from, and what the model makes of it.

    :param processed: signals, raw and filtered
    :param predicted: torque of the identified model, shape (N, n), in [Nm] or [N]
    :param origin: what time 0 means, in [ns] since the epoch
    """

    processed: Processed
    predicted: Array
    origin: int = 0


@dataclass(frozen=True)
class IdentificationResult(ResultMethods):
    """What was identified, from what, and how far to trust it; all values SI.

    :param success: every joint's max relative torque error is within `max_relative_error`, and
        no finding has severity 'error'
    :param values: parameter values of the model, shape (p,)
    :param stddevs: their standard deviations, shape (p,); NaN: not identifiable on its own
    :param base_expressions: the identifiable combinations of parameters
    :param base_values: shape (b,)
    :param base_stddevs: shape (b,); NaN where the recording does not determine the value. Those
        of an estimate that is drawn away from least squares (to be consistent, to a prior) count
        how far, so that they are rather wide where it was drawn right
    :param torque_uncertainty: expected on other motions, shape (n,), see `uncertainty`
    :param condition_number: of the weighted regressor, columns as they are
    :param condition_number_scaled: the same, columns scaled to unit length
    :param filter_cutoff: in [Hz]; None: signals were used as given
    :param physically_consistent: whether `values` are those of a possible robot
    :param selection: which estimate this is, and what it was compared with
    :param raw_samples: samples of the recording (the fit uses `identification.samples`)
    :param timings: seconds per step
    :param payload: what was identified on top of the arm's parameters, whose `values` then are
        those of the run without payload; the base values are the payload's
    :param named: parameters of the softMC document; None: the model does not have them, or
        `payload` was identified instead
    :param completion_rule: how values were chosen that torque shows only in combination
    :param signals: what was processed and what the model makes of it, if kept
    :param residual: what the deflection of gears explains beside the model; all errors in the
        result are those with it
    :param residual_of_base: with `payload`: that of the run without, which still holds
    :param friction: how friction was completed; None: the model had all of it
    :param recordings: torque errors of each recording, in the order given
    """

    success: bool
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
    selection: Selection
    raw_samples: int
    date: str
    timings: Mapping[str, float]
    payload: IdentifiedPayload | None = None
    named: NamedParameters | None = None
    completion_rule: str = ''
    signals: Signals | None = field(default=None, repr=False)
    residual: IdentifiedResidual | None = None
    residual_of_base: ResidualTorque | None = None
    friction: FrictionChoice | None = None
    recordings: tuple[FitReport, ...] = ()

    @property
    def has_estimate(self) -> bool:
        """Whether there are values; a recording of too few samples gives none."""
        return bool(np.isfinite(self.values).all())

    @property
    def carried(self) -> Payload | None:
        """The identified payload, if there is one."""
        return None if self.payload is None else self.payload.payload

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts of the identification, as its result file holds them."""
        from robodyn_ros.identification.files.facts import header_facts

        return header_facts(self)

    @property
    def measured(self) -> tuple[Array, Array, Array] | None:
        """Time (N,), measured and model torque (N, n) of the kept signals, or None."""
        if self.signals is None:
            return None
        processed = self.signals.processed
        return processed.time, processed.torque, self.signals.predicted

    @classmethod
    def failed(
        cls,
        recording: Recording,
        model: DynamicModel,
        options: IdentifyOptions,
        findings: Sequence[Finding],
    ) -> IdentificationResult:
        """Return a failed result without estimates: all values are NaN, and it is never exported.

        :param findings: why nothing could be estimated
        """
        unknown = np.full(len(model.parameters), np.nan)
        return cls(
            success=False,
            model=model,
            values=unknown,
            stddevs=unknown,
            base_expressions=(),
            base_units=(),
            base_values=np.zeros(0),
            base_stddevs=np.zeros(0),
            torque_uncertainty=np.full(len(model.joints), np.nan),
            condition_number=np.nan,
            condition_number_scaled=np.nan,
            identification=FitReport.empty(recording.source, len(model.joints)),
            validation=None,
            findings=tuple(findings),
            estimator=options.estimator,
            filter_cutoff=options.filter_cutoff,
            max_relative_error=options.max_relative_error,
            physically_consistent=False,
            selection=Selection(),
            raw_samples=len(recording),
            date=datetime.now(timezone.utc).isoformat(timespec='seconds'),
            timings={},
        )


@dataclass(frozen=True)
class IdentifiedModel(ResultMethods):
    """A model with identified values: all that feed-forward and collision monitoring need.

    :param values: parameter values, shape (p,), SI, in the order of `model.parameters`
    :param stddevs: shape (p,); NaN: not identifiable on its own
    :param hash: fingerprint of the model and the values
    :param payload: on top of the values, if the result has one
    :param facts: the block `identification` of the file: how the values were found
    :param residual: torque that the deflection of gears shows, for robots with double encoders
    """

    model: DynamicModel
    values: Array
    stddevs: Array
    hash: str
    source: str = 'result'
    payload: Payload | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    residual: ResidualTorque | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the torque columns."""
        return self.model.joint_names

    @property
    def carried(self) -> Payload | None:
        """The payload of the result, if it has one."""
        return self.payload

    @property
    def measured(self) -> None:
        """None: a result file holds no signals."""
        return None
