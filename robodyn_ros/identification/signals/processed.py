# SPDX-License-Identifier: Apache-2.0
"""Signals of a recording that are ready for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy  # its parts at their first use: they take half a second
from numpy.typing import NDArray

from robodyn_ros.findings import Finding
from robodyn_ros.identification.signals.thinning import Thinning
from robodyn_ros.models.interface import Array, Indices

Mask = NDArray[np.bool_]


def constant(values: Array) -> Mask:
    """Return which columns (n,) of values (N, n) never change."""
    return np.asarray(np.ptp(values, axis=0) == 0.0)


@dataclass(frozen=True)
class Processed:
    """Signals ready for a model; arrays have shape (N, n), SI units.

    :param time: shape (N,), in [s]
    :param torque: low-passed as the position, by an automatic cut-off at 20 Hz at the least
    :param used: samples that the fit uses: not at standstill, not in a gap of the recording
    :param moving: those between each joint's velocity thresholds, which relative errors are of
    :param threshold: velocity thresholds, shape (n,), in [rad/s] or [m/s]
    :param upper_threshold: upper ones, the same; infinite: none
    :param resting: samples at which a joint is at rest, not only reverses
    :param cutoff: of the low pass, in [Hz]; None when nothing was filtered
    :param thinning: low pass and decimation that regressor and measured torque go through
    :param raw_samples: samples of the recording, before its ends were cut
    :param gaps: samples in gaps of the recording, shape (N,); None: there are none
    :param known: part of the torque that is not estimated, shape (N, n); None: there is none
    """

    joints: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    torque: Array
    measured: Array
    measured_position: Array
    used: Mask
    moving: Mask
    threshold: Array
    upper_threshold: Array
    resting: Mask
    cutoff: float | None
    thinning: Thinning
    raw_samples: int
    findings: tuple[Finding, ...] = field(default=())
    gaps: Mask | None = None
    known: Array | None = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.torque)

    @property
    def measured_rows(self) -> Mask:
        """Samples whose signals were measured, not interpolated over a gap, shape (N,)."""
        return np.ones(len(self), dtype=bool) if self.gaps is None else ~self.gaps

    @property
    def motion(self) -> tuple[Array, Array, Array]:
        """Position, velocity, acceleration."""
        return self.position, self.velocity, self.acceleration

    def motion_at(self, rows: slice | Indices) -> tuple[Array, Array, Array]:
        """Return position, velocity (0 at standstill) and acceleration of some samples.

        The measured velocity at standstill is noise, whose sign would act as friction.
        """
        q, qd, qdd = (values[rows] for values in self.motion)
        return q, np.where(self.resting[rows], 0.0, qd), qdd

    def to_estimate(self) -> Processed:
        """Return the same with the known torque subtracted."""
        if self.known is None:
            return self
        torque, measured = self.torque - self.known, self.measured - self.known
        return replace(self, torque=torque, measured=measured, known=None)

    def cut(self, rows: slice) -> Processed:
        """Return the same with just these samples."""
        return replace(
            self,
            time=self.time[rows],
            position=self.position[rows],
            velocity=self.velocity[rows],
            acceleration=self.acceleration[rows],
            torque=self.torque[rows],
            measured=self.measured[rows],
            measured_position=self.measured_position[rows],
            used=self.used[rows],
            moving=self.moving[rows],
            resting=self.resting[rows],
            gaps=None if self.gaps is None else self.gaps[rows],
            known=None if self.known is None else self.known[rows],
        )


@dataclass(frozen=True)
class TimeOffset:
    """Delay of a joint's torque relative to the motion.

    :param seconds: positive: later
    :param gain: share by which shifting it back reduces the squared residual of the joint alone
    :param applied: whether it is corrected; not if it is below one sample and does not explain
        most of the residual
    """

    seconds: float
    gain: float
    applied: bool = True


def correct_offsets(signals: Processed, offsets: Mapping[int, TimeOffset]) -> Processed:
    """Return signals with the torque of these joints shifted, by cubic splines.

    Samples beyond the ends are cut off for all joints.
    """
    offsets = {joint: offset for joint, offset in offsets.items() if offset.applied}
    if not offsets:
        return signals
    torque, measured = signals.torque.copy(), signals.measured.copy()
    for joint, offset in offsets.items():
        for values in (torque, measured):
            spline = scipy.interpolate.make_interp_spline(signals.time, values[:, joint], k=3)
            values[:, joint] = spline(signals.time + offset.seconds)
    shifts = [offset.seconds for offset in offsets.values()]
    first = int(np.searchsorted(signals.time, signals.time[0] - min(*shifts, 0.0)))
    last = int(np.searchsorted(signals.time, signals.time[-1] - max(*shifts, 0.0), side='right'))
    return replace(signals, torque=torque, measured=measured).cut(slice(first, last))
