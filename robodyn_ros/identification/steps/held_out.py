# SPDX-License-Identifier: Apache-2.0
"""Data that were not fitted: whether a validation has them, and the torque errors on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy  # its parts at their first use: scipy.spatial takes time

from robodyn_ros.errors import IdentificationError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.fit.choice import INDEPENDENT
from robodyn_ros.identification.fit.torque_errors import (
    FitReport,
    reference_torque,
    relative_error,
)
from robodyn_ros.identification.options import LeaveOneOut
from robodyn_ros.identification.signals.processed import Mask, Processed
from robodyn_ros.identification.steps.estimation import ParameterEstimate
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.storage import extremes, sweep

REPEATED = 0.01
"""Median distance of a motion's states from those of another one, in units of their spread and for
each coordinate, below which it repeats it: repeats have 0.001, other motions of arms 0.03 to 1."""
DENSE, FEW, JOINTS = 5000, 300, 3
"""States that are compared, and least number of joints: those of fewer fill their space."""


def unseen_error(
    model: DynamicModel,
    estimated: ParameterEstimate,
    report: FitReport,
    validation: FitReport | None,
    *,
    repeats: bool = False,
) -> tuple[Array, str]:
    """Return the error of each joint on data that were not fitted, (n,), and which data these are.

    What the low pass removes is the same in held-out and fitted errors, and cancels out.

    :param repeats: the validation is the motion that was fitted: held-out errors count, too
    :return: NaN and '' where nothing can be left out
    """
    if validation is not None:
        error = relative_error(validation, model)
        if not repeats:
            return error, 'the validation'
        return np.fmax(error, unseen_error(model, estimated, report, None)[0]), 'held-out blocks'
    mean = estimated.mean
    if mean is None or estimated.independent < INDEPENDENT:
        return np.full(len(model.joints), np.nan), ''
    growth = np.where(mean.held_out > 0.0, mean.held_out - mean.fitted, np.nan)
    square = np.maximum(report.rms_error**2 + growth, 0.0)
    return np.sqrt(square) / np.maximum(reference_torque(report, model), 1e-300), 'held-out blocks'


def is_repeated(fitted: Sequence[Processed], tested: Processed) -> bool:
    """Return True if a motion goes through the same positions and velocities as those fitted."""
    moving: Mask = np.asarray(fitted[0].used.any(axis=0))
    if moving.sum() < JOINTS:
        return False
    states = np.vstack([_thin_states(each, moving, DENSE) for each in fitted])
    spread = np.maximum(states.std(axis=0), 1e-12)
    tree = scipy.spatial.cKDTree(states / spread)
    distance, _ = tree.query(_thin_states(tested, moving, FEW) / spread)
    return bool(np.median(distance) < REPEATED * np.sqrt(len(spread)))


def _thin_states(signals: Processed, moving: Mask, count: int) -> Array:
    position, velocity, _ = signals.motion
    rows = np.linspace(0, len(signals) - 1, min(count, len(signals))).astype(np.intp)
    return np.hstack([position[rows][:, moving], velocity[rows][:, moving]])


ROUNDING = 1e-6
"""Largest difference of equal signals, relative to their range: a table has fewer digits than a
bag. The torque of another run of the same motion differs by its noise."""


def check_held_out(
    recordings: Sequence[Recording],
    validation: Recording | LeaveOneOut | None,
    joints: Sequence[str],
) -> tuple[Finding, ...]:
    """Refuse a validation on the data of the fit, also on a part of it or from another file.

    :return: a warning about each validation that has fewer samples of the fit than half of its own
    :raises IdentificationError: at least half of the samples of a validation are in recordings of
        the fit; with 'leave-one-out', in the other recordings
    """
    if validation is None:
        return ()
    given, tests = [*recordings], [*range(len(recordings))]
    pairs = [*combinations(tests, 2)]
    if not isinstance(validation, str):
        given, pairs = [*given, validation], [(fitted, len(tests)) for fitted in tests]
        tests = [len(tests)]
    common = np.zeros((len(given), len(given)))
    for one, other in pairs:
        common[one, other] = _common_samples(given[one], given[other], joints)
    common += common.T
    findings = []
    for tested in np.intersect1d(tests, np.flatnonzero(common.any(axis=0))):
        name = given[tested].source
        others = ', '.join(given[other].source for other in np.flatnonzero(common[tested]))
        share = min(common[tested].sum() / len(given[tested]), 1.0)
        if share >= 0.5:
            raise IdentificationError(
                f'the validation on {name} has samples of {others} (about {share:.0%} of it), to '
                f'which the parameters are fitted, so its error says little about other motions: '
                f'validate on another recording, or keep the last part of this one (robodyn '
                f'identify --split 0.8)'
            )
        findings.append(
            finding('validation_shares_samples', source=name, fitted=others, share=share)
        )
    return tuple(findings)


def _common_samples(one: Recording, other: Recording, joints: Sequence[str]) -> float:
    """Return about how many samples of the shorter recording are in the longer one, at any time.

    Pieces of consecutive samples all over the shorter one are looked for, each long enough that
    noise is not repeated by chance. Pieces in which nothing changes are left out.
    """
    if not {*joints} <= {*one.joints} & {*other.joints}:
        return 0.0
    shorter, longer = sorted((one.select(joints), other.select(joints)), key=len)
    length = min(64, len(shorter))
    starts = np.unique(np.linspace(0, len(shorter) - length, 20).astype(np.intp))
    # torque first: most samples differ in its noise already
    signals = [shorter.torque, shorter.position], [longer.torque, longer.position]
    most = [ROUNDING * (high - low) for low, high in map(extremes, signals[1])]
    matches = []
    for start in starts:
        piece = [values[start : start + length] for values in signals[0]]
        changes = [np.ptp(part, axis=0) > room for part, room in zip(piece, most, strict=True)]
        if all(each.any() for each in changes):
            matches.append(_is_in(piece, signals[1], most))
    return float(np.mean(matches)) * len(shorter) if matches else 0.0


def _is_in(piece: Sequence[Array], signals: Sequence[Array], most: Sequence[Array]) -> bool:
    """Return True if consecutive samples are among the signals.

    :param piece: torques and positions, shapes (m, n)
    :param signals: the same of a recording, shapes (N, n)
    :param most: largest difference of equal signals, shapes (n,)
    """
    length = len(piece[0])
    for block in sweep(*signals):
        starts = np.arange(block.start, min(block.stop, len(signals[0]) - length + 1))
        for sample in range(length):
            for pattern, values, room in zip(piece, signals, most, strict=True):
                for joint, limit in enumerate(room):
                    difference = values[starts + sample, joint] - pattern[sample, joint]
                    starts = starts[np.abs(difference) <= limit]
        if len(starts):
            return True
    return False
