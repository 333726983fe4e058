# SPDX-License-Identifier: Apache-2.0
"""Delay of additive torque, measured from commanded and measured positions.

softMC document, AdditiveTorqueDelay: "Since there is a delay between the commands and the actual
position and velocity of the axis, the same delay should be presented to the additive torque."

The measured position of a joint is fitted by the shifted command, q(t) = a c(t - D) + b. Segments
of the recording give an estimate each; their spread is the standard error of D. Torque is held for
a cycle, so it acts half a cycle late on average: the delay to be set is D - 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from robodyn_ros.errors import ControlError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.identification.factors.shift_search import best_shift
from robodyn_ros.identification.fit.choice import FOUR
from robodyn_ros.models.interface import Array

HELD = 0.5
"""Average lateness, in cycles, of torque that is held for one cycle."""

TOLERANCE = 0.75
"""Largest acceptable error of a delay, in cycles: half a cycle from rounding, a quarter from the
measurement."""

SEGMENTS = 8
"""Number of segments of a recording: their spread is the standard error of the lag."""

LONGEST = 50
"""Longest lag that is searched, in cycles: 50 ms at 1 kHz, above the delay of any drive."""


@dataclass(frozen=True)
class Lag:
    """Time from the command of a joint to its motion.

    :param cycles: NaN if the motion does not excite it
    :param error: standard error, in cycles; infinite if the motion does not excite the lag
    """

    joint: str
    cycles: float
    error: float

    @property
    def certain(self) -> bool:
        """Return True if the lag identifies a cycle: its error is below half a cycle."""
        return FOUR * self.error <= 0.5


@dataclass(frozen=True)
class Samples:
    """Signal of all joints over time.

    :param time: shape (N,), in [s], strictly increasing
    :param values: shape (N, n)
    """

    time: Array
    values: Array


def position_lags(
    command: Samples, measured: Samples, joints: Sequence[str], *, period: float
) -> tuple[Lag, ...]:
    """Return the lag of each joint's measured position behind its command.

    :param command: commanded positions, in [rad] or [m]; the clock is that of `measured`
    :param joints: names of the n joints, in the order of the columns
    :param period: duration of a cycle, in [s]
    :raises ControlError: the signals are too short, or do not overlap in time
    """
    if len(command.time) < 6 or len(command.time) != len(command.values):
        raise ControlError(f'the command has {len(command.time)} samples, at least 6 are needed')
    first = command.time[0] + (LONGEST + 2) * period
    rows = np.flatnonzero((measured.time >= first) & (measured.time <= command.time[-1]))
    if len(rows) < 20 * SEGMENTS:
        raise ControlError(
            f'command and measured positions must overlap for {20 * SEGMENTS} samples after the '
            f'first {LONGEST + 2} cycles, got {len(rows)}'
        )
    # 8000 samples are accurate enough and bound the time for long recordings.
    rows = rows[np.linspace(0, len(rows) - 1, min(8000, len(rows))).astype(np.intp)]
    time, values = measured.time[rows], measured.values[rows]
    lags = []
    for column, joint in enumerate(joints):
        spline = make_interp_spline(command.time, command.values[:, column], k=3)
        lags.append(_lag(joint, spline, time, values[:, column], period))
    return tuple(lags)


def _lag(joint: str, command: BSpline, time: Array, measured: Array, period: float) -> Lag:
    """Return the lag of one joint; time and measured position have shape (N,)."""
    few = slice(None, None, max(1, len(time) // 2000))

    def residual(cycles: float, rows: slice = slice(None)) -> float:
        return _residual(command(time[rows] - cycles * period), measured[rows])

    # Clocks may differ by a cycle, so that a measured position is stamped before its command.
    first = -2
    coarse = np.array([residual(cycles, few) for cycles in range(first, LONGEST + 2)])
    cycles = best_shift(coarse, first, residual)
    if cycles is None:
        return Lag(joint, np.nan, np.inf)
    shifted = time - cycles * period
    error = _error(command(shifted), period * command.derivative()(shifted), measured)
    return Lag(joint, cycles if np.isfinite(error) else np.nan, error)


def _residual(command: Array, measured: Array) -> float:
    """Return the squared residual of a position fitted by gain and offset of a command."""
    command, measured = command - command.mean(), measured - measured.mean()
    size = max(float(command @ command), np.finfo(float).tiny)
    return float(measured @ measured - (command @ measured) ** 2 / size)


def _error(position: Array, change: Array, measured: Array) -> float:
    """Return the standard error of a lag, in cycles; infinite if the motion does not excite it."""
    steps = np.array(
        [
            _step(position[rows], change[rows], measured[rows])
            for rows in np.array_split(np.arange(len(measured)), SEGMENTS)
        ]
    )
    usable = steps[np.isfinite(steps)]
    # A joint may be at rest in up to half of the segments.
    if not np.isfinite(_step(position, change, measured)) or len(usable) < SEGMENTS // 2:
        return np.inf
    return float(usable.std(ddof=1) / np.sqrt(len(usable)))


def _step(position: Array, change: Array, measured: Array) -> float:
    """Return the cycles from a command to the measured position; NaN if it is not excited."""
    offset = np.stack([position, np.ones_like(position)], axis=1)
    excited = change - offset @ np.linalg.lstsq(offset, change, rcond=None)[0]
    size = float(np.linalg.norm(change))
    # At constant velocity, a delay and an offset of the position are the same.
    if size == 0.0 or np.linalg.norm(excited) < 0.05 * size:
        return np.nan
    matrix = np.column_stack([offset, change])
    solution = np.linalg.lstsq(matrix, measured, rcond=None)[0]
    gain, _, moved = solution
    # A joint that follows its command has a residual below a tenth of its motion.
    if gain <= 0.0 or (measured - matrix @ solution).std() > 0.1 * measured.std():
        return np.nan
    return float(-moved / gain)


@dataclass(frozen=True)
class DelayEstimate:
    """Estimate of additive_torque_delay from the lags of all joints.

    :param cycles: delay to be set, as a fraction of cycles; NaN if it is unknown
    """

    lags: tuple[Lag, ...]
    cycles: float

    @property
    def setting(self) -> int | None:
        """Return the delay to configure, in full cycles; None if it is unknown."""
        return None if np.isnan(self.cycles) else max(0, round(self.cycles))


def delay_estimate(lags: Sequence[Lag]) -> DelayEstimate:
    """Return one delay for all joints: the median of the certain lags."""
    certain = [lag.cycles for lag in lags if lag.certain]
    cycles = float(np.median(certain)) - HELD if certain else np.nan
    return DelayEstimate(tuple(lags), cycles)


def delay_findings(estimate: DelayEstimate, configured: int | None) -> list[Finding]:
    """Return findings: which delay fits, whether the configured one does, and joints that differ.

    :param configured: present additive_torque_delay, in cycles; None: unknown
    """
    setting = estimate.setting
    if setting is None:
        return [finding('delay_unknown')]
    lag = estimate.cycles + HELD
    if configured is None:
        result = finding('delay', lag=lag, setting=setting)
    elif configured == setting or abs(configured - estimate.cycles) <= TOLERANCE:
        result = finding('delay.fits', lag=lag, configured=configured)
    else:
        result = finding(
            'delay_wrong',
            lag=lag,
            configured=configured,
            direction='late' if configured > estimate.cycles else 'early',
            error=abs(configured - setting),
            setting=setting,
        )
    return [result, *_single_joints(estimate)]


def _single_joints(estimate: DelayEstimate) -> list[Finding]:
    """Return a finding for each joint whose lag differs from the median."""
    median = estimate.cycles + HELD
    return [
        finding('delay_differs', lag.joint, lag=lag.cycles, median=median)
        for lag in estimate.lags
        if lag.certain and abs(lag.cycles - median) > TOLERANCE
    ]
