# SPDX-License-Identifier: Apache-2.0
"""Checks of measured signals, with repairs that invent no data; every repair is reported.

Nothing is sorted or interpolated. These samples are dropped with a finding:

- samples with NaN (`nan_samples`, an error if they are more than a tenth)
- samples that repeat a stamp: `repeated_samples` with the same data, `repeated_stamps` with other
  data (the first is kept)
- messages of bags that arrive late, or have the stamps of a clock that was wrong for a while, if
  they are few (`late_samples`; otherwise an error)
- samples at which a signal jumps and returns (`bad_samples`, see `jumps`)

Positions are unwrapped where they jump by a whole turn (`wrapped_position`).

Only reported: `gaps`, `position_jump` (an error), `slow_sampling`, `irregular_sampling`,
`frozen_joint`, `no_motion`, `zero_torque`, `constant_torque`, `stale_samples`, `no_velocity`,
`time_scale`, `velocity_scale`, `gear_ratio` (the motor side is left out then).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, Severity, finding
from robodyn_ros.recording.fresh import fresh
from robodyn_ros.recording.jumps import without_jumps
from robodyn_ros.recording.missing_values import MISSING_SHARE, longest_run, missing_values
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.stamps import GAP, missing_in_gaps
from robodyn_ros.recording.storage import BLOCK, extremes, sweep
from robodyn_ros.recording.tables.columns import Signals
from robodyn_ros.recording.tables.known_names import MOTOR_SIDE
from robodyn_ros.recording.time_order import in_order

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

NOT_USED = {
    'velocity': 'no_velocity',
    'acceleration': 'no_acceleration',
    'motor_position': 'no_motor_position',
    'motor_velocity': 'no_motor_velocity',
}
"""Finding about an optional signal without data."""

SAME_TIME = 1.1
"""Ratio of recorded velocity to the derivative of the position, either way, up to which times are
believed: the low pass and the delay of a drive's velocity change it by a few per cent."""


def check_recording(signals: Signals, *, late_share: float = 0.0, every: bool = True) -> Recording:
    """Check signals, drop samples that cannot be used, and build the recording.

    :param late_share: largest share of samples whose times may not be in order; they are dropped
    :param every: False: joints without position or torque are left out if others have both
    :raises RecordingError: a signal is missing, time goes back, or too few samples remain
    """
    if not len(signals.time):
        raise RecordingError(f'{signals.source}: it has no samples')
    if not every:
        _leave_out_empty_joints(signals)
    _check_nan_joints(signals)
    rows, findings = missing_values(signals.time, signals.joints, signals.values)
    signals.findings += findings
    signals.drop(rows)
    signals.drop(_find_late(signals, late_share))
    signals.drop(_find_repeated(signals))
    if len(signals.time) < 2:
        raise RecordingError(
            f'{signals.source}: {len(signals.time)} usable samples, expected at least 2'
        )
    _repair_jumps(signals)
    signals.findings += [*_sampling(signals), *_motion(signals), *_torque(signals)]
    signals.findings += _time_scale(signals)
    signals.findings += _motor_side(signals)
    for array in (signals.time, *signals.values.values()):
        array.setflags(write=False)  # so that the recording does not copy them
    recording = Recording(
        time=signals.time,
        joints=signals.joints,
        source=signals.source,
        findings=tuple(signals.findings),
        origin=signals.origin,
        gear_ratio=signals.gear_ratio,
        topic=signals.topic,
        part=signals.part,
        drive=signals.drive,
        **signals.values,
    )
    return recording if signals.drive is None else recording.with_drive(signals.drive)


def _leave_out_empty_joints(signals: Signals) -> None:
    """Leave out joints without position or torque (wheels, a gripper), with a finding."""
    empty = _empty(signals.values['position']) | _empty(signals.values['torque'])
    if not empty.any() or empty.all():
        return
    kept = np.flatnonzero(~empty)
    names = ', '.join(signals.joints[index] for index in np.flatnonzero(empty))
    signals.findings.append(finding('joints_left_out', joints=names))
    signals.select([signals.joints[index] for index in kept])


