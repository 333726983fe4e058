# SPDX-License-Identifier: Apache-2.0
"""Parameters and torques that a recording can determine, before an identification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn_ros.errors import InsufficientData
from robodyn_ros.findings import Finding
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.diagnosis.checks import (
    data_findings,
    distinct,
    failure_findings,
    merge,
)
from robodyn_ros.identification.diagnosis.diagnose import DEAD, diagnose
from robodyn_ros.identification.diagnosis.motion import joint_ranges
from robodyn_ros.identification.fit.least_squares import Estimate
from robodyn_ros.identification.fit.success import SMALL_TORQUE, rated_torque
from robodyn_ros.identification.fit.weighting import fit_least_squares
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.extrapolation import extrapolate_error, random_states
from robodyn_ros.identification.physical.semidefinite import Problem, starting_prior
from robodyn_ros.identification.result.verdict import GOOD, Word
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.steps.estimation import Regression
from robodyn_ros.identification.steps.preparation import Clock, ProcessedRecordings, Task, prepare
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording


def assess_recording(
    recording: Recording, model: DynamicModel, options: IdentifyOptions
) -> tuple[dict[str, dict[str, Any]], dict[str, int], tuple[Finding, ...]]:
    """Return what a recording can determine of a model, and what looks wrong in it.

    The signals are processed, condensed and diagnosed as in an identification.

    :return: facts by joint: `coverage` of its range (NaN: it has none), `extrapolate_error` of its
        torque on other motions, relative to the torque (NaN: at rest, or not measured), `verdict`
        and `reason`; numbers of parameter combinations by how they are determined; findings.
        With too few samples to determine anything, findings only
    :raises RobodynError: a joint is not in the recording, or an option cannot be used
    """
    try:
        prepared = prepare(Task((recording,), model, options_for(model, options)), Clock())
        regression, model = Regression(prepared.task, prepared), prepared.model
        condensed, base, names = regression.factors(), regression.base, model.joint_names
        fit = fit_least_squares(condensed, regression.options)
    except InsufficientData as reason:
        return {}, {}, failure_findings(recording, model, str(reason))
    values = np.zeros(len(model.parameters))
    values[base.columns] = fit.values  # these columns alone give the same torque
    case = Case(
        prepared.parts[0].recording,
        model,
        prepared.task.options,
        prepared.parts[0].shown.to_estimate(),
        values,
        np.full(len(names), np.nan),
    )
    findings = (
        *diagnose(case),
        *case.recording.findings,
        *case.signals.findings,
        *data_findings(condensed, fit, base, prepared.frozen),
    )
    joints: dict[str, dict[str, Any]] = {}
    errors = _estimate_errors(prepared, regression, fit)
    shares = zip(names, _coverage(case), errors, strict=True)
    for name, coverage, share in shares:
        of_joint = [item for item in findings if item.joint == name]
        word, why = _verdict(share, of_joint, options.max_relative_error)
        facts = {'coverage': coverage, 'expected_error': share, 'verdict': word, 'reason': why}
        joints[name] = facts
    unknown, weak = np.isnan(fit.stddevs), fit.stddevs > np.abs(fit.values)
    counts = (~unknown & ~weak).sum(), weak.sum(), unknown.sum()
    how = ('determined', 'weak', 'not determined')
    return joints, dict(zip(how, map(int, counts), strict=True)), merge(distinct(findings))


def _estimate_errors(
    prepared: ProcessedRecordings, regression: Regression, fit: Estimate
) -> Array:
    """Return the expected torque error of each joint on other motions, relative to its torque.

    It holds the noise of the torque and the uncertainty of the values. Joints at rest stay there.
    """
    model, signals = prepared.model, prepared.parts[0].shown
    rests = [name in prepared.frozen for name in model.joint_names]
    q, qd, qdd = random_states(model, signals)
    q[:, rests], qd[:, rests], qdd[:, rests] = signals.position[0, rests], 0.0, 0.0
    base, factors = regression.base, regression.factors().merge()
    problem = Problem.of(model, base, starting_prior(model, prepared.task.options.prior)[0])
    error = extrapolate_error(problem, base, factors, fit, (q, qd, qdd))
    torque = np.array([each.torque_norm / np.sqrt(max(each.samples, 1)) for each in factors])
    reference = np.maximum(torque, SMALL_TORQUE * rated_torque(model, torque))
    return np.where(rests, np.nan, error / reference)


def _coverage(case: Case) -> Array:
    """Return the share of each joint's range that it moves in, shape (n,); NaN: no range."""
    width = np.diff(joint_ranges(case), axis=1)[:, 0]
    turn = [np.inf if joint.type == 'prismatic' else 2.0 * np.pi for joint in case.model.joints]
    share = np.ptp(case.signals.position, axis=0) / np.minimum(width, turn)
    return np.where(np.isfinite(width), share, np.nan)


def _verdict(error: float, findings: Sequence[Finding], most: float) -> tuple[Word, str]:
    """Return the verdict of a joint and its reason, from its expected error and its findings."""
    reasons = [item.code for item in findings if item.severity == 'error' or np.isnan(error)]
    reasons = [*sorted(reasons, key=lambda code: code not in DEAD), f'expected error {error:.0%}']
    if len(reasons) > 1 or not error <= most:
        return 'not usable', reasons[0].replace('_', ' ')
    return ('usable', '') if error <= GOOD * most else ('with care', reasons[0])
