# SPDX-License-Identifier: Apache-2.0
"""Time of the rows of a table: which columns it is, and its conversion to [s]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.storage import blockwise, extremes
from robodyn_ros.recording.tables.example import is_growing
from robodyn_ros.recording.tables.table import Array, Table, convert_signal, number
from robodyn_ros.recording.tables.units import TIMES
from robodyn_ros.recording.time_order import at_times

SECONDS = re.compile(r'(.*?)_?secs?', re.IGNORECASE)
NANOSECONDS = ('nanosec', 'nanosecs', 'nsec', 'nsecs', '_nanosec', '_nsec', '_nsecs')
EPISODE = 'episode_index'
PAUSE = 10.0
"""Time between two episodes in [s]: no filter reaches from one to the other."""
SIGN = 2.0**15
"""First 16-bit integer that is negative with a sign."""
APART = 1e-3
"""Difference of two times, in periods, up to which they are the same."""


def read_time(table: Table, spec: Any) -> tuple[Array, int, list[Finding]]:
    """Return the time of each row in [s], its origin in [ns] since the epoch, and findings.

    :param spec: entry `time` of a mapping
    :raises RecordingError: it is not clear which column it is, or the column cannot be used
    """
    if isinstance(spec, Mapping) and spec.get('period') is not None:
        period = number(spec['period'], 'period of time', table)
        rows = max((len(values) for values in table.columns.values() if values.ndim), default=0)
        return np.arange(rows, dtype=np.float64) * period, table.origin, []
    name = spec.get('columns') if isinstance(spec, Mapping) else spec
    if isinstance(name, list) and len(name) == 1:
        name = name[0]
    if name is None:
        pair = _seconds_and_nanoseconds(table)
        if pair is not None:
            return *pair, []
        name = _name_of_time(table)
    if not isinstance(name, str):
        raise table.error(f'time must name one column, got {name!r}')
    values = table.column(name, 'time')
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise RecordingError(
            f'{table.source}: time {name!r} must be one column, its shape is {values.shape}'
        )
    values, findings = unwrap_counters(values[:, None], 'time', ('time',))
    time = convert_signal(values, 'time', spec, ('time',), table, units=[table.unit(name)])[:, 0]
    if EPISODE in table.columns and name != EPISODE:
        time, more = _join_episodes(time, table.columns[EPISODE])
        findings += more
    return *_from_epoch(time, table.origin), findings


def _name_of_time(table: Table) -> str:
    """Return the column with a usual name: a plain one, else one of a struct such as data.t."""
    for pattern in (r'(.*)', r'.*[./](.*)'):
        known = [
            name
            for name in table.short
            if (match := re.fullmatch(pattern, name)) and match[1].lower() in TIMES
        ]
        if known:
            return known[0]
    raise table.error(f'no column for time was recognised, {table.described}')


def _seconds_and_nanoseconds(table: Table) -> tuple[Array, int] | None:
    """Return time from the first one and the origin, of two columns such as stamp.nanosec."""
    for name, seconds in table.columns.items():
        match = SECONDS.fullmatch(name)
        for word in NANOSECONDS if match and seconds.ndim == 1 else ():
            other = f'{match[1]}{word}' if match else ''
            fractions = table.columns.get(other)
            if other != name and fractions is not None and seconds.any():
                first = float(seconds[np.flatnonzero(np.isfinite(seconds))[0]])
                time = blockwise(lambda s, n, t=first: (s - t) + 1e-9 * n, seconds, fractions)
                return time, round(first * 1e9)
    return None


def _from_epoch(time: Array, origin: int) -> tuple[Array, int]:
    """Convert times since the epoch, in [s], [ms], [us] or [ns], to times that start at 0."""
    finite = np.flatnonzero(np.isfinite(time[:1000]))
    if origin or not len(finite):
        return time, origin
    first = float(time[finite[0]])
    for factor in (1.0, 1e3, 1e6, 1e9):
        if 1e8 < abs(first) / factor < 9e9:
            start = round(first * (1e9 / factor))
            return blockwise(lambda part, unit=factor: (part - first) / unit, time), start
    return time, origin


def unwrap_counters(
    values: NDArray[Any], signal: str, joints: Sequence[str]
) -> tuple[NDArray[Any], list[Finding]]:
    """Return 16-bit integers that pass 65535 as signed ones; positions and times go on.

    If those of one joint pass it, all of the signal are such integers that can be.

    :param values: shape (N, n)
    """
    low, high = extremes(values) if len(values) else (np.zeros(1), np.zeros(1))
    columns = np.flatnonzero((low >= 0) & (high < 2 * SIGN))
    if not (high[columns] > SIGN).any():
        return values, []
    columns = columns[~(values[:, columns] % 1 > 0.0).any(axis=0)]
    steps = np.diff(values[:, columns].astype(np.float64), axis=0)
    if not (np.abs(steps) > SIGN).any():
        return values, []
    values = values.astype(np.float64)
    values[:, columns] -= 2 * SIGN * (values[:, columns] >= SIGN)
    if 'position' in signal or signal == 'time':
        for column in columns:
            rows = np.isfinite(values[:, column])
            values[rows, column] = np.unwrap(values[rows, column], period=2 * SIGN)
    names = ', '.join(joints[int(column)] for column in columns)
    return values, [finding('signed_integers', signal=signal, joints=names)]


def _join_episodes(time: Array, episode: NDArray[Any]) -> tuple[Array, list[Finding]]:
    """Return increasing times of episodes that each start at 0."""
    starts = np.flatnonzero(np.diff(episode)) + 1
    if not len(starts) or (time[starts] > time[starts - 1]).all():
        return time, []
    shifts = np.zeros(len(time))
    shifts[starts] = time[starts - 1] - time[starts] + PAUSE
    joined = finding('episodes', count=len(starts) + 1, pause=PAUSE)
    return time + np.cumsum(shifts), [joined]


def align_times(table: Table) -> Table:
    """Return the table with one time, if each signal has its time in the column before it.

    Signals with other times are interpolated to the first time.

    :raises RecordingError: a signal is sampled less often than the first time
    """
    times = {name for name in table.columns if {*re.split(r'[\W_]+', name.lower())} & {*TIMES}}
    if len(times) < 2 or any(values.ndim != 1 for values in table.columns.values()):
        return table
    time_of, time = {}, ''
    for name, values in table.columns.items():
        if name in times and is_growing(values):
            time = name
        else:
            time_of[name] = time
    first, *others = dict.fromkeys(time_of.values()) or ['']
    ends = (np.nanmin, np.nanmax)
    spans = [[end(table.columns[name]) for end in ends] for name in (first, *others) if name]
    # one from 0 and one from 1970 share nothing
    if not first or not others or 2 * np.ptp(np.mean(spans, axis=1)) > np.ptp(spans[0]):
        return table
    base, columns, changed = table.columns[first], {'time': table.columns[first]}, []
    period = float(np.nanmedian(np.diff(base)))
    for name, key in time_of.items():
        columns[name], other = table.columns[name], table.columns[key]
        if len(other) == len(base) and np.nanmax(np.abs(other - base)) <= APART * period:
            continue
        if (every := float(np.nanmedian(np.diff(other)))) > 1.5 * period:
            raise RecordingError(
                f'{table.source}: {name} has a sample every {every:.4g}, the first signal one '
                f'every {period:.4g}: export all signals with one time'
            )
        good = np.isfinite(other) & np.isfinite(columns[name])
        columns[name] = at_times(base, other[good], columns[name][good])
        changed.append(name)
    note = finding('interpolated_signals', signals=', '.join(changed), time=first)
    units = {**table.units, 'time': table.unit(first) or 's'}
    findings = (*table.findings, note) if changed else table.findings
    return replace(table, columns=columns, units=units, findings=findings)
