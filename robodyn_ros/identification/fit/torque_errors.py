# SPDX-License-Identifier: Apache-2.0
"""Torque errors of a model: its torque against the measured torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.identification.signals.processed import Processed, constant
from robodyn_ros.long_work import progress
from robodyn_ros.models.interface import Array, DynamicModel, sample_blocks
from robodyn_ros.models.serial.urdf import rigid_part

SMALL_TORQUE = 0.05
"""Share of its rated torque below which a joint's torque is small. Friction of a geared joint and
the error of a torque sensor are of this size: a relative error of smaller torque means little."""


@dataclass(frozen=True)
class FitReport:
    """Torque errors of a model on one recording; arrays have shape (n,), joint order.

    The relative torque errors are those of the softMC document ("Explanation of the
    identification output file", lines 3, 4 and 7): torque error divided by the joint's largest
    absolute torque feedback, both on moving samples of the filtered torque.

    :param moving_samples: of them, between the joint's velocity thresholds
    :param velocity_threshold: in [rad/s] or [m/s]
    :param upper_velocity_threshold: the same; infinite: none
    :param rms_error: on the unfiltered torque of all samples, in [Nm] or [N]
    :param max_relative_torque_error: 1 is 100 % of the joint's largest torque
    :param mean_relative_torque_error: mean of the absolute error, same measure
    :param usual_torque: absolute torque that 99 % of the moving samples keep, in [Nm] or [N]
    :param relative_residual: ||tau - tau_hat|| / ||tau||, pooled over joints, unfiltered torque
    :param joint_relative_residual: the same for each joint alone
    """

    source: str
    samples: int
    moving_samples: NDArray[np.int64]
    velocity_threshold: Array
    upper_velocity_threshold: Array
    rms_error: Array
    max_relative_torque_error: Array
    mean_relative_torque_error: Array
    usual_torque: Array
    relative_residual: float
    joint_relative_residual: Array

    @property
    def rms_torque(self) -> Array:
        """RMS torque of each joint, shape (n,), unfiltered, in [Nm] or [N]; 0 without an error."""
        return np.asarray(self.rms_error / np.maximum(self.joint_relative_residual, 1e-12))

    @classmethod
    def empty(cls, source: str, joints: int) -> FitReport:
        """Return the report of a recording without usable samples."""
        unknown = np.full(joints, np.nan)
        return cls(
            source=source,
            samples=0,
            moving_samples=np.zeros(joints, dtype=np.int64),
            velocity_threshold=unknown,
            upper_velocity_threshold=unknown,
            rms_error=unknown,
            max_relative_torque_error=unknown,
            mean_relative_torque_error=unknown,
            usual_torque=unknown,
            relative_residual=np.nan,
            joint_relative_residual=unknown,
        )


def relative_error(report: FitReport, model: DynamicModel) -> Array:
    """Return the RMS torque error over the RMS torque of each joint, shape (n,).

    Torque below `SMALL_TORQUE` of the rating counts as that much.
    """
    return np.asarray(report.rms_error / np.maximum(reference_torque(report, model), 1e-300))


def reference_torque(report: FitReport, model: DynamicModel) -> Array:
    """Return the torque that the errors of each joint are compared with, shape (n,).

    It is the RMS torque, or `SMALL_TORQUE` of the rated torque if that is larger. An effort limit
    may be a placeholder, or missing: a rating is at most twice the largest torque that any joint
    with the same unit has, as a motion that excites a robot needs half of its torque.
    """
    largest = 2.0 * _largest(model, report.usual_torque)
    rated = np.minimum(rated_torque(model, largest), largest)
    return np.asarray(np.maximum(report.rms_torque, SMALL_TORQUE * rated))


def rated_torque(model: DynamicModel, torque: Array) -> Array:
    """Return the rated torque of each joint, shape (n,), in [Nm] or [N].

    That is the effort limit of the URDF; without one, the largest torque of all joints with the
    same unit.

    :param torque: of each joint in the recording, shape (n,)
    """
    part = rigid_part(model)
    known = {} if part is None else {each.name: each.effort for each in part.urdf.joints}
    rated = np.array([known.get(name, np.inf) for name in model.joint_names])
    return np.where(np.isfinite(rated) & (rated > 0.0), rated, _largest(model, torque))


def _largest(model: DynamicModel, torque: Array) -> Array:
    """Return the largest torque of all joints with the same unit, for each joint, shape (n,)."""
    units = np.array([joint.torque_unit for joint in model.joints])
    return np.array([torque[units == unit].max(initial=0.0) for unit in units])


USUAL = 0.99
"""Share of the moving samples that the usual torque bounds: single samples, as at a reversal or a
lost message, do not decide about a joint."""


def evaluate(
    model: DynamicModel,
    parameters: Array,
    signals: Processed,
    *,
    source: str,
    phase: str = '',
) -> tuple[FitReport, Array]:
    """Compare model torque with measured torque.

    :param parameters: values of the parameters of the model, shape (p,)
    :param phase: under which the progress is reported; '': it is not
    :return: the report, and the model torque (N, n), in [Nm] or [N]
    """
    predicted = predict(model, parameters, signals, phase)
    return Tally.of(signals, predicted).report(signals, source), predicted


def predict(
    model: DynamicModel,
    parameters: Array,
    signals: Processed,
    phase: str = '',
) -> Array:
    """Return model and known torque (N, n), in [Nm] or [N]; no friction of a joint at rest.

    :param phase: under which the progress is reported; '': it is not
    """
    predicted = np.empty_like(signals.torque)
    for block in sample_blocks(len(signals)):
        predicted[block] = model.torque(*signals.motion_at(block), parameters)
        if phase:
            progress(phase, block.stop / len(signals))
    return predicted if signals.known is None else predicted + signals.known


@dataclass(frozen=True)
class Tally:
    """Sums and extremes of torque errors per joint, of one segment of time or several.

    :param error, size: squared, of the unfiltered torque of the samples that are not in a gap, and
        in which a joint moves: friction holds a robot at rest with any torque up to its stiction;
        0 for joints whose torque is not measured
    :param worst, mean: largest and sum of the absolute error on moving samples
    :param peak: largest absolute torque on moving samples
    :param usual_torque: absolute torque that at least `USUAL` of the moving samples keep
    """

    samples: int
    moving: NDArray[np.int64]
    error: Array
    size: Array
    worst: Array
    mean: Array
    peak: Array
    usual_torque: Array

    @classmethod
    def of(cls, signals: Processed, predicted: Array) -> Tally:
        """Return the errors of the model torque (N, n)."""
        moving = signals.moving
        counted = signals.measured_rows & signals.used.any(axis=1)
        rows = counted[:, None] & ~constant(signals.measured)
        error = np.abs(signals.torque - predicted)
        return cls(
            samples=int(counted.sum()),
            moving=moving.sum(axis=0),
            error=np.sum((signals.measured - predicted) ** 2, axis=0, where=rows),
            size=np.sum(signals.measured**2, axis=0, where=rows),
            worst=error.max(axis=0, where=moving, initial=0.0),
            mean=error.sum(axis=0, where=moving),
            peak=np.abs(signals.torque).max(axis=0, where=moving, initial=0.0),
            usual_torque=_usual(np.abs(signals.torque), moving),
        )

    def __add__(self, other: Tally) -> Tally:
        """Return the errors of both together."""
        return Tally(
            samples=self.samples + other.samples,
            moving=self.moving + other.moving,
            error=self.error + other.error,
            size=self.size + other.size,
            worst=np.maximum(self.worst, other.worst),
            mean=self.mean + other.mean,
            peak=np.maximum(self.peak, other.peak),
            usual_torque=np.maximum(self.usual_torque, other.usual_torque),
        )

    def report(self, signals: Processed, source: str) -> FitReport:
        """Report of these errors; thresholds are those of the signals."""
        norms = np.sqrt(self.error.sum()), np.sqrt(self.size.sum())
        return FitReport(
            source=source,
            samples=self.samples,
            moving_samples=self.moving,
            velocity_threshold=signals.threshold,
            upper_velocity_threshold=signals.upper_threshold,
            rms_error=np.sqrt(self.error / max(self.samples, 1)),
            max_relative_torque_error=_ratio(self.worst, self.peak),
            mean_relative_torque_error=_ratio(self.mean / np.maximum(self.moving, 1), self.peak),
            usual_torque=self.usual_torque,
            relative_residual=float(_ratio(*norms)),
            joint_relative_residual=_ratio(np.sqrt(self.error), np.sqrt(self.size)),
        )


def _usual(size: Array, moving: NDArray[np.bool_]) -> Array:
    """Return the size (n,) that `USUAL` of the moving samples of each joint keep; 0 for none."""
    columns = zip(size.T, moving.T, strict=True)
    return np.array(
        [np.quantile(values[rows], USUAL) if rows.any() else 0.0 for values, rows in columns]
    )


def _ratio(part: Array | np.floating, total: Array | np.floating) -> Array:
    """Return part / total; 0 / 0 is NaN: a joint without moving samples has no relative error."""
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.divide(part, total)
