# SPDX-License-Identifier: Apache-2.0
"""All findings of an identification, put together: causes of a bad result first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.checks import (
    MOTION_CODES,
    data_findings,
    distinct,
    fit_findings,
    merged,
    of_recordings,
    with_stuck,
)
from robodyn_ros.identification.diagnosis.diagnose import diagnose, diagnose_payload
from robodyn_ros.identification.diagnosis.together import different_findings
from robodyn_ros.identification.diagnosis.validation import validation_findings
from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.success import relative_error
from robodyn_ros.identification.fit.time_offset import offset_findings
from robodyn_ros.identification.friction.law_selection import friction_findings
from robodyn_ros.identification.gears.maps import GearCandidate
from robodyn_ros.identification.payload.findings import (
    arm_findings,
    base_findings,
    body_findings,
    payload_data_findings,
    share_findings,
)
from robodyn_ros.identification.physical.chosen_estimate import selection_findings
from robodyn_ros.identification.result.content import IdentifiedPayload
from robodyn_ros.identification.result.verdict import Verdict
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.gear_torque import GearTorqueLaw
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.springs import SPRING_PARAMETERS


def run_findings(run: IdentificationRun) -> tuple[Finding, ...]:
    """Return the findings of an identification, one per code and joint."""
    payload = run.payload
    if payload is None:
        return distinct((*_causes(run), *_robot_findings(run)))
    return tuple(dict.fromkeys((*_causes(run), *_payload_findings(run, payload))))


def settle_doubts(findings: Sequence[Finding], verdict: Verdict) -> tuple[Finding, ...]:
    """Return the findings, doubts about joints that are usable all the same as information."""
    usable = {each.joint for each in verdict.joints if each.monitoring.word == 'usable'}
    if len(usable) == len(verdict.joints):
        usable.add('')
    if verdict.payload is not None:  # the joints' verdict is that of the base
        usable.clear()
    return merged(
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
    arm, regression, values = run.task.arm, run.regression, run.estimated.values
    if arm is not None and run.payload is not None:
        values = arm.values + run.payload.payload.added
    cases, known = [], []
    for index, recording in enumerate(run.task.recordings):
        parts, report = run.prepared.parts[index], run.reports[index]
        shown = parts.shown
        if arm is None:
            facts = report, run.prepared.model, regression.carrier_base, run.task.options
            named = with_stuck(shown, *facts)
            shown = replace(shown.to_estimate(), findings=tuple(named))
        cases.append(
            Case(
                parts.recording,
                regression.carrier,
                run.task.options,
                shown,
                regression.carrier_base,
                regression.arms[index],
                values,
                relative_error(report, run.prepared.model if arm is None else arm.model),
            )
        )
        at_rest = {item.joint: item for item in shown.findings if item.code == 'frozen_joint'}
        findings = (
            at_rest.get(item.joint, item) if item.code == 'frozen_joint' else item
            for item in parts.shown.findings
        )
        known.append((*recording.findings, *findings))
    sources = [recording.source for recording in run.task.recordings]
    causes = list(map(diagnose if arm is None else diagnose_payload, cases))
    yield from different_findings(run.regression.apart(), run.estimated.fit.sigma, sources)
    yield from of_recordings(causes, sources)
    if run.tested is not None and run.validation is not None:
        tested = run.tested, run.validation.source
        yield from validation_findings(run.prepared.model, run.estimated.values, *tested)
    yield from of_recordings(known, sources)


def _robot_findings(run: IdentificationRun) -> Iterator[Finding]:
    prepared, regression, estimated = run.prepared, run.regression, run.estimated
    yield from data_findings(regression.factors(), estimated.fit, regression.base, prepared.frozen)
    for report in filter(None, (run.report, run.validation)):
        yield from fit_findings(report, run.task.options, prepared.model)
    yield from estimated.completion.findings
    for parts in prepared.parts:
        yield from parts.findings()
    yield from (*estimated.findings, *run.untested)
    period = run.task.recordings[0].period
    yield from offset_findings(prepared.offsets, prepared.model, period)
    yield from selection_findings(run.selection, run.report.relative_residual)
    yield from friction_findings(prepared.friction)
    yield from _springs(prepared.model, estimated.values)


def _springs(model: DynamicModel, values: Array) -> Iterator[Finding]:
    """Name the largest parameters of springs, which not all exported files hold."""
    largest = [
        (item, value)
        for item, value in zip(model.parameters, values.tolist(), strict=True)
        if item.name.rpartition('.')[2] in SPRING_PARAMETERS
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
        yield from body_findings(model, estimated.values, estimated.selection)
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