def _check_nan_joints(signals: Signals) -> None:
    """Refuse joints without data; velocities are optional."""
    for name in list(signals.values):
        empty = _empty(signals.values[name])
        if not empty.any():
            continue
        joint = signals.joints[int(np.argmax(empty))]
        if name not in NOT_USED:
            raise MissingSignalError(
                f'{signals.source}: {name} of joint {joint!r} is missing (NaN or empty) in all '
                f'{len(signals.time)} samples'
            )
        del signals.values[name]
        signals.findings.append(finding(NOT_USED[name], joint))


def _empty(values: Array) -> Rows:
    """Return which columns (n,) of values (N, n) have no finite number."""
    empty = np.ones(values.shape[1], dtype=bool)
    for rows in sweep(values):
        empty &= ~np.isfinite(values[rows]).any(axis=0)
        if not empty.any():
            break
    return empty


def _find_late(signals: Signals, share: float) -> Rows:
    time = signals.time
    back = np.flatnonzero(np.diff(time) < 0.0) + 1
    if not len(back):
        return np.zeros(len(time), dtype=bool)
    most = int(share * len(time))
    # Each step back costs a sample at least.
    late = ~in_order(time) if len(back) <= most else np.ones(len(time), dtype=bool)
    count = int(late.sum())
    if count > most:
        row = back[0]
        raise RecordingError(
            f'{signals.source}: time goes back at sample {row} '
            f'({time[row - 1]:.6f} s, then {time[row]:.6f} s), and at most {most} samples may '
            f'be dropped for it: split the recording there'
        )
    signals.findings.append(finding('late_samples', count=count, first=int(np.argmax(late))))
    return late


def _find_repeated(signals: Signals) -> Rows:
    time = signals.time
    repeated = np.zeros(len(time), dtype=bool)
    repeated[1:] = np.diff(time) == 0
    count = int(repeated.sum())
    if not count:
        return repeated
    rows = np.flatnonzero(repeated)
    same = np.ones(count, dtype=bool)
    for values in signals.values.values():
        same &= (values[rows] == values[rows - 1]).all(axis=1)
    if same.any():
        signals.findings.append(finding('repeated_samples', count=int(same.sum())))
    if not same.all():
        other, start = int((~same).sum()), time[rows[np.argmin(same)]]
        many = other > MISSING_SHARE * len(time) and not _even(np.diff(np.flatnonzero(~repeated)))
        severity: Severity | None = 'error' if many else None
        signals.findings.append(finding('repeated_stamps', '', severity, count=other, start=start))
    return repeated


def _even(lengths: NDArray[np.intp]) -> bool:
    """Return True if nearly all stamps occur equally often: a simulation has a coarse clock."""
    usual = np.median(lengths) if len(lengths) else 0.0
    return bool(usual > 1 and np.mean(np.abs(lengths - usual) <= 1) > 0.9)


def _repair_jumps(signals: Signals) -> None:
    """Unwrap positions and drop samples at which a signal jumps and returns."""
    position, rows, findings = without_jumps(signals.time, signals.joints, signals.values)
    signals.values['position'] = position
    signals.findings += findings
    signals.drop(rows)


def _sampling(signals: Signals) -> Iterator[Finding]:
    steps = np.diff(signals.time)
    period = float(np.median(steps))
    gaps = steps > GAP * period
    if gaps.any():
        worst = int(np.argmax(steps))
        missing = missing_in_gaps(signals.time, period, np.flatnonzero(gaps))
        yield finding(
            'gaps',
            count=int(gaps.sum()),
            all=len(signals.time),
            missing=missing,
            largest=steps[worst],
            time=signals.time[worst],
            period=period,
        )
    if period >= 1.0:
        # A period of 1 ms (1000 Hz) is 1000 us or 1e6 ns.
        unit = 'ms' if period < 1e3 else 'us' if period < 1e6 else 'ns'
        duration = float(np.ptp(signals.time))
        yield finding('slow_sampling', rate=1.0 / period, duration=duration, unit=unit)
    limit = 0.2
    off = (np.abs(steps - period) > limit * period) & ~gaps
    if off.mean() > 0.01:
        yield finding(
            'irregular_sampling',
            share=off.mean(),
            limit=limit,
            period=period,
            shortest=steps.min(),
            longest=steps[~gaps].max(),
        )


