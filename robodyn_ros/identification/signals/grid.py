# SPDX-License-Identifier: Apache-2.0
"""A recording on equal steps of time: which stamps to believe, and what to do about gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import interpolate

from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.signals.cutoff import (
    Cutoffs,
    Mask,
    cutoffs_of,
    long_gaps,
    moving_joints,
)
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.fresh import fresh
from robodyn_ros.recording.recording import Recording

NO_JITTER = 1e-3
"""Periods that a stamp may be off equal steps for both readings to be the same."""

AT_REST = 0.05
"""Time that signals must stay for to be at rest, in [s]."""


@dataclass(frozen=True)
class Grid:
    """Measured samples of a recording on equal steps of time, which several cut-offs share.

    :param gaps: samples that lie in gaps, shape (N,)
    """

    recording: Recording
    gaps: Mask
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, recording: Recording) -> Grid:
        """Leave out what is not measured, and interpolate the remainder where it must be."""
        moving, held = drop_repeated(recording)
        uniform, gaps, findings = on_grid(moving)
        return cls(uniform, gaps, (*held, *findings))

    @cached_property
    def moving(self) -> Mask:
        """Joints that move, shape (n,)."""
        return moving_joints(self.recording.position)

    @cached_property
    def cutoffs(self) -> Cutoffs:
        """Cut-offs by the spectrum; where gaps hide most samples, one that hides fewer.

        Gaps that are shorter than half a period hide no motion.
        """
        rate = 1.0 / self.recording.period
        trial = cutoffs_of(self.recording.position, rate, self.gaps)
        best, least = trial, float(mask_gaps(self.gaps, rate, trial.used).mean())
        while least > 0.5 >= self.gaps.mean() and trial.used > trial.lowest:
            trial = trial.at(trial.used / np.sqrt(2.0))
            share = float(mask_gaps(self.gaps, rate, trial.used).mean())
            best, least = (trial, share) if share < least else (best, least)
        return best


def mask_gaps(gaps: Mask, rate: float, cutoff: float) -> Mask:
    """Return the samples that cannot be used because of gaps, shape (N,).

    A gap longer than half a period of the cut-off frequency hides motion. The filter spreads that
    error: twice differentiated, it fades within four periods of that frequency.

    :param gaps: samples that lie in gaps, shape (N,)
    :param rate, cutoff: in [Hz]
    """
    reach = int(np.ceil(4.0 * rate / cutoff))
    return gaps | long_gaps(gaps, rate, cutoff, reach)


def on_grid(recording: Recording) -> tuple[Recording, Mask, tuple[Finding, ...]]:
    """Return a recording with equal time steps, the samples that lie in gaps (N,), and findings.

    Where samples are missing, not taken at equal steps, or repeat the value before, signals are
    interpolated between their measurements, at the rate of the signal that is measured least
    often. What lies in a gap of any signal longer than two periods is marked. The motor side of a
    recording that has one is treated like its joint side.
    """
    values = np.hstack(_signals(recording))
    series = _series(recording, values)
    period = max(float(np.median(np.diff(each.time))) for each in series)
    if len(series) == 1:
        time, rows = series[0].time, series[0].rows
        even = np.linspace(time[0], time[-1], len(time))
        if np.abs(time - even).max() <= NO_JITTER * period:
            return (
                _replace_signals(recording, even, values[rows]),
                np.zeros(len(even), dtype=bool),
                (),
            )
    first, last = max(each.time[0] for each in series), min(each.time[-1] for each in series)
    grid = first + period * np.arange(int((last - first) / period * (1 + 1e-12)) + 1)
    gaps = np.zeros(len(grid), dtype=bool)
    result = np.empty((len(grid), values.shape[1]))
    torque = np.arange(values.shape[1]) // len(recording.joints) == 1  # behind the positions
    for each in series:
        hole = each.gaps(grid, period)
        gaps |= hole
        for columns, jumps in ((each.columns & ~torque, False), (each.columns & torque, True)):
            known = values[np.ix_(each.rows, columns)]
            result[:, columns] = _between(each.time, known, grid, hole, jumps=jumps)
    note = finding('interpolated', rate=1.0 / period, gaps=int(gaps.sum()), samples=len(grid))
    return _replace_signals(recording, grid, result), gaps, (note,)


@dataclass(frozen=True)
class Series:
    """Signals that were measured at the same times.

    :param time: of the measurements, shape (M,), in [s]
    :param rows: samples that are measurements, shape (N,)
    :param columns: which signals (k,) they are
    """

    time: Array
    rows: Mask
    columns: Mask

    def gaps(self, grid: Array, period: float) -> Mask:
        """Return which times of a grid (N,) lie in a gap longer than two periods."""
        after = np.clip(np.searchsorted(self.time, grid), 1, len(self.time) - 1)
        before, behind = self.time[after - 1] + 0.25 * period, self.time[after] - 0.25 * period
        return np.asarray((behind - before > 2.0 * period) & (grid > before) & (grid < behind))


def _signals(recording: Recording) -> list[Array]:
    """Return position, torque and, if the recording has it, the position of the motors."""
    signals = [recording.position, recording.torque]
    return signals if recording.motor_position is None else [*signals, recording.motor_position]


def _series(recording: Recording, values: Array) -> list[Series]:
    """Group the signals (N, k) by the times at which they were measured."""
    taken = fresh(values)
    time = sample_times(recording)
    patterns = np.packbits(taken, axis=0).T
    series, left = [], np.ones(len(patterns), dtype=bool)
    while left.any():
        first = int(left.argmax())
        alike = (patterns == patterns[first]).all(axis=1)
        rows = taken[:, first]
        now = time if rows.all() else _by_clock(time[rows], recording.period)
        series.append(Series(now, rows, alike))
        left &= ~alike
    return series


def _by_clock(time: Array, tolerance: float) -> Array:
    """Return the times of measurement, from the times at which each new value was first read."""
    steps = np.diff(time)
    ticks = np.append(0.0, np.cumsum(np.maximum(1.0, np.rint(steps / np.median(steps)))))
    clock = np.polyval(np.polyfit(ticks, time, 1), ticks)
    return clock if np.abs(clock - time).max() <= tolerance else time


def _between(time: Array, values: Array, grid: Array, gaps: Mask, *, jumps: bool) -> Array:
    """Interpolate values (M, k), measured at times (M,), at the times of a grid: shape (N, k)."""
    result = interpolate.make_interp_spline(time, values, k=1 if jumps else 3)(grid)
    if gaps.any() and not jumps:  # a cubic spline leads far away from both ends of a long gap
        result[gaps] = interpolate.PchipInterpolator(time, values)(grid[gaps])
    return np.asarray(result)


def drop_repeated(recording: Recording) -> tuple[Recording, tuple[Finding, ...]]:
    """Return a recording without samples that repeat all values of the one before for long.

    They are no measurements, as with drives that are off.
    """
    same = np.zeros(len(recording), dtype=bool)
    same[1:] = True
    for values in (recording.position, recording.torque):
        same[1:] &= (values[1:] == values[:-1]).all(axis=1)
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False)).reshape(-1, 2)
    for start, end in edges[np.diff(edges)[:, 0] * recording.period < AT_REST]:
        same[start:end] = False
    rows = np.flatnonzero(same)
    if not len(rows):
        return recording, ()
    off = rows[(recording.torque[rows] == 0.0).all(axis=1)]
    switched_off = len(off) > len(rows) / 2
    named = off if switched_off else rows
    note = finding(
        'drives_off' if switched_off else 'held_samples',
        samples=len(rows),
        all=len(recording),
        start=recording.time[named[0]],
        end=recording.time[named[-1]],
    )
    return recording.slice(np.flatnonzero(~same)), (note,)


def sample_times(recording: Recording) -> Array:
    """Return the times at which the samples of a recording were taken, shape (N,), in [s].

    Stamps that are off equal steps by less than a period are usually the transport's. They are
    right where a recorder takes the newest sample of a faster stream: then the motion is smoother
    with them than at equal steps.
    """
    time, count, period = recording.time, len(recording), recording.period
    even = np.linspace(time[0], time[-1], count)
    off = float(np.abs(time - even).max())
    if off > period:
        return time
    if off <= NO_JITTER * period or count < 8:
        return even
    stamped, equal = (_roughness(recording.position, each) for each in (time, even))
    # Equal steps are usual: the stamps must make the motion significantly smoother.
    return time if stamped < 0.7 * equal else even


def _roughness(position: Array, time: Array) -> float:
    """Return how far samples are from a cubic through the four around them (RMS)."""
    count = len(time)
    rows = np.unique(np.linspace(2, count - 3, min(count, 4000)).astype(np.intp))
    around = rows[:, None] + np.array([-2, -1, 1, 2])
    weights = np.ones(around.shape)
    for one in range(4):
        for other in set(range(4)) - {one}:
            weights[:, one] *= time[rows] - time[around[:, other]]
            weights[:, one] /= time[around[:, one]] - time[around[:, other]]
    middle, near = position[rows], position[around]
    error = np.abs(middle - np.einsum('mk,mkn->mn', weights, near))
    way = np.abs(near[:, 3] - near[:, 0])
    usual = np.median(way, axis=0)
    moving = usual > 0.0
    if not moving.any():
        return 0.0
    size = np.sqrt(np.mean(error**2, axis=0, where=way >= usual))[moving]
    return float(np.exp(np.mean(np.log(np.maximum(size, 1e-6 * usual[moving])))))


def _replace_signals(recording: Recording, time: Array, signals: Array) -> Recording:
    position, torque, *motor = np.split(signals, signals.shape[1] // len(recording.joints), axis=1)
    return Recording(
        time=time,
        joints=recording.joints,
        position=position,
        torque=torque,
        motor_position=motor[0] if motor else None,
        source=recording.source,
    )
