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

    :param values: shape (N, n)
    """
    low, high = extremes(values) if len(values) else (np.zeros(1), np.zeros(1))
    columns = np.flatnonzero((low >= 0) & (high > SIGN) & (high < 2 * SIGN))
    steps = np.diff(values[:, columns].astype(np.float64), axis=0)
    wrapped = columns[(np.abs(steps) > SIGN).any(axis=0) & (steps % 1 == 0.0).all(axis=0)]
    if not len(wrapped):
        return values, []
    values = values.astype(np.float64)
    values[:, wrapped] -= 2 * SIGN * (values[:, wrapped] >= SIGN)
    if 'position' in signal or signal == 'time':
        values[:, wrapped] = np.unwrap(values[:, wrapped], axis=0, period=2 * SIGN)
    names = ', '.join(joints[column] for column in wrapped)
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
    named = [name for name in table.columns if {*re.split(r'[\W_]+', name.lower())} & {*TIMES}]
    if len(named) < 2 or any(values.ndim != 1 for values in table.columns.values()):
        return table
    time_of: dict[str, str] = {}
    time = ''
    for name, values in table.columns.items():
        time = name if name in named and is_growing(values) else time
        time_of[name] = time
    times = {name: table.columns[name] for name in time_of.values() if name}
    if '' in time_of.values() or len(times) < 2 or not _overlap([*times.values()]):
        return table
    first, base = next(iter(times.items()))
    units = {'time': table.units[first]} if first in table.units else {}
    signals = {name: each for name, each in table.columns.items() if name not in times}
    changed = []
    for name in signals:
        other = times[time_of[name]]
        near = APART * _period(base)
        if len(other) != len(base) or not np.allclose(other, base, 0.0, near, equal_nan=True):
            signals[name] = _interpolate(table, name, other, base)
            changed.append(name)
    findings = table.findings
    if changed:
        note = finding('interpolated_signals', signals=', '.join(changed), time=first)
        findings = (*findings, note)
    columns = {'time': base, **signals}
    return replace(table, columns=columns, units={**table.units, **units}, findings=findings)


def _interpolate(table: Table, name: str, time: NDArray[Any], base: NDArray[Any]) -> Array:
    """Return a signal at the times of others; NaN before its start and after its end."""
    if _period(time) > 1.5 * _period(base):
        raise RecordingError(
            f'{table.source}: {name} has a sample every {_period(time):.4g}, the first signal one '
            f'every {_period(base):.4g}: export all signals with one time'
        )
    values = table.columns[name]
    good = np.isfinite(time) & np.isfinite(values)
    inside = np.interp(base, time[good], values[good], left=np.nan, right=np.nan)
    return np.asarray(inside)


def _period(time: NDArray[Any]) -> float:
    return float(np.nanmedian(np.diff(time)))


def _overlap(times: Sequence[NDArray[Any]]) -> bool:
    """Return True if times share most of their ranges: one from 0 and one from 1970 do not."""
    first = max(float(np.nanmin(each)) for each in times)
    last = min(float(np.nanmax(each)) for each in times)
    return all(2.0 * (last - first) > np.nanmax(each) - np.nanmin(each) for each in times)
