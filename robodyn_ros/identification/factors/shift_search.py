# SPDX-License-Identifier: Apache-2.0
"""Search for the shift in time between two signals, and of a joint's torque against its motion."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import spline_filter1d
from scipy.optimize import minimize_scalar

from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.factors.joint_fit import JointFit
from robodyn_ros.identification.signals.cutoff import cutoffs_of
from robodyn_ros.identification.signals.processed import Processed
from robodyn_ros.models.interface import Array, Indices
from robodyn_ros.recording.signals import low_pass

SMOOTH = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
"""Smoothing of the torque before the search: the binomial filter of fourth order, whose noise is
about as large between samples as on them. Without it, interpolation averages noise, which draws
the shift to the middle between two samples."""


@dataclass(frozen=True)
class TorqueShift:
    """Shift that explains a joint's torque best.

    :param shift: in samples, positive: the torque is late; None: it is out of reach
    :param residual: squared residual at a shift: at integers, and at any shift near the best one
    """

    shift: float | None
    residual: Callable[[float], float]


def smooth_torque(torque: Array) -> Array:
    """Return the torque (N,) of a joint as `torque_shift` needs it."""
    return np.convolve(torque, SMOOTH, mode='same')


def extract_vibration(signals: Processed) -> Array:
    """Return the velocity (N, n) above the frequencies of the motion, which disturbances cause.

    A drive answers a disturbance with torque against this velocity, before the joint has moved
    much. To the model this is an early torque.
    """
    rate = 1.0 / float(signals.time[1] - signals.time[0])
    edge = cutoffs_of(signals.measured_position, rate).lowest
    if signals.cutoff is not None and edge < signals.cutoff:
        with suppress(RecordingError):  # too short to be divided
            return signals.velocity - low_pass(signals.velocity, edge, rate)
    return np.zeros_like(signals.velocity)


def torque_shift(fit: JointFit, torque: Array, rows: Indices, reach: int) -> TorqueShift:
    """Find the shift of a joint's torque that its model explains best.

    :param torque: of the joint, all samples, smoothed, shape (N,)
    :param rows: samples of the fit among these, shape (m,)
    """
    shifted = torque[rows[:, None] + np.arange(-reach, reach + 1)]
    coarse = np.sum(shifted**2, axis=0) - np.sum((fit.basis.T @ shifted) ** 2, axis=0)
    middle = float(np.argmin(coarse) - reach)
    # Between samples torque is a cubic spline: a few columns, whatever the shift.
    low, high = rows.min() - reach, rows.max() + reach + 1
    knots = np.arange(-3, 4)
    near = np.clip(rows[:, None] - low + int(middle) + knots, 0, high - low - 1)
    columns = spline_filter1d(torque[low:high])[near]
    explained = fit.basis.T @ columns
    left = columns.T @ columns - explained.T @ explained

    def residual(shift: float) -> float:
        if shift == round(shift) and abs(shift) <= reach:
            return float(coarse[int(shift) + reach])
        weights = _cubic(np.asarray(shift - middle - knots, dtype=np.float64))
        return float(weights @ left @ weights)

    return TorqueShift(best_shift(coarse, -reach, residual), residual)


def best_shift(coarse: Array, first: int, residual: Callable[[float], float]) -> float | None:
    """Return the shift with the smallest squared residual, in samples; None: it is out of range.

    :param coarse: squared residual at integer shifts
    :param first: the first of these shifts
    :param residual: squared residual at any shift within one of an integer
    """
    best = int(np.argmin(coarse))
    if best in (0, len(coarse) - 1):
        return None
    middle = float(first + best)
    around = (middle - 1.0, middle + 1.0)
    return float(minimize_scalar(residual, bounds=around, method='bounded').x)


def _cubic(distance: Array) -> Array:
    """Return the cubic B-spline at these distances from its knot, in samples."""
    size = np.abs(distance)
    inner, outer = 2.0 / 3.0 - size**2 + size**3 / 2.0, np.maximum(2.0 - size, 0.0) ** 3 / 6.0
    return np.where(size < 1.0, inner, outer)
