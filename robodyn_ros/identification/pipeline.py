# SPDX-License-Identifier: Apache-2.0
"""Identification: from recordings to an identified model, the steps in their order.

Signals are filtered and differentiated (`signals`), condensed to one triangular factor per joint
(`factors`), fitted (`fit`), and completed to all parameters (`physical`). A payload and the torque
of gear deflection are the same fit with a known torque: that of the identified arm, and that of
the gears, which is fitted in turn with the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from threadpoolctl import threadpool_limits

from robodyn_ros.errors import IdentificationError, InsufficientData
from robodyn_ros.findings import Finding
from robodyn_ros.identification.diagnosis.checks import failure_findings
from robodyn_ros.identification.gears.in_turn import Explained, in_turn
from robodyn_ros.identification.options import IdentifyOptions, LeaveOneOut
from robodyn_ros.identification.result.content import IdentifiedResidual
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.steps.all_findings import (
    gear_finding,
    no_gear_finding,
    run_findings,
    settle_doubts,
)
from robodyn_ros.identification.steps.evidence import verdict_of
from robodyn_ros.identification.steps.held_out import check_held_out
from robodyn_ros.identification.steps.preparation import Known, Task
from robodyn_ros.identification.steps.result_of_run import build_failed_result, result_of
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording


def identify(
    recordings: Recording | Sequence[Recording],
    model: DynamicModel,
    *,
    known: Known | None = None,
    options: IdentifyOptions | None = None,
    validation: Recording | LeaveOneOut | None = None,
) -> IdentificationResult:
    """Identify a model's parameters from recordings; joints are matched by name.

    A result that must not be used has `success` False and findings that say why, the cause first.
    Where there is too little to estimate anything, all its values are NaN (`has_estimate`).

    With a `PayloadModel` only the payload is estimated, on top of the arm in `known`. The result
    then has the arm's parameters as they are, in `payload` what was identified, and as base
    parameters the combinations of the payload's parameters that the motion excites.

    Progress is reported in the phases condense, evaluate and validate (`long_work.show_progress`).

    Recordings with the motor side of each joint get a torque of gear deflection too, unless the
    options say otherwise.

    :param known: torque that is not estimated: that of an identified arm with its values, or the
        torque of gear deflection
    :param validation: another recording, on which the identified model is only tested;
        'leave-one-out': each recording is tested with the parameters of all others
    :raises RobodynError: a joint is not in a recording, an option cannot be used, or at
        least half of the validation are samples of recordings that are fitted
    """
    given = (recordings,) if isinstance(recordings, Recording) else tuple(recordings)
    arm = model.arm if isinstance(model, PayloadModel) else model
    options = options_for(arm, options or IdentifyOptions())
    task = Task(given, model, options, known, validation)
    shared = check_held_out(given, validation, model.joint_names)
    try:
        # Matrices are small: where others use the cores, threads that wait for each other take
        # ten times as long.
        with threadpool_limits(limits=1, user_api='blas'):
            result = _identify(task)
    except InsufficientData as error:
        findings = failure_findings(given[0], arm, str(error))
        return build_failed_result(given[0], arm, options, findings)
    return replace(result, findings=(*result.findings, *shared))


def _identify(task: Task) -> IdentificationResult:
    """Run the steps, twice where gear deflection explains torque."""
    if _has_gears(task):
        return _with_gear_torque(task)
    run = IdentificationRun.of(task)
    with run.clock.step('diagnose'):
        findings = run_findings(run)
    return _result(run, findings)


def _result(run: IdentificationRun, findings: tuple[Finding, ...]) -> IdentificationResult:
    with run.clock.step('verdict'):
        verdict = verdict_of(run, findings)
    return result_of(run, settle_doubts(findings, verdict), verdict)


def _has_gears(task: Task) -> bool:
    """Return True if a torque of gear deflection is to be fitted."""
    kind = task.options.gear_torque
    if kind == 'none' or task.known is not None:
        return False
    for recording in task.recordings:
        if recording.motor_position is None:
            if kind != 'auto':
                raise IdentificationError(
                    f'{recording.source}: the torque of gear deflection needs the positions of '
                    f'the motors, which this recording does not have'
                )
            return False
    return True


def _with_gear_torque(task: Task) -> IdentificationResult:
    """Identify with a torque of gear deflection, which is known torque for the parameters."""
    plain = IdentificationRun.of(task)
    recordings = [each.select(task.model.joint_names) for each in task.recordings]
    explained = [
        Explained(recording, parts.shown, predicted)
        for recording, parts, predicted in zip(
            recordings, plain.prepared.parts, plain.predicted, strict=True
        )
    ]
    values = plain.estimated.values
    torque, candidates, _ = in_turn(plain.prepared.model, values, explained, task.options)
    if torque is None:
        return _result(plain, (*run_findings(plain), no_gear_finding(candidates)))
    run = IdentificationRun.of(replace(task, known=torque))
    finding = gear_finding(torque, plain.report, run.report)
    result = _result(run, (*run_findings(run), finding))
    return replace(
        result,
        residual=IdentifiedResidual(torque, candidates, plain.report, plain.validation),
        timings={**result.timings, 'plain': plain.clock.total},
    )
