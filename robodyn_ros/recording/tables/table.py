# SPDX-License-Identifier: Apache-2.0
"""Columns of a file before their assignment to signals, and their conversion to SI units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import check_regular
from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding
from robodyn_ros.long_work import CancelledError
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.storage import blockwise, store
from robodyn_ros.recording.tables.example import PLACEHOLDERS, mapping_error
from robodyn_ros.recording.tables.units import NEEDS_SCALE, UNITS, find_unknown_unit, split_unit

Array = NDArray[np.float64]

NAMES = ('joint_names', 'joints', 'names')
NAME = re.compile(r'(?:.*[./])?(?:joint_)?names?(?:[\[_.]?(\d+)\]?)?')
"""Names of columns with names of joints: a list, or one joint per column."""


@dataclass(frozen=True)
class Table:
    """Content of a file before its columns are assigned to signals.

    :param columns: by name, shape (N,), (N, n), or one number
    :param joints: joint names of matrices and numbered columns, if the file has them
    :param origin: time zero, in [ns] since the epoch; 0: unknown
    :param header: line of names in the file, for messages
    :param units: of columns, by name
    :param refused: why a column cannot be used, by name
    :param part: of a bag, the messages that were read
    """

    columns: Mapping[str, NDArray[Any]]
    source: str
    joints: tuple[str, ...] | None = None
    origin: int = 0
    findings: tuple[Finding, ...] = ()
    topic: str = ''
    header: str = ''
    units: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    part: BagPart | None = None

    @cached_property
    def short(self) -> dict[str, str]:
        """Names of the columns by names without units, where these are unique."""
        bases = {name: split_unit(name)[0] for name in self.columns}
        count = Counter(bases.values())
        return {base if count[base] == 1 else name: name for name, base in bases.items()}

    def unit(self, name: str) -> str | None:
        """Return the unit of a column by the file, also one that is not known."""
        name = self.short.get(name, name)
        return self.units.get(name) or split_unit(name)[1] or find_unknown_unit(name)

    def column(self, name: str, use: str) -> NDArray[Any]:
        """Return a column.

        :raises RecordingError: there is no such column, or it cannot be used
        """
        name = name if name in self.columns else self.short.get(name, name)
        if name in self.refused:
            raise RecordingError(f'{self.source}: {self.refused[name]}')
        if name not in self.columns:
            text = f'no column {name!r} for {use}, {self.described}'
            raise self.error(text, signal=use) if use in UNITS else self.error(text)
        return self.columns[name]

    def error(self, text: str, *arguments: Any, **options: Any) -> RecordingError:
        """Return an error with the lines of a mapping; further parameters as `mapping_error`."""
        options['units'] = {name: self.unit(name) for name in self.columns}
        return mapping_error(f'{self.source}: {text}', self.columns, *arguments, **options)

    @property
    def described(self) -> str:
        """Names of the columns, as the file has them."""
        if self.header:
            return f'the header is {self.header!r:.500}'
        return f'it has {sorted(self.columns)[:40]}'


def joints_of(names: Mapping[str, Collection[tuple[str, ...]]]) -> tuple[str, ...] | None:
    """Return the joints that columns of texts name, or None.

    :param names: different lists of joints of a column that matches `NAME`
    :raises ValueError: the names of joints change
    """
    joints: dict[int, tuple[str, ...]] = {}
    for name, (first, *others) in names.items():
        number = NAME.fullmatch(name)[1]  # type: ignore[index]
        if others and (number or len(first) > 1):
            raise ValueError(f'the joints in {name!r} change from row to row')
        if number or len(first) > 1:
            joints[int(number or -1)] = first
    if -1 in joints:
        return joints[-1]
    return tuple(name for key in sorted(joints) for name in joints[key]) or None


@contextmanager
def reading(path: Path, form: str) -> Iterator[None]:
    """Refuse devices; convert any exception of a parser of damaged bytes to a RecordingError."""
    try:
        check_regular(path)
        yield
    except (RecordingError, CancelledError):
        raise
    except Exception as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise RecordingError(f'{path}: it cannot be read as {form}: {reason}') from error


def table_of(arrays: Iterable[tuple[str, NDArray[Any]]], path: Path) -> Table:
    """Return the numeric arrays of a file as its table, with the joint names among the others.

    :param arrays: names and arrays; large ones are stored in files one by one
    """
    numeric: dict[str, NDArray[Any]] = {}
    joints = None
    for name, values in arrays:
        if values.dtype.kind in 'fiub':
            numeric[name] = store(values)
        elif name in NAMES and values.dtype.kind == 'U' and values.size and joints is None:
            joints = tuple(str(each).strip() for each in values.reshape(-1))
        del values  # otherwise two of them are in memory
    return Table(numeric, source=str(path), joints=joints)


def convert_signal(
    values: NDArray[Any],
    signal: str,
    spec: object,
    joints: tuple[str, ...],
    table: Table,
    *,
    order: tuple[str, ...] | None = None,
    units: Sequence[str | None] = (),
) -> Array:
    """Convert a signal to SI units: values * unit * scale + offset; copy only if necessary.

    :param values: shape (N, n)
    :param spec: `unit`, `scale` and `offset` of the mapping; anything else means SI
    :param order: joints in the order in which lists in `spec` give them; None: as `joints`
    :param units: in the header, of each joint; the mapping has priority
    :raises RecordingError: not numeric, or the unit or a number cannot be used
    """
    if values.dtype.kind not in 'fiub':
        raise RecordingError(f'{table.source}: {signal} is not numeric but {values.dtype}')
    # a view of a column would keep all columns in memory
    if values.dtype != np.float64 or not values.flags.c_contiguous:
        values = blockwise(np.asarray, values)
    spec = spec if isinstance(spec, Mapping) else {}
    order = order or joints
    factor = np.full(len(joints), 1.0)
    if 'unit' in spec:
        factor *= _unit(str(spec['unit']), signal, 'scale' in spec, table)
    elif any(units) and not all(units):
        unit = next(filter(None, units))
        raise table.error(f'some columns of {signal} have the unit {unit}, others have none')
    elif any(units):
        factor *= [_unit(each, signal, 'scale' in spec, table) if each else 1.0 for each in units]
        if 'scale' in spec and (factor != 1.0).any():
            raise RecordingError(
                f'{table.source}: the header gives the unit {next(filter(None, units))} of '
                f'{signal} and the mapping a scale: add the unit that the scale belongs to'
            )
    if 'scale' in spec:
        factor *= per_joint(spec['scale'], joints, order, f'scale of {signal}', table)
    if 'offset' in spec:
        offset = per_joint(spec['offset'], joints, order, f'offset of {signal}', table)
        return blockwise(lambda part: part * factor + offset, values)
    return values if (factor == 1.0).all() else blockwise(lambda part: part * factor, values)


def _unit(unit: str, signal: str, scaled: bool, table: Table) -> float:
    known = UNITS[signal]
    columns = [name for name in table.columns if table.unit(name) == unit]
    if unit not in known and columns:
        text = f'the unit {unit!r} of column {columns[0]!r} is not known for {signal}'
        raise table.error(text, {signal: columns})
    if unit not in known:
        raise RecordingError(
            f'{table.source}: unit {unit!r} of {signal} is not known, expected one of '
            f'{sorted(known)}'
        )
    if unit in NEEDS_SCALE and not scaled:
        raise table.error(f'{signal} in {unit} needs a scale for its conversion to SI units')
    return known[unit]


def per_joint(
    spec: object, joints: tuple[str, ...], order: tuple[str, ...], use: str, table: Table
) -> Array:
    """Return one number per joint: of a number, a list, or a mapping by joint name.

    :param order: joints in the order in which a list gives them
    :param use: meaning of the numbers, for messages
    :raises RecordingError: a number is missing or invalid
    """
    if isinstance(spec, str) and spec in PLACEHOLDERS:
        raise RecordingError(
            f'{table.source}: {spec} stands for the {use}: write a number, or a list with one for '
            f'each joint (data sheet of the drives, or robodyn gains)'
        )
    if isinstance(spec, list):
        if len(spec) != len(order):
            raise RecordingError(
                f'{table.source}: the {use} must have {len(order)} numbers, got {len(spec)}'
            )
        spec = dict(zip(order, spec, strict=True))
    if isinstance(spec, Mapping):
        missing = [name for name in joints if name not in spec]
        if missing:
            raise RecordingError(f'{table.source}: the {use} has no value for {missing[0]!r}')
        return np.array([number(spec[name], use, table) for name in joints])
    return np.full(len(joints), number(spec, use, table))


def number(spec: Any, use: str, table: Table) -> float:
    """Return a number, or the value of a variable of the file.

    :param spec: see `columns.Numbers`
    :raises RecordingError: the file has no such variable, or it is not one finite number
    """
    if isinstance(spec, str):
        values = table.column(spec, f'the {use}')
        if values.size != 1 or values.dtype.kind not in 'fiub':
            raise RecordingError(
                f'{table.source}: {spec!r} must be one number to be the {use}, '
                f'its shape is {values.shape}'
            )
        spec = float(values.reshape(-1)[0])
    value = float(spec)  # an integer may be too large for numpy
    if not np.isfinite(value):
        raise RecordingError(f'{table.source}: the {use} must be a number, got {spec!r}')
    return value
