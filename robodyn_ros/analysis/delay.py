"""Additive torque delay from a recording: how many cycles a motion comes after its command.

softMC document, AdditiveTorqueDelay: "Since there is a delay between the commands and the actual
position and velocity of the axis, the same delay should be presented to the additive torque."
That delay is measured here as it is defined, from commanded and measured positions: neither the
model nor the torque's noise comes in, and it can be done before any torque is switched on.

The measured position of a joint is fitted by the command shifted in time, q(t) = a c(t - D) + b,
D a fraction of cycles: the best whole cycle, refined within one cycle of it. Stretches of the
recording give an estimate each; their spread is the error of D, whatever the noise looks like.
Torque given in a cycle is held until the next one, so on average it acts half a cycle after it was
given: the delay to be set is D - 1/2.

Lags of the torque (model torque of the reference against measured effort) were tried: friction
shapes it so much that joints of the simulated robots were wrong by up to three cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from robodyn_ros.errors import ControlError
from robodyn_ros.identification.signals.time_shift import best_shift
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.finding import Finding

HELD = 0.5
"""Cycles by which torque that is held for a cycle acts late on average."""

TOLERANCE = 0.75
"""Cycles by which a delay may be off: half of one lies between two settings that fit as well."""

CERTAIN = 0.15
"""Largest error of a lag that can tell cycles apart, in cycles."""

STRETCHES = 8
NEAREST = -2
"""Shortest lag that is searched, in cycles: a measured position cannot come before its command,
but a clock may be off by a cycle."""
LONGEST = 50
"""Longest lag that is searched, in cycles."""

SAMPLES = 8000
"""Samples that are looked at, whatever the length of the recording."""

FOLLOWS = 0.1
"""Largest part of a joint's motion, RMS, that the shifted command may leave."""

BACK_AND_FORTH = 0.05
"""Share of the velocity's norm that must not look like an offset of the position, at least: at
constant velocity a delay and an offset are the same."""


@dataclass(frozen=True)
class Lag:
    """How much later than its command a joint moves.

    :param cycles: nan if the motion does not tell
    :param error: standard error, in cycles
    """

    joint: str
    cycles: float
    error: float

    @property
    def certain(self) -> bool:
        """Whether it tells cycles apart."""
        return self.error <= CERTAIN


@dataclass(frozen=True)
class Samples:
    """A signal of all joints over time.

    :param time: shape (N,), in [s], strictly increasing
    :param values: shape (N, n)
    """

    time: Array
    values: Array


def position_lags(
    command: Samples, measured: Samples, joints: Sequence[str], *, period: float
) -> tuple[Lag, ...]:
    """Lag of every joint's measured position behind its command.

    :param command: positions as commanded, in [rad] or [m]; the clock is that of `measured`
    :param measured: positions as the encoders see them
    :param joints: names of the n joints, in the order of the columns
    :param period: of the cycles, in [s]
    :raises ControlError: the signals are too short, or do not overlap in time
    """
    if len(command.time) < 6 or len(command.time) != len(command.values):
        raise ControlError(f'the command has {len(command.time)} samples, at least 6 are needed')
    first = command.time[0] + (LONGEST + 2) * period
    inside = (measured.time >= first) & (measured.time <= command.time[-1])
    rows = np.flatnonzero(inside)
    if len(rows) < 20 * STRETCHES:
        raise ControlError(
            f'command and measured positions must overlap for {20 * STRETCHES} samples after the '
            f'first {LONGEST + 2} cycles, got {len(rows)}'
        )
    rows = rows[np.linspace(0, len(rows) - 1, min(SAMPLES, len(rows))).astype(np.intp)]
    spline = make_interp_spline(command.time, command.values, k=3)
    slope = spline.derivative()
    time, values = measured.time[rows], measured.values[rows]
    coarse = _residuals(spline, time, values, period)
    found = []
    for joint, name in enumerate(joints):
        lag = best_shift(
            coarse[:, joint], NEAREST, _residual_of(spline, time, values, joint, period)
        )
        if lag is None:
            found.append(Lag(name, np.nan, np.inf))
            continue
        at = time - lag * period
        signals = (spline(at)[:, joint], period * slope(at)[:, joint], values[:, joint])
        found.append(Lag(name, lag, _error(*signals)))
    return tuple(
        Lag(each.joint, np.nan, np.inf) if np.isinf(each.error) else each for each in found
    )


