# SPDX-License-Identifier: Apache-2.0
"""Evaluation of the recordings of the demonstration."""

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

MEASURED = '/joint_states'
PLANT = '/cell/plant'
REFERENCE = '/joint_trajectory_controller/reference'

Span = tuple[int, int]
"""First and last stamp of a motion, in [ns] since the epoch."""


@dataclass(frozen=True)
class TrackingError:
    """Deviation of the robot from the delayed command.

    :param time: shape (N,), in [s]
    :param deviation: shape (N, n), in [rad] or [m]
    """

    joints: tuple[str, ...]
    time: Array
    deviation: Array

    @property
    def rms(self) -> Array:
        """RMS per joint, shape (n,), in [rad] or [m]."""
        return np.asarray(np.sqrt(np.mean(self.deviation**2, axis=0)))

    def pool(self, joints: Sequence[str]) -> float:
        """Return the RMS over some joints of one kind, in [rad] or [m]."""
        rms = self.rms[[self.joints.index(joint) for joint in joints]]
        return float(np.sqrt(np.mean(rms**2)))


def residual_against_plant(
    identified: IdentifiedModel, measured: Path, plant: Path, span: Span
) -> float:
    """Return ||tau_plant - tau_hat|| / ||tau_plant|| over all joints.

    tau_hat is computed from the measured motion.

    :param plant: recording of the noise-free motor torque, with the stamps of `measured`
    """
    motion = read_recording(measured, joints=identified.joints).between(*span)
    truth = read_recording(plant, topic=PLANT, joints=identified.joints).between(*span)
    motion, truth = common_samples(motion, truth)
    error = size = 0.0
    for rows in segments(motion):
        part = replace(motion.slice(rows), torque=truth.torque[rows])
        signals = process(part, identified.joints, IdentifyOptions())
        _, predicted = evaluate(identified.model, identified.values, signals, source=str(measured))
        error += float(np.sum((signals.measured - predicted) ** 2))
        size += float(np.sum(signals.measured**2))
    return math.sqrt(error / size) if size else math.nan


def segments(recording: Recording) -> list[NDArray[np.int64]]:
    """Return the rows of each segment without a gap that is longer than 2 s.

    Samples that a busy machine lost are not interpolated: filters and derivatives would spread
    the error. Segments up to 2 s are too short for the filters.
    """
    after = np.flatnonzero(np.diff(recording.time) > 2.5 * recording.period) + 1
    parts = np.split(np.arange(len(recording)), after)
    return [rows for rows in parts if len(rows) * recording.period > 2.0]


def tracking_error(
    reference: Path, actual: Path, span: Span, *, delay: float, topic: str = MEASURED
) -> TrackingError:
    """Return the deviation of the robot from the delayed command.

    :param actual: recording of `topic`: `MEASURED`, the encoders, or `PLANT`, the true position
        of the links, which elastic gears move away from the encoders
    :param delay: from the reference to the set-point of the drive, in [s]; the reference is
        interpolated by a cubic spline
    """
    command = read_recording(reference, topic=REFERENCE).between(*span)
    truth = read_recording(actual, topic=topic, joints=command.joints).between(*span)
    command, truth = common_samples(command, truth)
    late = command.time - delay >= command.time[0]
    expected = CubicSpline(command.time, command.position)(command.time[late] - delay)
    return TrackingError(command.joints, command.time[late], truth.position[late] - expected)


def common_samples(first: Recording, second: Recording) -> tuple[Recording, Recording]:
    """Reduce two recordings to their common stamps.

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
