# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of the signals: stale joints, noise, slow motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn_ros.findings import Finding, Severity, finding
from robodyn_ros.identification.diagnosis.case import Case
from robodyn_ros.identification.factors.joint_fit import root_mean_square
from robodyn_ros.identification.fit.torque_errors import SMALL_TORQUE, rated_torque
from robodyn_ros.identification.signals.cutoff import steps_of
from robodyn_ros.identification.signals.grid import drop_repeated
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.fresh import COARSE, fresh
from robodyn_ros.recording.signals import white_noise

STALE_SHARE = 0.01
"""Share of a recording's samples in stale segments from which on it must not be used."""

STALE = ('stale_samples', 'warning')
"""Finding of the reader that says the same of all joints."""


def stale_findings(case: Case) -> Iterator[Finding]:
    """Yield the joints whose position stays and then jumps: the driver did not get new values."""
    if any((item.code, item.severity) == STALE for item in case.recording.findings):
        return  # the recording repeats samples of all joints, which are not used
    recording = case.recording.select(case.signals.joints)
    remaining, _ = drop_repeated(recording)  # the other samples are not used
    taken = fresh(remaining.position)
    for joint, name in enumerate(case.signals.joints):
        lengths = stale_runs(recording.position[:, joint])
        share = float(lengths.sum()) / len(recording)
        if len(lengths) and (share > STALE_SHARE / 2 or lengths.max() > 0.05 * case.rate):
            rows = taken[:, joint]
            used = stale_runs(remaining.position[rows, joint]).sum() / len(recording)
            severity: Severity = 'error' if used > STALE_SHARE else 'warning'
            yield finding(
                'stale_joint',
                joint=name,
                severity=severity,
                share=share,
                used=used,
                limit=STALE_SHARE,
                count=len(lengths),
                longest=lengths.max() / case.rate,
            )


def stale_runs(position: Array) -> Array:
    """Return lengths of the segments in which a position repeats exactly although the joint moves.

    It moves if it jumps at the end by more than an encoder at this speed can: by more than three
    of the smallest steps seen (but for a hundredth, which rounding makes), and by at least half of
    what it went just before the segment or goes just after it in the same time. At rest the last
    digits come and go: a jump is of a tenth of the usual speed at least.
    """
    steps = steps_of(position)
    if not steps.any():
        return np.zeros(0)
    smallest = np.quantile(np.abs(steps[steps != 0.0]), 0.01)
    moved = np.flatnonzero(steps)
    runs = np.diff(moved) - 1  # zero steps between two that are not
    segments = np.flatnonzero(runs >= 2)
    jumps = np.abs(steps[moved[segments + 1]])
    reach = np.minimum(segments + 1 + 4, len(moved) - 1)
    after = moved[reach] - moved[segments + 1]
    way = np.abs(position[moved[reach] + 1] - position[moved[segments + 1] + 1])
    taken = runs[segments] + 1
    expected = way / np.maximum(after, 1) * taken
    stale = (jumps > COARSE * smallest) & (jumps > 0.4 * expected)
    stale &= jumps > 0.1 * root_mean_square(steps) * taken
    return np.asarray(runs[segments][stale], dtype=np.float64)


def noise_findings(case: Case) -> Iterator[Finding]:
    """Yield joints whose noise is as large as their torque: usable although they may have failed.

    Either the noise itself is large, or a joint with little torque has a large relative error
    that is small beside the torques of the robot.
    """
    torques = case.reading.rms
    small = SMALL_TORQUE * rated_torque(case.model, torques)
    for joint in case.reading.moving:
        torque, rest = torques[joint], case.reading.present.size[joint]
        noise = float(white_noise(case.signals.measured[:, joint]))
        # From 30 % noise on a relative error means little.
        noisy = max(noise, rest) > 0.3 * torque and noise > 0.5 * rest
        failed = case.errors[joint] > case.options.max_relative_error
        if noisy or (failed and torque < small[joint]):
            yield finding(
                'noise_as_large_as_signal' if noisy else 'little_torque',
                joint=case.signals.joints[joint],
                residual=max(noise, rest),
                unit=case.model.joints[joint].torque_unit,
                noise=noise,
                torque=torque,
            )


def slow_joints(case: Case) -> list[tuple[Finding, bool]]:
    """Return joints whose inertia torque is below the residual, the worst first.

    And for each whether it moves so slowly that this explains whatever else is seen.
    """
    slow = []
    shares = inertia_shares(case)
    for joint in sorted(shares, key=lambda k: shares[k][0] / max(shares[k][1], 1e-300)):
        share, noise = shares[joint]
        if share < min(0.1, 0.6 * noise):
            item = finding(
                'moving_too_slowly',
                joint=case.signals.joints[joint],
                speed=float(np.abs(case.signals.velocity[:, joint]).max()),
                unit=case.model.joints[joint].position_unit,
                inertia=share,
                residual=noise,
            )
            slow.append((item, share < 0.4 * noise))
    return slow


def inertia_shares(case: Case) -> dict[int, tuple[float, float]]:
    """Return per joint the share of inertia in its torque, and that of the residual.

    Joints whose model has no inertia are left out.
    """
    reading, signals = case.reading, case.signals
    position, acceleration = signals.position[reading.rows], signals.acceleration[reading.rows]
    still = np.zeros_like(position)
    inertia = case.model.torque(position, still, acceleration, case.values)
    inertia = inertia - case.model.torque(position, still, still, case.values)
    size, error = np.sqrt(np.mean(inertia**2, axis=0)), reading.present.size
    return {
        joint: (size[joint] / reading.rms[joint], error[joint] / reading.rms[joint])
        for joint in reading.moving
        if size[joint] > 0.0 < reading.rms[joint]
    }
