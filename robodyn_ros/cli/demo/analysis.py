"""What the demonstration computes from its recordings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.fit.torque_errors import evaluate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.identification.signals.processing import process
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.recording import Recording

PLANT = '/cell/plant'
REFERENCE = '/joint_trajectory_controller/reference'

LEAST_STRETCH = 2.0
"""Shorter stretches of a recording between two gaps are left out, in [s]."""

Span = tuple[int, int]
"""First and last stamp of a motion, in [ns] since the epoch."""


@dataclass(frozen=True)
class FollowingError:
    """Deviation from the delayed command: rms per joint, shape (n,), in [rad] or [m]."""

    joints: tuple[str, ...]
    rms: Array

    def pooled(self, joints: Sequence[str]) -> float:
        """RMS over some joints of one kind, in [rad] or [m]."""
        rms = self.rms[[self.joints.index(joint) for joint in joints]]
        return float(np.sqrt(np.mean(rms**2)))


def residual_against_plant(
    identified: IdentifiedModel, measured: Path, plant: Path, span: Span
) -> float:
    """||tau_plant - tau_hat|| / ||tau_plant||, tau_hat from measured motion, pooled over joints.

    :param plant: recording of the noise-free motor torque, with the stamps of `measured`
    """
    seen = read_recording(measured, joints=identified.joints).between(*span)
    truth = read_recording(plant, topic=PLANT, joints=identified.joints).between(*span)
    seen, truth = common_samples(seen, truth)
    error = size = 0.0
    for rows in stretches(seen):
        part = replace(seen.slice(rows), torque=truth.torque[rows])
        signals = process(part, identified.joints, IdentifyOptions())
        _, predicted = evaluate(identified.model, identified.values, signals, source=str(measured))
        error += float(np.sum((signals.measured - predicted) ** 2))
        size += float(np.sum(signals.measured**2))
    return math.sqrt(error / size) if size else math.nan


def stretches(recording: Recording) -> list[NDArray[np.int64]]:
    """Rows of each stretch without a gap, of those longer than LEAST_STRETCH.

    What a busy machine lost cannot be interpolated, and what is wrong there spreads when it is
    filtered and differentiated.
    """
    after = np.flatnonzero(np.diff(recording.time) > 2.5 * recording.period) + 1
    parts = np.split(np.arange(len(recording)), after)
    return [rows for rows in parts if len(rows) * recording.period > LEAST_STRETCH]


def following_error(reference: Path, plant: Path, span: Span, *, delay: float) -> FollowingError:
    """RMS deviation of the plant from the command, which the drive follows `delay` late.

    :param delay: from the reference to the drive's set-point, in [s]; between samples the
        reference is a cubic spline
    """
    _, error, joints = following_errors(reference, plant, span, delay=delay)
    return FollowingError(joints, np.sqrt(np.mean(error**2, axis=0)))


def following_errors(
    reference: Path, plant: Path, span: Span, *, delay: float
) -> tuple[Array, Array, tuple[str, ...]]:
    """Time (N,) in [s], deviation (N, n) in [rad] or [m], and joints; see `following_error`."""
    command = read_recording(reference, topic=REFERENCE).between(*span)
    truth = read_recording(plant, topic=PLANT, joints=command.joints).between(*span)
    command, truth = common_samples(command, truth)
    late = command.time - delay >= command.time[0]
    expected = CubicSpline(command.time, command.position)(command.time[late] - delay)
    return command.time[late], truth.position[late] - expected, command.joints


def common_samples(first: Recording, second: Recording) -> tuple[Recording, Recording]:
    """Reduce two recordings to the stamps that both have.

    :raises RecordingError: they share less than 99 % of their stamps
    """
    stamps = [np.round(item.time * 1e9).astype(np.int64) + item.origin for item in (first, second)]
    shared, rows, others = np.intersect1d(stamps[0], stamps[1], return_indices=True)
    if len(shared) < 0.99 * max(len(first), len(second)):
        raise RecordingError(
            f'{first.source} and {second.source} share only {len(shared)} of '
            f'{max(len(first), len(second))} stamps'
        )
    return first.slice(rows), second.slice(others)