def _motion(signals: Signals) -> Iterator[Finding]:
    position = signals.values['position']
    low, high = extremes(position)
    frozen = low == high
    if frozen.all():
        yield finding('no_motion', stroke=0.0)
        return
    for index in np.flatnonzero(frozen):
        joint = signals.joints[index]
        yield finding('frozen_joint.recorded', joint, position=position[0, index])
    same = np.ones(len(position) - 1, dtype=bool)
    for values in (position, signals.values['torque']):
        for rows in sweep(values, overlap=1):
            block = values[rows]
            same[rows.start : rows.stop - 1] &= (block[1:] == block[:-1]).all(axis=1)
    length, start = longest_run(same)
    taken = fresh(np.hstack([position[:BLOCK], signals.values['torque'][:BLOCK]]))
    if not taken.all():
        published = 1.0 / float(np.median(np.diff(signals.time)))
        yield finding(
            'stale_samples.often',
            share=1.0 - taken.mean(),
            published=published,
            measured=published * taken.mean(axis=0).min(),
        )
    elif length >= 3:
        yield finding(
            'stale_samples',
            count=int(same.sum()),
            all=len(position),
            longest=length,
            start=signals.time[start],
        )


def _time_scale(signals: Signals) -> Iterator[Finding]:
    """Compare recorded velocities with the derivatives of positions, both over some samples."""
    if 'velocity' not in signals.values:
        return
    rows = slice(0, BLOCK)
    time, position = signals.time[rows], signals.values['position'][rows]
    velocity = signals.values['velocity'][rows]
    lapse = np.diff(time)[:, None]
    step = max(1, len(time) // 200)
    each = np.array([0.5 * (velocity[1:] + velocity[:-1]) * lapse, np.diff(position, axis=0)])
    each *= lapse <= GAP * np.median(lapse)  # the velocity within a gap is unknown
    travelled, moved = np.add.reduceat(each, np.arange(0, len(lapse), step), axis=1)
    size, product = (travelled**2).sum(axis=0), (travelled * moved).sum(axis=0)
    alike = product**2 > 0.9 * size * (moved**2).sum(axis=0)
    alike &= size > 0.0
    factors = product[alike] / size[alike]
    off = np.abs(np.log(np.maximum(np.abs(factors), 1e-300))) > np.log(SAME_TIME)
    if not off.any():
        return
    names = [signals.joints[k] for k in np.flatnonzero(alike)[off]]
    factor = float(np.median(factors[off]))
    common = off.all() and np.ptp(factors) < (SAME_TIME - 1.0) * abs(factor) and factor > 0.0
    if common:
        yield finding('time_scale', factor=1.0 / factor)
    else:
        yield finding('velocity_scale', names[0], joints=', '.join(names), factor=1.0 / factor)


def _motor_side(signals: Signals) -> list[Finding]:
    """Drop motor signals whose travel does not fit the joint: the gear ratio is wrong."""
    if 'motor_position' not in signals.values:
        signals.gear_ratio = None
        signals.values.pop('motor_velocity', None)
        return []
    position, motor = signals.values['position'], signals.values['motor_position']
    size, common = _moments(position, motor)
    turns = common / np.where(size > 0.0, size, 1.0)
    off = (np.abs(turns - 1.0) > 0.05) & (size > 0.0)
    if not off.any():
        return []
    for name in MOTOR_SIDE:
        signals.values.pop(name, None)
    joint, turn = signals.joints[int(off.argmax())], float(turns[off.argmax()])
    assert signals.gear_ratio is not None
    ratio = turn * float(signals.gear_ratio[off.argmax()])
    signals.gear_ratio = None
    return [finding('gear_ratio', joint, turns=turn, ratio=ratio)]


def _moments(position: Array, motor: Array) -> tuple[Array, Array]:
    """Return sums of squares of a position (N, n), and of products with another, both centred."""
    count = len(position)
    sums = np.zeros((2, position.shape[1]))
    for rows in sweep(position, motor):
        sums += position[rows].sum(axis=0), motor[rows].sum(axis=0)
    size, common = np.zeros((2, position.shape[1]))
    for rows in sweep(position, motor):
        centred = position[rows] - sums[0] / count
        size += (centred**2).sum(axis=0)
        common += (centred * (motor[rows] - sums[1] / count)).sum(axis=0)
    return size, common


def _torque(signals: Signals) -> Iterator[Finding]:
    torque = signals.values['torque']
    low, high = extremes(torque)
    for index in np.flatnonzero(low == high):
        joint, value = signals.joints[index], torque[0, index]
        key = 'constant_torque.recorded' if value else 'zero_torque.recorded'
        yield finding(key, joint, value=value)