def _residuals(spline: BSpline, time: Array, values: Array, period: float) -> Array:
    """Squared residual of each joint at whole shifts of the command, shape (k, n)."""
    few = slice(None, None, max(1, len(time) // 2000))
    shifts = range(NEAREST, LONGEST + 2)
    return np.array([_left(spline(time[few] - lag * period), values[few]) for lag in shifts])


def _residual_of(
    spline: BSpline, time: Array, values: Array, joint: int, period: float
) -> Callable[[float], float]:
    """Squared residual of one joint at any shift of the command, in cycles."""

    def residual(lag: float) -> float:
        shifted = spline(time - lag * period)[:, joint : joint + 1]
        return float(_left(shifted, values[:, joint : joint + 1])[0])

    return residual


def _left(command: Array, measured: Array) -> Array:
    """Squared residual (n,) of measured positions fitted by gain and offset of a command."""
    command, measured = command - command.mean(axis=0), measured - measured.mean(axis=0)
    size = np.maximum((command**2).sum(axis=0), np.finfo(float).tiny)
    left: Array = (measured**2).sum(axis=0) - (command * measured).sum(axis=0) ** 2 / size
    return left


def _error(position: Array, change: Array, measured: Array) -> float:
    """Return the standard error of a lag, in cycles; infinite if the motion does not tell the lag.

    :param position: command, shifted by the lag, shape (N,)
    :param change: by which it changes in a cycle
    """
    steps = []
    everything = _fit(position, change, measured)
    for part in np.array_split(np.arange(len(measured)), STRETCHES):
        steps.append(_fit(position[part], change[part], measured[part]))
    usable = np.array([step for step in steps if np.isfinite(step)])
    # Where a joint stands still for a part of the motion the rest of it tells.
    if not np.isfinite(everything) or len(usable) < STRETCHES // 2:
        return np.inf
    return float(usable.std(ddof=1) / np.sqrt(len(usable)))


def _fit(position: Array, change: Array, measured: Array) -> float:
    """Cycles that the measured position comes after this command; nan: it cannot be told."""
    still = np.stack([position, np.ones_like(position)], axis=1)
    beside = change - still @ np.linalg.lstsq(still, change, rcond=None)[0]
    size, whole = float(np.sqrt(beside @ beside)), float(np.sqrt(change @ change))
    if whole == 0.0 or size < BACK_AND_FORTH * whole:
        return np.nan
    matrix = np.column_stack([still, change])
    found = np.linalg.lstsq(matrix, measured, rcond=None)[0]
    gain, _, moved = found
    rest = measured - matrix @ found
    if gain <= 0.0 or rest.std() > FOLLOWS * measured.std():
        return np.nan
    return float(-moved / gain)


@dataclass(frozen=True)
class DelayEstimate:
    """What the lags of all joints say about additive_torque_delay.

    :param lags: of every joint
    :param cycles: delay to be set, as a fraction; nan if it cannot be told
    """

    lags: tuple[Lag, ...]
    cycles: float

    @property
    def setting(self) -> int | None:
        """Whole cycles to be set; None if that cannot be told."""
        return None if np.isnan(self.cycles) else max(0, round(self.cycles))


def delay_estimate(lags: Sequence[Lag]) -> DelayEstimate:
    """One delay for all joints: the median of those that tell."""
    certain = [lag.cycles for lag in lags if lag.certain]
    cycles = float(np.median(certain)) - HELD if certain else np.nan
    return DelayEstimate(tuple(lags), cycles)


def delay_findings(estimate: DelayEstimate, configured: int | None) -> list[Finding]:
    """Say whether the configured delay fits, which one does, or why that cannot be told.

    :param configured: additive_torque_delay as it is set, in cycles; None: not known
    """
    setting = estimate.setting
    if setting is None:
        return [
            Finding(
                'delay_unknown',
                'the delay cannot be told from this recording: no joint follows its command on '
                'a motion back and forth that tells cycles apart; record a faster one',
            )
        ]
    found = []
    fits = f'the motion comes {estimate.cycles + HELD:.2f} cycles after its command, '
    fits += f'additive_torque_delay {setting} fits it'
    if configured is None:
        found.append(Finding('delay', fits, severity='info'))
    elif configured == setting or abs(configured - estimate.cycles) <= TOLERANCE:
        text = f'additive_torque_delay {configured} fits: the motion comes '
        text += f'{estimate.cycles + HELD:.2f} cycles after its command'
        found.append(Finding('delay', text, severity='info'))
    else:
        word = 'late' if configured > estimate.cycles else 'early'
        off = abs(configured - setting)
        text = f'additive_torque_delay is {configured}, so that the torque comes {off} '
        text += f'cycle{"s" * (off > 1)} too {word}: {fits}'
        found.append(Finding('delay_wrong', text, severity='error'))
    return found + _single_joints(estimate)


def _single_joints(estimate: DelayEstimate) -> list[Finding]:
    """Joints whose lag is another one, as drives of another make or tuning have it."""
    found = []
    for lag in estimate.lags:
        off = lag.cycles - HELD - estimate.cycles
        if lag.certain and abs(off) > TOLERANCE:
            text = f'joint {lag.joint} moves {lag.cycles:.2f} cycles after its command, the '
            text += (
                f'median of the joints is {estimate.cycles + HELD:.2f}: one delay cannot fit both'
            )
            found.append(Finding('delay_differs', text, lag.joint))
    return found


def configured_delay(requested: Array, commanded: Array) -> int | None:
    """Cycles by which additive torque was delayed; None if there was none, or it is not clear.

    Changes of the torque are compared: gravity alone is the same in every cycle.

    :param requested: model torque of every cycle, before the delay, shape (N, n), [Nm] or [N]
    :param commanded: additive torque that left, shape (N, n)
    """
    requested, commanded = np.diff(requested, axis=0), np.diff(commanded, axis=0)
    most = min(LONGEST, len(requested) - 2)
    if most < 0:
        return None
    target = commanded[most:]
    whole = (target**2).sum()
    left = []
    for lag in range(most + 1):
        given = requested[most - lag : len(requested) - lag]
        size = np.maximum((given**2).sum(axis=0), np.finfo(float).tiny)
        left.append(whole - ((given * target).sum(axis=0) ** 2 / size).sum())
    best = int(np.argmin(left))
    return best if whole > 0.0 and left[best] < 0.1 * whole else None
