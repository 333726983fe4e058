# SPDX-License-Identifier: Apache-2.0
"""Time from a commanded position to its effect on the drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.interpolate import make_interp_spline

from robodyn_ros.analysis.gains.runs import check_same_signal, drive_options
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.condense import acting_columns
from robodyn_ros.identification.factors.joint_fit import fit_joint
from robodyn_ros.identification.options import SAMPLES
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

LONGEST, STEP = 0.15, 1e-3
"""Longest delay that is searched, and steps of it, in [s]: five images of a camera."""

SEGMENTS = 4
"""Segments of each recording, whose spread is the standard error of the delay."""


def with_delay(
    recordings: Sequence[Recording], model: DynamicModel
) -> tuple[list[Recording], list[Finding]]:
    """Return recordings with the delay of their commands, if none is given, and what was found.

    A delay whose standard error is above one sample is not used.

    :raises RecordingError: some have a torque, others the error of position
    """
    check_same_signal(recordings)
    drive, period = recordings[0].drive, 1e3 * recordings[0].period
    if drive is None:
        return [*recordings], []
    findings = [finding('torque_of_position_error')]
    findings += [x for each in recordings for x in each.findings if x.code == 'missing_commands']
    if drive.delay.any():
        return [*recordings], findings
    options = drive_options(recordings[0])
    delay, error = command_delay(Task(tuple(recordings), model, options))
    certain = 1e3 * error <= period
    key = 'gain_delay' if certain else 'gain_delay.unknown'
    findings.append(finding(key, delay=1e3 * delay, error=1e3 * error, period=period))
    if certain:
        drive = replace(drive, delay=np.full(len(drive.gain), delay), delay_error=error)
    return [each.with_drive(drive) for each in recordings], findings


def command_delay(task: Task) -> tuple[float, float]:
    """Return the delay of the commands of all joints and its standard error, in [s].

    With it, the model of each joint alone explains the error of position best. The lag of a
    position behind its command is longer: it has the damping of the drive. The error is infinite
    if the best delay is the longest, as friction that the model lacks can make it.

    :param task: with recordings whose torque is the error of position, without delay
    """
    parts = [_curves(task.model, task.process(each).shown) for each in task.recordings]
    curves = np.array([curve for part in parts for curve in part])
    best = STEP * curves.argmin(axis=1) if len(curves) > 1 else np.array([0.0, np.inf])
    delay = STEP * float(curves.sum(axis=0).argmin()) if len(curves) else 0.0
    certain = delay < LONGEST and np.isfinite(best).all()
    return delay, float(best.std(ddof=1)) / np.sqrt(len(best)) if certain else np.inf


def _curves(model: DynamicModel, signals: Processed) -> list[Array]:
    """Return the likelihood of the delays, its negative logarithm (k,), in each segment."""
    delays = np.arange(0.0, LONGEST + STEP, STEP)
    base = base_parameters(model)
    acting = acting_columns(model, base.columns)
    rows = np.unique(np.linspace(0, len(signals) - 1, SAMPLES).astype(int))
    regressor = model.regressor(*signals.motion_at(rows))[:, :, base.columns]
    command = make_interp_spline(signals.time, signals.torque + signals.position, k=3)
    result = []
    for part in np.array_split(np.arange(len(rows)), SEGMENTS):
        times = signals.time[rows[part], None] - delays
        errors = command(np.maximum(times, signals.time[0])) - signals.position[rows[part], None]
        curve = np.zeros(len(delays))
        for joint, columns in enumerate(acting):
            error, used = errors[:, :, joint], signals.used[rows[part], joint]
            fit = fit_joint(regressor[part, joint], columns, error[:, 0], used)
            if fit is not None:
                error = error[fit.rows]
                left = np.sum(error**2, axis=0) - np.sum((fit.basis.T @ error) ** 2, axis=0)
                curve += 0.5 * len(fit.rows) * np.log(np.maximum(left, 1e-300))
        if curve.any():
            result.append(curve)
    return result
