# SPDX-License-Identifier: Apache-2.0
"""Columns of a file before their assignment to signals, and their conversion to SI units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
from robodyn_ros.recording.tables.example import mapping_error

Array = NDArray[np.float64]

NAMES = ('joint_names', 'joints', 'names')
_TIME_UNITS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
_LENGTHS = {'rad': 1.0, 'deg': np.pi / 180, 'rev': 2 * np.pi, 'm': 1.0, 'mm': 1e-3}
_RATES = {f'{unit}/s': factor for unit, factor in _LENGTHS.items()} | {'rpm': np.pi / 30}
# Units of the second row need a scale (Nm/A, N/V, rated torque) to give Nm or N.
_TORQUES = {'Nm': 1.0, 'N': 1.0, 'mNm': 1e-3, 'kN': 1e3}
_DRIVES = {'A': 1.0, 'mA': 1e-3, 'V': 1.0, 'mV': 1e-3, 'percent': 1e-2, 'permille': 1e-3}
UNITS: dict[str, dict[str, float]] = {
    'time': _TIME_UNITS,
    'position': _LENGTHS | {'count': 1.0},
    'velocity': _RATES | {'count/s': 1.0},
    'acceleration': {f'{unit}/s^2': factor for unit, factor in _LENGTHS.items()},
    'torque': _TORQUES | _DRIVES,
    'motor_position': _LENGTHS | {'count': 1.0},
    'motor_velocity': _RATES | {'count/s': 1.0},
}
NEEDS_SCALE = {*_DRIVES, 'count', 'count/s'}


@dataclass(frozen=True)
class Table:
    """Content of a file before its columns are assigned to signals.

    :param columns: by name, shape (N,), (N, n), or one number
    :param joints: joint names of matrices and numbered columns, if the file has them
    :param origin: time zero, in [ns] since the epoch; 0: unknown
    :param part: of a bag, the messages that were read
    """

    columns: Mapping[str, NDArray[Any]]
    source: str
    joints: tuple[str, ...] | None = None
    origin: int = 0
    findings: tuple[Finding, ...] = ()
    topic: str = ''
    part: BagPart | None = None

    def column(self, name: str, use: str) -> NDArray[Any]:
        """Return a column.

        :raises RecordingError: there is no such column
        """
        if name not in self.columns:
            text = (
                f'{self.source}: no column {name!r} for {use}, the file has '
                f'{sorted(self.columns)[:40]}'
            )
            if use in UNITS:
                raise mapping_error(text, self.columns, signal=use)
            raise RecordingError(text)
        return self.columns[name]


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
) -> Array:
    """Convert a signal to SI units: values * unit * scale + offset; copy only if necessary.

    :param values: shape (N, n)
    :param spec: `unit`, `scale` and `offset` of the mapping; anything else means SI
    :param order: joints in the order in which lists in `spec` give them; None: as `joints`
    :raises RecordingError: not numeric, or the unit or a number cannot be used
    """
    if values.dtype.kind not in 'fiub':
        raise RecordingError(f'{table.source}: {signal} is not numeric but {values.dtype}')
    # a view of a column would keep all columns in memory
    if values.dtype != np.float64 or not values.flags.c_contiguous:
        values = blockwise(np.asarray, values)
    if not isinstance(spec, Mapping):
        return values
    order = order or joints
    factor = np.full(len(joints), 1.0)
    if 'unit' in spec:
        factor *= _unit(str(spec['unit']), signal, 'scale' in spec, table)
    if 'scale' in spec:
        factor *= per_joint(spec['scale'], joints, order, f'scale of {signal}', table)
    if 'offset' in spec:
        offset = per_joint(spec['offset'], joints, order, f'offset of {signal}', table)
        return blockwise(lambda part: part * factor + offset, values)
    return values if (factor == 1.0).all() else blockwise(lambda part: part * factor, values)


def _unit(unit: str, signal: str, scaled: bool, table: Table) -> float:
    known = UNITS[signal]
    if unit not in known:
        raise RecordingError(
            f'{table.source}: unit {unit!r} of {signal} is not known, expected one of '
            f'{sorted(known)}'
        )
    if unit in NEEDS_SCALE and not scaled:
        raise RecordingError(
            f'{table.source}: {signal} in {unit} needs a scale for its conversion to SI units'
        )
    return known[unit]


def per_joint(
    spec: object, joints: tuple[str, ...], order: tuple[str, ...], use: str, table: Table
) -> Array:
    """Return one number per joint: of a number, a list, or a mapping by joint name.

    :param order: joints in the order in which a list gives them
    :param use: meaning of the numbers, for messages
    :raises RecordingError: a number is missing or invalid
    """
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
