# SPDX-License-Identifier: Apache-2.0
"""IdentificationResult as the message `IdentificationReport`."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn_ros.identification.files.export import Exported
from robodyn_ros.identification.files.next_steps import format_result
from robodyn_ros.identification.physical.named_parameters import classify
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.interface import Array
from robodyn_ros.msg import Finding, IdentificationReport, Parameter

SEVERITY = {'info': Finding.INFO, 'warning': Finding.WARNING, 'error': Finding.ERROR}


def report_message(result: IdentificationResult, files: Exported) -> IdentificationReport:
    """Build the message; files that were not written are empty strings."""
    fit, verdict = result.identification, result.verdict
    message = IdentificationReport(
        success=result.success,
        model=str(result.model.describe()['kind']),
        result_file=str(files.result or ''),
        urdf_file=str(files.urdf or ''),
        prg_file=str(files.prg or ''),
        signals_file=str(files.signals or ''),
        report_file=str(files.page or ''),
        summary=format_result(result, files),
        recording=fit.source,
        samples=fit.samples,
        raw_samples=result.raw_samples,
        filter_cutoff_frequency=float(result.filter_cutoff or 0.0),
        condition_number=result.condition_number,
        joint=list(result.model.joint_names),
        error=[each.error for each in verdict.joints],
        other_error=[each.other_error for each in verdict.joints],
        feedforward=[each.feedforward.text for each in verdict.joints],
        monitoring=[each.monitoring.text for each in verdict.joints],
        inertials=verdict.inertials.text,
        payload='' if verdict.payload is None else verdict.payload.text,
        moving_samples=fit.moving_samples.tolist(),
        velocity_threshold=fit.velocity_threshold.tolist(),
        upper_velocity_threshold=fit.upper_velocity_threshold.tolist(),
        max_relative_torque_error_allowed=result.max_relative_error,
        max_relative_torque_error=fit.max_relative_torque_error.tolist(),
        mean_relative_torque_error=fit.mean_relative_torque_error.tolist(),
        rms_error=fit.rms_error.tolist(),
        relative_residual=fit.relative_residual,
        validated=result.validation is not None,
        completion_rule=result.completion_rule,
    )
    _add_parameters(message, result)
    message.findings = [
        Finding(
            severity=SEVERITY[item.severity], code=item.code, joint=item.joint, text=item.message
        )
        for item in result.findings
    ]
    check = result.validation
    if check is not None:
        message.validation_max_relative_torque_error = check.max_relative_torque_error.tolist()
        message.validation_mean_relative_torque_error = check.mean_relative_torque_error.tolist()
        message.validation_rms_error = check.rms_error.tolist()
        message.validation_relative_residual = check.relative_residual
    return message


def _add_parameters(message: IdentificationReport, result: IdentificationResult) -> None:
    """Add the parameters of the model, of the links, and the base parameters."""
    model, named = result.model.parameters, result.named
    names, units = [item.name for item in model], [item.unit for item in model]
    status = classify(result.values, result.stddevs)
    message.parameters = _parameters(names, units, result.values, result.stddevs, status)
    if named is not None:
        message.dynamic_parameters = _parameters(
            named.names, named.units, named.values, named.stddevs, named.status
        )
    message.base_parameters = _parameters(
        result.base_expressions,
        None,
        result.base_values,
        result.base_stddevs,
        result.base_status,
    )


def _parameters(
    names: Sequence[str],
    units: Sequence[str] | None,
    values: Array,
    stddevs: Array,
    status: Sequence[str] | None = None,
) -> list[Parameter]:
    """Return messages of parameters; without units or status they are empty."""
    unknown = [''] * len(names)
    columns = (names, units or unknown, values.tolist(), stddevs.tolist(), status or unknown)
    return [
        Parameter(name=name, unit=unit, value=value, stddev=stddev, status=known)
        for name, unit, value, stddev, known in zip(*columns, strict=True)
    ]
