"""The result of a recording that has too little to estimate anything from."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import numpy as np

from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.selection import Selection
from robodyn_ros.identification.result import IdentificationResult
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.recording import Finding, Recording


def nothing_identified(
    recording: Recording, model: DynamicModel, options: IdentifyOptions, reason: str
) -> IdentificationResult:
    """Failed identification without estimates: all values are NaN, and it is never exported.

    :param recording: with the joints of the model
    :param reason: why nothing could be estimated, in a sentence
    """
    findings = (*_causes(recording, model, reason), *recording.findings)
    return IdentificationResult(
        success=False,
        model=model,
        values=np.full(len(model.parameters), np.nan),
        stddevs=np.full(len(model.parameters), np.nan),
        base_expressions=(),
        base_units=(),
        base_values=np.zeros(0),
        base_stddevs=np.zeros(0),
        torque_uncertainty=np.full(len(model.joints), np.nan),
        condition_number=np.nan,
        condition_number_scaled=np.nan,
        identification=_no_fit(recording.source, len(model.joints)),
        validation=None,
        findings=findings,
        estimator=options.estimator,
        filter_cutoff=options.filter_cutoff,
        max_relative_error=options.max_relative_error,
        physically_consistent=False,
        selection=Selection(),
        raw_samples=len(recording),
        date=datetime.now(timezone.utc).isoformat(timespec='seconds'),
        timings={},
    )


def _causes(recording: Recording, model: DynamicModel, reason: str) -> Iterator[Finding]:
    position = recording.select(model.joint_names).position
    still = np.flatnonzero(np.ptp(position, axis=0) == 0.0)
    for column in still:
        name = model.joint_names[column]
        text = f'joint {name} stays at {position[0, column]:.6g} in the whole recording'
        yield Finding('frozen_joint', text, name, 'error')
    joints = ', '.join(model.joint_names)
    text = (
        f'nothing could be identified of any joint ({joints}): {reason}; record longer, with '
        f'all joints moving'
    )
    yield Finding('too_few_samples', text, severity='error')


def _no_fit(source: str, joints: int) -> FitReport:
    unknown = np.full(joints, np.nan)
    return FitReport(
        source=source,
        samples=0,
        moving_samples=np.zeros(joints, dtype=np.int64),
        velocity_threshold=unknown,
        upper_velocity_threshold=unknown,
        rms_error=unknown,
        max_relative_torque_error=unknown,
        mean_relative_torque_error=unknown,
        relative_residual=np.nan,
        joint_relative_residual=unknown,
    )
