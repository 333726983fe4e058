# SPDX-License-Identifier: Apache-2.0
"""Flaws of recordings: how each is made, how an expert mends it, which finding names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

Array = NDArray[np.float64]
Arrays = dict[str, Array]
"""Signals of a recording: time (N,), position and torque (N, n)."""
Change = Callable[[Arrays, np.random.Generator], Arrays]


@dataclass(frozen=True)
class Flaw:
    """A flaw.

    :param make: returns the signals with the flaw
    :param codes: findings that name it, each of them is enough
    :param mend: returns the signals as an expert uses them; the random numbers are those of
        `make`; None: the recording is of no use, its error is not counted
    :param axes: fewest axes of a robot that can have it
    """

    make: Change
    codes: tuple[str, ...]
    mend: Change | None = None
    axes: int = 1


def _rows(signals: Arrays, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Arrays:
    return {name: values[rows] for name, values in signals.items()}


def _unchanged(signals: Arrays, random: np.random.Generator) -> Arrays:
    return signals


def _lateness(signals: Arrays, random: np.random.Generator) -> int:
    """Return samples that the torque is late: 4 to 20 ms, at least 2 samples."""
    period = signals['time'][1] - signals['time'][0]
    return max(2, round(random.uniform(0.004, 0.02) / period))


def _late(signals: Arrays, random: np.random.Generator) -> Arrays:
    late = _lateness(signals, random)
    return {
        'time': signals['time'][late:],
        'position': signals['position'][late:],
        'torque': signals['torque'][:-late],
    }


def _in_time(signals: Arrays, random: np.random.Generator) -> Arrays:
    late = _lateness(signals, random)
    return {
        'time': signals['time'][:-late],
        'position': signals['position'][:-late],
        'torque': signals['torque'][late:],
    }


def _gaps(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Leave out three gaps of 0.2 to 0.8 s."""
    time, kept = signals['time'], np.ones(len(signals['time']), dtype=bool)
    for start in random.uniform(0.1, 0.9, 3) * time[-1]:
        kept[(time >= start) & (time < start + random.uniform(0.2, 0.8))] = False
    return _rows(signals, kept)


def _at_rest(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Replace the encoder noise of joints at rest by their mean position."""
    position = signals['position']
    stroke = np.ptp(position, axis=0)
    still = stroke < 0.01 * stroke.max()
    return {**signals, 'position': np.where(still, position.mean(axis=0), position)}


def _instants(signals: Arrays, random: np.random.Generator) -> list[NDArray[np.intp]]:
    """Return the samples at which each signal is measured: joint positions, then joint torques.

    Either all in the same random 40 % of the samples, or by drives of at least 50 Hz: torques
    later than positions, or each joint by a clock of its own.
    """
    count, joints = signals['position'].shape
    kind = random.integers(3)
    most = int(0.02 / (signals['time'][1] - signals['time'][0]))
    if kind == 0 or most < 2:
        fresh = np.flatnonzero(random.uniform(size=count) > 0.6)
        return 2 * joints * [fresh]
    every = int(random.integers(2, min(most, 8) + 1))
    late = int(random.integers(1, every))
    own = random.integers(0, every, joints).tolist()
    first = [*joints * [0], *joints * [late]] if kind == 1 else [*own, *own]
    return [np.arange(start, count, every) for start in first]


def _repeated(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Repeat the values of each signal until it is measured again."""
    instants = _instants(signals, random)
    values = np.hstack([signals['position'], signals['torque']])
    rows = np.zeros(values.shape, dtype=np.intp)
    for column, fresh in enumerate(instants):
        rows[fresh, column] = fresh
    held = np.take_along_axis(values, np.maximum.accumulate(rows, axis=0), axis=0)
    position, torque = np.hsplit(held, 2)
    return {'time': signals['time'], 'position': position, 'torque': torque}


def _once(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Return all signals at the times at which the first joint is measured, interpolated."""
    time, instants = signals['time'], _instants(signals, random)
    values = np.hstack([signals['position'], signals['torque']])
    now = time[instants[0]]
    joints = signals['position'].shape[1]
    known = [
        make_interp_spline(time[fresh], values[fresh, column], k=3 if column < joints else 1)(now)
        for column, fresh in enumerate(instants)
    ]
    position, torque = np.hsplit(np.column_stack(known), 2)
    return {'time': now, 'position': position, 'torque': torque}


def _drives_off(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Brakes hold the robot for the last 10 to 25 % of the time, without torque."""
    rows = np.arange(len(signals['time']))
    last = _switched_off(signals, random)
    off = rows > last
    return {
        'time': signals['time'],
        'position': signals['position'][np.minimum(rows, last)],
        'torque': np.where(off[:, None], 0.0, signals['torque']),
    }


def _switched_off(signals: Arrays, random: np.random.Generator) -> int:
    return round((1.0 - random.uniform(0.1, 0.25)) * len(signals['time']))


def _wrong_sign(signals: Arrays, random: np.random.Generator) -> Arrays:
    sign = np.ones(signals['torque'].shape[1])
    sign[random.integers(len(sign))] = -1.0
    return {**signals, 'torque': signals['torque'] * sign}


def _swapped(signals: Arrays, random: np.random.Generator) -> Arrays:
    order = np.arange(signals['torque'].shape[1])
    first = random.integers(len(order) - 1)
    order[[first, first + 1]] = order[[first + 1, first]]
    return {**signals, 'torque': signals['torque'][:, order]}


def _time_scale(signals: Arrays, random: np.random.Generator) -> Arrays:
    """Stretch the stamps; the velocity in the recording stays as it was."""
    velocity = np.gradient(signals['position'], signals['time'], axis=0)
    factor = random.choice([0.5, 2.0, 10.0])
    return {**signals, 'time': factor * signals['time'], 'velocity': velocity}


FLAWS = {
    '': Flaw(_unchanged, (), _unchanged),
    'short': Flaw(
        _unchanged, ('too_short', 'too_few_samples', 'not_determined', 'rank_deficient'),
        _unchanged,
    ),
    'resting': Flaw(_unchanged, ('frozen_joint', 'no_motion', 'rank_deficient'), _at_rest, axes=2),
    'delay': Flaw(_late, ('time_offset', 'sensor_delay'), _in_time),
    'gaps': Flaw(_gaps, ('gaps',), _unchanged),
    'repeats': Flaw(
        _repeated, ('stale_samples', 'stale_joint', 'repeated_samples'), _once,
    ),
    'drives off': Flaw(
        _drives_off, ('drives_off', 'torque_lost', 'disturbed_interval'),
        lambda signals, random: _rows(signals, slice(_switched_off(signals, random))),
    ),
    'sign': Flaw(_wrong_sign, ('torque_sign',)),
    'swapped': Flaw(_swapped, ('swapped_joints', 'joint_order', 'torque_order'), axes=2),
    'degrees': Flaw(
        lambda signals, random: {**signals, 'position': np.rad2deg(signals['position'])},
        ('position_unit', 'positions_in_degrees', 'outside_position_limits'),
    ),
    'time scale': Flaw(_time_scale, ('time_scale',)),
}  # fmt: skip
"""Flaws by name; '' is none."""
