"""Result of a run, and of a run with a torque of gear deflection."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.gears.in_turn import Explained, in_turn
from robodyn_ros.identification.payload.estimate import is_possible
from robodyn_ros.identification.physical.named_parameters import named_parameters
from robodyn_ros.identification.result.content import IdentifiedResidual, Signals
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.identification.steps.all_findings import (
    gear_finding,
    no_gear_finding,
    run_findings,
)
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.identification.steps.run import Run
from robodyn_ros.recording.recording import Finding


def identified(task: Task) -> IdentificationResult:
    """Run the steps, and build the result, with a torque of gear deflection where there is one.

    :raises RobodynError: a joint is not in a recording, or an option cannot be used
    """
    if _has_gears(task):
        return _with_gear_torque(task)
    run = Run.of(task)
    with run.clock.step('diagnose'):
        findings = run_findings(run)
    return _result(run, findings)


def _result(run: Run, findings: tuple[Finding, ...]) -> IdentificationResult:
    task, found, base = run.task, run.found, run.regression.base
    completion, payload, model = found.completion, run.payload, run.prepared.model
    shown = run.prepared.parts[0].shown
    signals = Signals(shown, run.predicted[0], task.recordings[0].origin)
    arm = task.arm or IdentifiedModel(model, completion.values, completion.stddevs, hash='')
    possible = completion.physically_consistent
    named = None
    if payload is None:
        named = named_parameters(model, completion.values, base, found.error)
        possible = possible and (named is None or 'impossible' not in named.status)
    else:
        possible = is_possible(payload.payload)
    return IdentificationResult(
        success=not any(item.severity == 'error' for item in findings),
        model=arm.model,
        values=arm.values,
        stddevs=arm.stddevs,
        base_expressions=base.expressions,
        base_units=base.units,
        base_values=base.values(completion.values),
        base_stddevs=np.sqrt(np.diag(found.error)),
        torque_uncertainty=run.uncertainty,
        condition_number=found.fit.condition_number,
        condition_number_scaled=found.fit.condition_number_scaled,
        identification=run.report,
        recordings=tuple(run.reports),
        validation=run.validation,
        findings=findings,
        estimator=task.options.estimator,
        filter_cutoff=shown.cutoff,
        max_relative_error=task.options.max_relative_error,
        physically_consistent=possible,
        selection=run.selection,
        raw_samples=sum(len(recording) for recording in task.recordings),
        date=datetime.now(timezone.utc).isoformat(timespec='seconds'),
        timings={**run.clock.timings, 'total': run.clock.total},
        payload=payload,
        named=named,
        completion_rule=completion.rule if payload is None else '',
        signals=signals if task.options.keep_signals else None,
        residual_of_base=arm.residual,
        friction=run.prepared.friction,
    )


def _has_gears(task: Task) -> bool:
    """Return True if a torque of gear deflection is to be fitted.

    :raises IdentificationError: it is asked for, and a recording has no motor side
    """
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
    plain = Run.of(task)
    recordings = [each.select(task.model.joint_names) for each in task.recordings]
    explained = [
        Explained(recording, parts.shown, predicted)
        for recording, parts, predicted in zip(
            recordings, plain.prepared.parts, plain.predicted, strict=True
        )
    ]
    values = plain.found.values
    torque, candidates, _ = in_turn(plain.prepared.model, values, explained, task.options)
    if torque is None:
        return _result(plain, (*run_findings(plain), no_gear_finding(candidates)))
    run = Run.of(replace(task, known=torque))
    finding = gear_finding(torque, plain.report, run.report)
    result = _result(run, (*run_findings(run), finding))
    return replace(
        result,
        residual=IdentifiedResidual(torque, candidates, plain.report, plain.validation),
        timings={**result.timings, 'plain': plain.clock.total},
    )
