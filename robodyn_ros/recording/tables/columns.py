# SPDX-License-Identifier: Apache-2.0
"""Assignment of a file's columns to signals, by known names or by a mapping in YAML.

A mapping gives the columns (or the matrix) of each signal and their conversion to SI units::

    joints: [axis]
    time: {columns: t, unit: ms}        # or {period: 0.001} where the file has no time
    position: {columns: [q1], unit: deg, offset: 0.1}
    torque: {columns: [i1], unit: mA, scale: [Kt]}

value = column * unit * scale + offset. `scale` is a number or names a variable of the file; a
list, or a mapping by joint name, has one per joint. `offset` is in SI units.

`gear_ratio` (a number, a list, or a mapping by joint name) divides motor_position and
motor_velocity, the signals of a second encoder on the motor; without it they are taken as
joint-side values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.storage import blockwise
from robodyn_ros.recording.tables.example import mapping_error
from robodyn_ros.recording.tables.known_names import (
    MOTOR_SIDE,
    NEEDED,
    SIGNALS,
    Part,
    by_known_names,
)
from robodyn_ros.recording.tables.table import Table, converted, number, per_joint
from robodyn_ros.yaml_file import read_yaml

Array = NDArray[np.float64]

KEYS = ('joints', 'time', *SIGNALS, 'gear_ratio')
SPEC_KEYS = ('columns', 'unit', 'scale', 'offset')
TIMES = ('time', 'times', 't', 'timestamp', 'timestamps', '__time', '%time')


@dataclass
class Signals:
    """Signals in SI units before the checks: NaN and any order of time are possible."""

    time: Array
    joints: tuple[str, ...]
    source: str
    values: dict[str, Array] = field(default_factory=dict)
    origin: int = 0
    gear_ratio: Array | None = None
    findings: list[Finding] = field(default_factory=list)
    topic: str = ''


def load_columns(source: Mapping[str, object] | str | Path) -> Mapping[str, object]:
    """Read a column mapping and check its keys.

    :raises RecordingError: it cannot be read, or has an unknown key
    """
    name = 'column mapping'
    data: object = source
    if isinstance(source, (str, Path)):
        name = str(source)
        data = read_yaml(source, 'the column mapping', RecordingError)
    if not isinstance(data, Mapping):
        raise RecordingError(f'{name}: a column mapping has keys {KEYS}, got {data!r}')
    _check_keys(data, KEYS, name)
    for signal in ('time', *SIGNALS):
        if isinstance(data.get(signal), Mapping):
            extra = ('period',) if signal == 'time' else ()
            _check_keys(data[signal], (*SPEC_KEYS, *extra), f'{name}: {signal}')
    return data


def _check_keys(data: Mapping[str, object], known: tuple[str, ...], name: str) -> None:
    for key in data:
        if key not in known:
            raise RecordingError(f'{name}: key {key!r} is not known, expected one of {known}')


def signals_from(
    table: Table,
    mapping: Mapping[str, object] | None = None,
    joints: Sequence[str] | None = None,
) -> Signals:
    """Find the signals in a table and convert them to SI units.

    :param mapping: checked column mapping (see `load_columns`); signals that it does not name are
        searched by known names
    :param joints: joints to read, in this order; the names of columns if the file has none
    :raises RecordingError: a column is missing, has the wrong shape or unit, or joints do not fit
    """
    mapping = mapping or {}
    named = _mapped_joints(mapping, table)
    present = _parts(table, mapping)
    time = _time(table, mapping)
    time, origin = _from_epoch(time, table.origin)
    signals = Signals(time, (), table.source, origin=origin, topic=table.topic)
    signals.findings += table.findings
    names = named or next((part.joints for part in present.values() if part.joints), None)
    width = present['position'].width(len(time))
    signals.joints = _final_names(names or table.joints, joints, width, signals)
    for signal, part in present.items():
        spec = mapping.get(signal)
        values = part.values(signals.joints, names or table.joints, len(time), signal)
        signals.values[signal] = converted(
            values, signal, spec, signals.joints, table, order=part.joints or names or table.joints
        )
    _reduce(signals, mapping.get('gear_ratio', 1.0), names or table.joints, table)
    return signals


def _reduce(signals: Signals, ratio: object, order: tuple[str, ...] | None, table: Table) -> None:
    """Convert motor-side signals to the joint side."""
    motor = [name for name in MOTOR_SIDE if name in signals.values]
    if not motor:
        return
    joints = signals.joints
    ratios = per_joint(ratio, joints, order or joints, 'gear_ratio', table)
    if not (np.abs(ratios) > 0.0).all():
        raise RecordingError(f'{table.source}: a gear_ratio must not be 0, got {ratio!r}')
    signals.gear_ratio = ratios
    if (ratios != 1.0).any():
        for name in motor:
            signals.values[name] = blockwise(lambda part: part / ratios, signals.values[name])


def _parts(table: Table, mapping: Mapping[str, object]) -> dict[str, Part]:
    """Return the columns of all available signals; position determines topic and joints."""
    parts: dict[str, Part] = {}
    for signal in SIGNALS:
        spec = mapping.get(signal)
        columns = spec.get('columns') if isinstance(spec, Mapping) else spec
        if columns is not None:
            parts[signal] = _mapped(table, signal, columns)
            continue
        part = by_known_names(table, signal, parts.get('position'))
        if part is not None:
            parts[signal] = part
        elif spec is not None:  # only a unit or scale; the column has a known name
            text = f'{table.source}: the mapping of {signal} names no columns'
            raise mapping_error(text, table.columns, signal=signal)
        elif signal in NEEDED:
            raise mapping_error(
                f'{table.source}: no column for {signal} was recognised, it has '
                f'{sorted(table.columns)[:40]}',
                table.columns,
            )
    return parts


def _mapped_joints(mapping: Mapping[str, object], table: Table) -> tuple[str, ...] | None:
    joints = mapping.get('joints')
    if joints is None:
        return None
    if not isinstance(joints, list) or not all(isinstance(name, str) for name in joints):
        raise RecordingError(f'{table.source}: joints must be a list of names, got {joints!r}')
    return tuple(joints)


def _mapped(table: Table, signal: str, columns: object) -> Part:
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        text = f'columns of {signal} must be a name or a list of names, got {columns!r}'
        raise mapping_error(f'{table.source}: {text}', table.columns, signal=signal)
    for name in names:
        table.column(name, signal)
    return Part(table, tuple(names))


def _time(table: Table, mapping: Mapping[str, object]) -> Array:
    spec = mapping.get('time')
    if isinstance(spec, Mapping) and 'period' in spec:
        period = number(spec['period'], 'period of time', table)
        rows = max((len(values) for values in table.columns.values() if values.ndim), default=0)
        return np.arange(rows, dtype=np.float64) * period
    name = spec.get('columns') if isinstance(spec, Mapping) else spec
    if name is None:
        known = [column for column in table.columns if column.lower() in TIMES]
        if not known:
            raise mapping_error(
                f'{table.source}: no column for time was recognised, it has '
                f'{sorted(table.columns)[:40]}',
                table.columns,
            )
        name = known[0]
    if isinstance(name, list) and len(name) == 1:
        name = name[0]
    if not isinstance(name, str):
        text = f'{table.source}: time must name one column, got {name!r}'
        raise mapping_error(text, table.columns)
    values = table.column(name, 'time')
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise RecordingError(
            f'{table.source}: time {name!r} must be one column, its shape is {values.shape}'
        )
    return converted(values[:, None], 'time', spec, ('time',), table)[:, 0]


def _from_epoch(time: Array, origin: int) -> tuple[Array, int]:
    """Convert times since the epoch, in [s] or [ns], to times that start at 0."""
    if not origin and len(time) and 1e17 < abs(time[0]) < 9e18:
        return blockwise(lambda part: (part - time[0]) * 1e-9, time), round(float(time[0]))
    if origin or not len(time) or not 1e8 < abs(time[0]) < 9e9:
        return time, origin
    return blockwise(lambda part: part - time[0], time), round(float(time[0]) * 1e9)


def _final_names(
    names: tuple[str, ...] | None,
    wanted: Sequence[str] | None,
    width: int,
    signals: Signals,
) -> tuple[str, ...]:
    """Return the joints to read; match by order only if the file names none."""
    if names is not None:
        return names if wanted is None else tuple(wanted)
    if wanted is None:
        signals.findings.append(finding('joints_unnamed', count=width))
        return tuple(f'joint{number}' for number in range(1, width + 1))
    if len(wanted) != width:
        raise RecordingError(
            f'{signals.source}: the file names no joints and has {width} columns of position, '
            f'got {len(wanted)} names for them ({list(wanted)})'
        )
    signals.findings.append(finding('joints_named_by_caller', joints=', '.join(wanted)))
    return tuple(wanted)
