"""IdentificationResult as the message `IdentificationReport`."""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.identification.result import IdentificationResult
from robodyn_ros.msg import Finding, IdentificationReport

SEVERITY = {'info': Finding.INFO, 'warning': Finding.WARNING, 'error': Finding.ERROR}


def report_message(
    result: IdentificationResult, *, result_file: Path | None, urdf_file: Path | None
) -> IdentificationReport:
    """Build the message; files that were not written are empty strings."""
    fit = result.identification
    message = IdentificationReport(
        success=result.success,
        model=str(result.model.describe()['kind']),
        result_file='' if result_file is None else str(result_file),
        urdf_file='' if urdf_file is None else str(urdf_file),
        recording=fit.source,
        samples=fit.samples,
        condition_number=result.condition_number,
        joint=list(result.model.joint_names),
        moving_samples=fit.moving_samples.tolist(),
        velocity_threshold=fit.velocity_threshold.tolist(),
        max_relative_torque_error=fit.max_relative_torque_error.tolist(),
        mean_relative_torque_error=fit.mean_relative_torque_error.tolist(),
        rms_error=fit.rms_error.tolist(),
        relative_residual=fit.relative_residual,
        validated=result.validation is not None,
        parameter_name=[item.name for item in result.model.parameters],
        parameter_unit=[item.unit for item in result.model.parameters],
        parameter_value=result.values.tolist(),
        parameter_stddev=result.stddevs.tolist(),
        base_parameter_expression=list(result.base_expressions),
        base_parameter_value=result.base_values.tolist(),
        base_parameter_stddev=result.base_stddevs.tolist(),
        findings=[
            Finding(
                severity=SEVERITY[item.severity], code=item.code, joint=item.joint, text=item.text
            )
            for item in result.findings
        ],
    )
    check = result.validation
    if check is not None:
        message.validation_max_relative_torque_error = check.max_relative_torque_error.tolist()
        message.validation_mean_relative_torque_error = check.mean_relative_torque_error.tolist()
        message.validation_rms_error = check.rms_error.tolist()
        message.validation_relative_residual = check.relative_residual
    return message
