# SPDX-License-Identifier: Apache-2.0
"""Assignment of a file's columns to signals, by known names or by a mapping in YAML.

A mapping gives the columns (or the matrix) of each signal and their conversion to SI units::

    joints: [axis]
    time: {columns: t, unit: ms}        # or {period: 0.001} where the file has no time
    position: {columns: [q1], unit: deg, offset: 0.1}
    torque: {columns: [i1], unit: mA, scale: [Kt]}

value = column * unit * scale + offset. `scale` is a number or names a variable of the file; a
list, or a mapping by joint name, has one per joint. `offset` is in SI units.

Where only positions exist, `torque: {unit: position_error, scale: 2.5}` is the torque of a drive
that controls position: scale, in [Nm/rad], times commanded minus measured position. `command:
{columns: [goal], delay: 0.01}` names the commanded positions, converted as the measured ones
unless it says otherwise, and the time from a command to its effect, in [s]. Of a bag, the column
is a topic. Without a mapping, commands count only where no column looks like torque or current.

`gear_ratio` (a number, a list, or a mapping by joint name) divides motor_position and
motor_velocity, the signals of a second encoder on the motor; without it they are taken as
joint-side values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.poses import are_poses
from robodyn_ros.recording.position_drive import POSITION_ERROR, PositionDrive
from robodyn_ros.recording.storage import blockwise
from robodyn_ros.recording.tables.example import has_torque
from robodyn_ros.recording.tables.known_names import (
    MOTOR_SIDE,
    SIGNALS,
    Part,
    by_known_names,
)
from robodyn_ros.recording.tables.table import Table, convert_signal, per_joint
from robodyn_ros.recording.tables.times import align_times, read_time, unwrap_counters
from robodyn_ros.recording.topics.rename import rename_joints
from robodyn_ros.schema import Finite, convert
from robodyn_ros.yaml_file import read_yaml

Array = NDArray[np.float64]


@dataclass
class Signals:
    """Signals in SI units before the checks: NaN and any order of time are possible."""

    time: Array
    joints: tuple[str, ...]
    source: str
    values: dict[str, Array] = field(default_factory=dict)
    origin: int = 0
    gear_ratio: Array | None = None
    drive: PositionDrive | None = None
    findings: list[Finding] = field(default_factory=list)
    topic: str = ''
    part: BagPart | None = None
    poses: bool = False

    def select(self, joints: Sequence[str]) -> None:
        """Keep these joints, in this order; a MissingSignalError names one that is missing."""
        if missing := [name for name in joints if name not in self.joints]:
            raise MissingSignalError(
                f'{self.source}: joint {missing[0]!r} is not in the recording, which has '
                f'{list(self.joints)}'
            )
        places = [self.joints.index(name) for name in joints]
        for name, values in self.values.items():
            self.values[name] = blockwise(lambda part: part[:, places], values)
        self.joints = tuple(joints)
        self.gear_ratio = None if self.gear_ratio is None else self.gear_ratio[places]
        self.drive = self.drive and self.drive.select(places)

    def drop(self, rows: NDArray[np.bool_]) -> None:
        """Leave out some samples, shape (N,)."""
        if rows.any():
            for name, values in self.values.items():
                self.values[name] = blockwise(lambda part, keep: part[keep], values, ~rows)
            self.time = blockwise(lambda part, keep: part[keep], self.time, ~rows)


Numbers = Finite | str | list[Finite | str] | dict[str, Finite | str]
"""A number or the name of a variable of the file; also one per joint, in a list or by name."""


@dataclass(frozen=True)
class Source:
    """Columns of a signal, and their conversion to SI units."""

    columns: str | Annotated[list[str], Meta(min_length=1)] | None = None
    unit: str | None = None
    scale: Numbers | None = None
    offset: Numbers | None = None


@dataclass(frozen=True)
class TimeSource(Source):
    """Column of time; or its period in [s], where the file has no time."""

    period: Finite | str | None = None


@dataclass(frozen=True)
class CommandSource(Source):
    """Columns of commanded positions, and the time from a command to its effect in [s]."""

    delay: Numbers | None = None


FORMS = {'time': TimeSource, 'command': CommandSource}
"""Forms of signals with more keys than `Source`."""


Named = str | list[str] | Source | None


@dataclass(frozen=True)
class ColumnMapping:
    """Form of a column mapping."""

    joints: list[str] | None = None
    time: str | list[str] | TimeSource | None = None
    position: Named = None
    velocity: Named = None
    acceleration: Named = None
    torque: Named = None
    motor_position: Named = None
    motor_velocity: Named = None
    command: str | list[str] | CommandSource | None = None
    gear_ratio: Numbers | None = None


def load_columns(source: Mapping[str, object] | str | Path) -> Mapping[str, object]:
    """Read a column mapping and check its form.

    :raises RecordingError: it cannot be read, or an entry is unknown or not as in `ColumnMapping`
    """
    name = str(source) if isinstance(source, str | Path) else 'column mapping'
    data: Any = source
    if isinstance(source, str | Path):
        data = read_yaml(source, 'the column mapping', RecordingError)
    data = _drop_null(data)
    content = dict(data) if isinstance(data, Mapping) else data
    for signal in ('time', *SIGNALS):
        if isinstance(content, dict) and isinstance(content.get(signal), Mapping):
            kind = FORMS.get(signal, Source)
            content[signal] = convert(content[signal], kind, f'{name}: {signal}', RecordingError)
    convert(content, ColumnMapping, name, RecordingError)
    checked: Mapping[str, object] = data
    return checked


def _drop_null(value: Any) -> Any:
    """Return a mapping without the entries that have no value: these were not given."""
    if not isinstance(value, Mapping):
        return value
    return {key: _drop_null(item) for key, item in value.items() if item is not None}


def signals_from(
    table: Table,
    mapping: Mapping[str, Any] | None = None,
    joints: Sequence[str] | None = None,
    rename: Sequence[str] = (),
) -> Signals:
    """Find the signals in a table and convert them to SI units.

    :param mapping: checked column mapping (see `load_columns`); signals that it does not name are
        searched by known names
    :param joints: joints to read, in this order; the names of columns if the file has none
    :param rename: rules for the names of joints in the file
    :raises RecordingError: a column is missing, has the wrong shape or unit, or joints do not fit
    """
    mapping = mapping or {}
    table = align_times(table)
    named = tuple(mapping['joints']) if mapping.get('joints') else None
    present, untimed = _parts(table, mapping, joints), None
    if rename:
        present = {key: part.rename(rename) for key, part in present.items()}
        table = replace(table, joints=table.joints and rename_joints(table.joints, rename))
    try:
        time, origin, findings = read_time(table, mapping.get('time'))
    except RecordingError as error:
        if mapping.get('time'):
            raise
        untimed = error
        time, origin, findings = read_time(table, {'period': 1.0})
    signals = Signals(time, (), table.source, origin=origin, topic=table.topic)
    signals.part = table.part
    signals.findings += [*table.findings, *findings]
    names = named or next((part.joints for part in present.values() if part.joints), None)
    width = present['position'].width(len(time))
    signals.joints = _final_names(names or table.joints, joints, width, signals)
    for signal, part in present.items():
        order = part.joints or names or table.joints
        values = part.values(signals.joints, names or table.joints, len(time), signal)
        values, notes = unwrap_counters(values, signal, signals.joints)
        signals.findings += notes
        units, spec = part.units(signals.joints, order), mapping.get(signal)
        if signal == 'command':  # as the measured position, unless it says otherwise
            units = units if any(units) else present['position'].units(signals.joints, names)
            spec = {**_spec(mapping, 'position'), **_spec(mapping, signal)}
        signals.values[signal] = convert_signal(
            values, signal, spec, signals.joints, table, order=order, units=units
        )
    if 'command' in present:
        _take_position_error(signals, mapping, names or table.joints, table)
    velocity = signals.values.get('velocity')
    if untimed or (velocity is not None and not table.topic):
        signals.poses = are_poses(signals.values['position'], velocity)
    if untimed and not signals.poses:
        raise untimed
    _reduce(signals, mapping.get('gear_ratio', 1.0), names or table.joints, table)
    _leave_out_empty_rows(signals)
    return signals


def _leave_out_empty_rows(signals: Signals) -> None:
    """Leave out rows without any signal: a file of several topics has one for each message."""
    empty = blockwise(
        lambda *parts: np.isnan(np.hstack(parts)).all(axis=1), *signals.values.values(), dtype=bool
    )
    if not empty.all():
        signals.drop(empty)
        if count := int(empty.sum()):
            signals.findings.append(finding('empty_rows', count=count, all=len(empty)))


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


def _parts(
    table: Table, mapping: Mapping[str, Any], joints: Sequence[str] | None
) -> dict[str, Part]:
    """Return the columns of all available signals; position determines topic and joints."""
    parts: dict[str, Part] = {}
    by_error = _spec(mapping, 'torque').get('unit') == POSITION_ERROR
    for signal in SIGNALS:
        if (signal == 'torque' and by_error) or (signal == 'command' and 'torque' in parts):
            continue
        spec = mapping.get(signal)
        columns = spec.get('columns') if isinstance(spec, Mapping) else spec
        if columns is not None:
            parts[signal] = _part_of(table, signal, columns)
            continue
        if signal == 'command' and not by_error and _has_torque(table, parts):
            continue
        part = by_known_names(table, signal, parts.get('position'))
        if part is not None:
            parts[signal] = part
        elif spec is not None:  # only a unit or scale; the column has a known name
            raise table.error(f'the mapping of {signal} names no columns', signal=signal)
        elif signal == 'position':
            raise _refuse_unknown(table, signal, joints)
    if not {'torque', 'command'} & parts.keys():
        raise _refuse_unknown(table, 'command' if by_error else 'torque', joints)
    return parts


def _refuse_unknown(table: Table, signal: str, joints: Sequence[str] | None) -> RecordingError:
    text = f'no column for {signal} was recognised, {table.described}'
    needed = signal if signal == 'command' else ''
    return table.error(text, count=len(joints or ()), signal=needed)


def _has_torque(table: Table, parts: Mapping[str, Part]) -> bool:
    """Return True if a column without a meaning looks like torques or currents."""
    used = {name for part in parts.values() for name in part.columns}
    free = [full for short, full in table.short.items() if not used & {short, full}]
    return has_torque({name: table.columns[name] for name in free})


def _spec(mapping: Mapping[str, Any], signal: str) -> Mapping[str, Any]:
    spec = mapping.get(signal)
    return spec if isinstance(spec, Mapping) else {}


def _take_position_error(
    signals: Signals, mapping: Mapping[str, Any], order: tuple[str, ...] | None, table: Table
) -> None:
    """Take the error of position, or the torque that the drives make of it, as the torque."""
    joints, scale = signals.joints, _spec(mapping, 'torque').get('scale')
    gain, delay = (
        per_joint(spec, joints, order or joints, what, table)
        for spec, what in (
            (1.0 if scale is None else scale, 'scale of torque'),
            (_spec(mapping, 'command').get('delay', 0.0), 'delay of command'),
        )
    )
    signals.drive = PositionDrive(gain, delay, scale is not None)
    now, values = replace(signals.drive, delay=0.0 * delay), signals.values
    values['torque'] = now.torque(signals.time, values['command'], values['position'])
    signals.findings.append(finding('torque_of_position_error'))


def _part_of(table: Table, signal: str, columns: str | Sequence[str]) -> Part:
    names = [columns] if isinstance(columns, str) else columns
    for name in names:
        table.column(name, signal)
    return Part(table, tuple(names))


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
