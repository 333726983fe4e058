# SPDX-License-Identifier: Apache-2.0
"""One plant: identified by the package, by the expert and by plain weighted least squares."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import robodyn_ros as rd
from next_robot.arm import Arm
from next_robot.condensed import exact
from next_robot.flaws import FLAWS, Arrays
from next_robot.plant import Plant
from next_robot.reference import expert, plain_wls
from robodyn_ros.errors import RobodynError
from robodyn_ros.recording.recording import Recording

RATED = 0.05
"""Share of its rated torque (URDF effort) to which a joint's errors are relative at least: drives
repeat their torque to a few percent of it, so that smaller torques of a joint do not matter."""


def judged(plant: Plant) -> dict[str, Any]:
    """Return all figures of a plant; errors are relative, root mean squares over moving joints."""
    start, arm, flaw = time.perf_counter(), Arm(plant), FLAWS[plant.flaw]
    clean = arm.recording()
    given = flaw.make(clean, plant.random(20))
    moved, torque = arm.truth()
    joints = np.flatnonzero(~arm.rests)
    rms = np.sqrt(np.mean(torque**2, axis=0))
    size = np.maximum(rms, RATED * arm.effort)
    truth = exact(arm.body, moved, torque)
    found: dict[str, Any] = {**asdict(plant), 'fair': flaw.mend is not None}
    found |= _package(arm, given, moved, torque, size, joints)
    plain = plain_wls(arm.body, given, truth) / size
    found['plain'] = float(np.sqrt(np.mean(plain[joints] ** 2)))
    if flaw.mend:
        mended = flaw.mend(given, plant.random(20))
        found['expert'], found['choices'] = expert(arm.body, mended, truth, joints, size)
    return {**found, 'total_seconds': round(time.perf_counter() - start, 1)}


def _package(
    arm: Arm, given: Arrays, moved: Any, torque: np.ndarray, size: np.ndarray, joints: np.ndarray
) -> dict[str, Any]:
    """Return errors, verdict and findings of the package; without an estimate the torque is 0."""
    start, predicted, success, worst = time.perf_counter(), np.zeros_like(torque), False, ''
    try:
        result = rd.identify(_recording(arm, given), arm.model('auto'))
        findings = [(item.severity, item.code, item.joint) for item in result.findings]
        success = result.success
        if result.has_estimate:
            predicted = result.model.torque(*moved, result.values)
            worst = next((each.name for each in result.weighted.candidates), '')
    except RobodynError as error:
        findings = [('error', 'refused', str(error)[:200])]
    except Exception as error:  # a crash is a result of the bench, not its end
        findings = [('error', 'crash', repr(error)[:200])]
    errors = np.sqrt(np.mean((torque - predicted) ** 2, axis=0)) / size
    return {
        'error': float(np.sqrt(np.mean(errors[joints] ** 2))),
        'worst_joint': float(errors[joints].max()),
        'estimate': bool(predicted.any()),
        'made': worst,
        'success': success,
        'findings': findings,
        'seconds': round(time.perf_counter() - start, 2),
    }


def _recording(arm: Arm, signals: Arrays) -> Recording:
    """Return the recording as read from a file, with the findings of the reader."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f'plant_{arm.plant.seed}_{arm.plant.number}.npz'
        np.savez(path, joint_names=np.array(arm.body.joint_names), **signals)
        return rd.read_recording(path)
