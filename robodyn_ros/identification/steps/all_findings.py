# SPDX-License-Identifier: Apache-2.0
"""All findings of an identification, put together: causes of a bad result first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from robodyn_ros.findings import Finding, finding, has_error
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.checks import (
    MOTION_CODES,
    data_findings,
    distinct,
    fit_findings,
    merge,
    of_recordings,
    with_stuck,
)
from robodyn_ros.identification.diagnosis.diagnose import (
    diagnose,
    diagnose_payload,
    diagnose_validation,
)
from robodyn_ros.identification.diagnosis.together import different_findings
from robodyn_ros.identification.fit.time_offset import offset_findings
from robodyn_ros.identification.fit.torque_errors import FitReport, relative_error
from robodyn_ros.identification.gears.maps import GearCandidate
from robodyn_ros.identification.payload.findings import (
    arm_findings,
    base_findings,
    body_findings,
    payload_data_findings,
    share_findings,
)
from robodyn_ros.identification.result.content import IdentifiedPayload
from robodyn_ros.identification.result.verdict import Verdict
from robodyn_ros.identification.result.weighted import weight_findings
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.springs import SLIP_PARAMETERS, SPRING_PARAMETERS
from robodyn_ros.recording.recording import Recording


def run_findings(run: IdentificationRun) -> tuple[Finding, ...]:
    """Return the findings of an identification, one per code and joint."""
    payload = run.payload
    if payload is None:
        causes = tuple(_causes(run))
        # Errors of the torque are the consequence of a cause that is an error.
        errors = () if has_error(causes) else _torque_errors(run)
        return distinct((*causes, *_data_findings(run), *errors, *_robot_findings(run)))
    return tuple(dict.fromkeys((*_causes(run), *_payload_findings(run, payload))))


def settle_doubts(findings: Sequence[Finding], verdict: Verdict) -> tuple[Finding, ...]:
    """Return the findings, doubts about joints that are usable all the same as information."""
    usable = {each.joint for each in verdict.joints if each.monitoring.word == 'usable'}
    if len(usable) == len(verdict.joints):
        usable.add('')
    if verdict.payload is not None:  # the joints' verdict is that of the base
        usable.clear()
    return merge(
        tuple(
            replace(item, severity='info')
            if item.code in DOUBTS and item.severity == 'warning' and item.joint in usable
            else item
            for item in findings
        )
    )


DOUBTS = (*MOTION_CODES, 'little_torque', 'ill_conditioned')
"""Findings that ask whether the data are enough, which the verdict answers."""


def _causes(run: IdentificationRun) -> Iterator[Finding]:
    """Yield findings of the diagnosis, the reader and the processing, recording by recording."""
    arm, regression = run.task.arm, run.regression
    cases, known = [], []
    for index, recording in enumerate(run.task.recordings):
        parts, report = run.prepared.parts[index], run.reports[index]
        signals = parts.shown
        if arm is None:
            facts = report, run.prepared.model, regression.carrier_base, run.task.options
            signals = replace(signals, findings=tuple(with_stuck(signals, *facts)))
        cases.append(_case(run, parts.recording, signals, report))
        known.append((*recording.findings, *signals.findings))
    sources = [recording.source for recording in run.task.recordings]
    causes = list(map(diagnose if arm is None else diagnose_payload, cases))
    yield from different_findings(regression.apart(), run.estimated.fit.sigma, sources)
    yield from of_recordings(causes, sources)
    yield from of_recordings(known, sources)
    validation = run.task.validation
    if run.tested is not None and run.validation is not None and isinstance(validation, Recording):
        case = _case(run, validation.select(run.tested.joints), run.tested, run.validation)
        yield from diagnose_validation(case)


def _case(
    run: IdentificationRun, recording: Recording, signals: Processed, report: FitReport
) -> Case:
    arm, values, model = run.task.arm, run.estimated.values, run.prepared.model
    if arm is None:
        signals = replace(signals.to_estimate(), findings=signals.findings)
    elif run.payload is not None:
        values, model = arm.values + run.payload.payload.added, arm.model
    errors = relative_error(report, model)
    return Case(recording, run.regression.carrier, run.task.options, signals, values, errors)


def _torque_errors(run: IdentificationRun) -> Iterator[Finding]:
    for report in filter(None, (run.report, run.validation)):
        yield from fit_findings(report, run.task.options, run.prepared.model)


def _data_findings(run: IdentificationRun) -> Iterator[Finding]:
    regression, frozen = run.regression, run.prepared.frozen
    known = () if run.prepared.parts[0].shown.velocity.any() else ('rank_deficient',)
    listed = data_findings(regression.factors(), run.estimated.fit, regression.base, frozen)
    yield from (item for item in listed if item.code not in known)  # of static poses


def _robot_findings(run: IdentificationRun) -> Iterator[Finding]:
    prepared, estimated = run.prepared, run.estimated
    yield from estimated.completion.findings
    for parts in prepared.parts:
        yield from parts.findings()
    yield from (*estimated.findings, *run.untested)
    if run.repeats:
        yield finding('validation_repeats')
    period = run.task.recordings[0].period
    yield from offset_findings(prepared.offsets, prepared.model, period)
    yield from weight_findings(estimated.weighted)
    yield from _springs(prepared.model, estimated.values)


def _springs(model: DynamicModel, values: Array) -> Iterator[Finding]:
    """Name the largest parameters of springs, which not all exported files hold."""
    largest = [
        (item, value)
        for item, value in zip(model.parameters, values.tolist(), strict=True)
        if item.name.rpartition('.')[2] in SPRING_PARAMETERS - {*SLIP_PARAMETERS}
    ]
    largest.sort(key=lambda pair: -abs(pair[1]))
    if largest:
        shown = [f'{item.name} {value:.4g} {item.unit}' for item, value in largest[:3]]
        yield finding('springs', values=', '.join(shown))


def _payload_findings(run: IdentificationRun, payload: IdentifiedPayload) -> Iterator[Finding]:
    base, estimated, model = run.regression.base, run.estimated, payload.payload.model
    if run.task.arm is not None:
        yield from base_findings(run.task.arm)
        yield from arm_findings(run.regression.payload_or_free_arm(estimated.fit.sigma))
    yield from payload_data_findings(base, run.regression.factors())
    if len(estimated.values) == 10:
        yield from body_findings(model, estimated.values, estimated.weighted)
    else:
        yield from estimated.completion.findings
    yield from share_findings(payload, base, estimated.fit, run.report)
    yield from run.untested


def gear_finding(torque: GearTorqueLaw, plain: FitReport, report: FitReport) -> Finding:
    """Return what the torque of gear deflection is worth."""
    return finding(
        'residual_torque',
        kind=torque.kind,
        inputs=', '.join(torque.inputs).replace('_', ' '),
        after=report.rms_error.mean(),
        before=plain.rms_error.mean(),
    )


def no_gear_finding(candidates: Sequence[GearCandidate]) -> Finding:
    """Return why there is no torque of gear deflection."""
    best = min((each.mean for each in candidates), default=1.0)
    return finding('no_residual_torque', error=best)
