# SPDX-License-Identifier: Apache-2.0
"""Result of a run, and of recordings from which nothing could be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

import numpy as np

from robodyn_ros.findings import Finding
from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.payload.estimate import is_possible
from robodyn_ros.identification.physical.named_parameters import classify, compute_named
from robodyn_ros.identification.result.content import ResultSignals
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.identification.result.verdict import JointVerdict, Use, Verdict
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.recording import Recording


def result_of(
    run: IdentificationRun, findings: tuple[Finding, ...], verdict: Verdict
) -> IdentificationResult:
    """Return the result of a run with its findings and its verdict."""
    task, estimated, base = run.task, run.estimated, run.regression.base
    completion, payload, model = estimated.completion, run.payload, run.prepared.model
    shown = run.prepared.parts[0].shown
    signals = ResultSignals(shown, run.predicted[0], task.recordings[0].origin)
    arm = task.arm or IdentifiedModel(model, completion.values, completion.stddevs, hash='')
    possible = completion.physically_consistent
    named = None
    if payload is None:
        named = compute_named(model, completion.values, base, estimated.error)
        possible = possible and (named is None or 'impossible' not in named.status)
    else:
        possible = is_possible(payload.payload)
    return IdentificationResult(
        success=verdict.success,
        verdict=verdict,
        model=arm.model,
        values=arm.values,
        stddevs=arm.stddevs,
        base_expressions=base.expressions,
        base_units=base.units,
        base_values=base.values(completion.values),
        base_stddevs=np.sqrt(np.diag(estimated.error)),
        torque_uncertainty=run.uncertainty,
        condition_number=estimated.fit.condition_number,
        condition_number_scaled=estimated.fit.condition_number_scaled,
        identification=run.report,
        recordings=tuple(run.reports),
        success_rule=task.options.success_rule,
        validation=run.validation,
        findings=findings,
        estimator=task.options.estimator,
        filter_cutoff=shown.cutoff,
        max_relative_error=task.options.max_relative_error,
        physically_consistent=possible,
        weighted=run.estimated.weighted,
        raw_samples=sum(len(recording) for recording in task.recordings),
        date=_now(),
        timings={**run.clock.timings, 'total': run.clock.total},
        payload=payload,
        named=named,
        base_status=classify(
            base.values(completion.values),
            np.sqrt(np.diag(estimated.error)),
            estimated.fit.values,
            base.values(np.nan_to_num(model.prior())),
        ),
        completion_rule=completion.rule if payload is None else '',
        signals=signals if task.options.keep_signals else None,
        residual_of_base=arm.residual,
    )


def build_failed_result(
    recording: Recording,
    model: DynamicModel,
    options: IdentifyOptions,
    findings: Sequence[Finding],
) -> IdentificationResult:
    """Return a result without estimates: all values are NaN, and it is never exported."""
    unknown = np.full(len(model.parameters), np.nan)
    none = Use('not usable', ('nothing could be identified',))
    return IdentificationResult(
        success=False,
        verdict=Verdict(tuple(JointVerdict(name, none, none) for name in model.joint_names), none),
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
        success_rule=options.success_rule,
        physically_consistent=False,
        weighted=Weighted(),
        raw_samples=len(recording),
        date=_now(),
        timings={},
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec='seconds')
