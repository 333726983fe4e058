# SPDX-License-Identifier: Apache-2.0
"""CSV reader that recognises delimiter and decimal comma and skips # comments."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from robodyn_ros.bounds import COLUMNS, LINE, NAME, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.long_work import progress
from robodyn_ros.recording.storage import Spool
from robodyn_ros.recording.tables.table import Array, Table, reading

DELIMITERS = ('\t', ';', ',', None)  # None: white space
BLANK = ('', 'nan', 'null', 'none', 'na', 'n/a', '-')


def read_csv(path: Path) -> Table:
    """Read a CSV file with one header row; empty cells are NaN.

    The header may be a comment (numpy.savetxt writes it so). Without a header the columns are
    named column1, column2, ...; a column mapping must then assign them.

    :raises RecordingError: it cannot be read, or a row has a wrong length or a cell without number
    """
    with reading(path, 'CSV'), path.open(encoding='utf-8-sig') as file:
        return _read(file, str(path))


def _read(file: TextIO, source: str) -> Table:
    comment, lines = '', _lines(file)
    number, line = next(lines, (0, ''))
    while line.startswith('#'):
        comment = line.lstrip('# ')
        number, line = next(lines, (0, ''))
    if not line:
        raise RecordingError(f'{source}: the file has no rows')
    delimiter = _delimiter(line)
    first = _split(line, delimiter)
    check_bound(COLUMNS, len(first))
    check_bound(NAME, max(map(len, first)))
    rows: Iterable[tuple[int, str]] = lines
    if _is_number(first[0], delimiter):
        names = _split(comment, delimiter)
        if len(names) != len(first):
            names = [f'column{index}' for index in range(1, len(first) + 1)]
        rows = chain([(number, line)], lines)
    else:
        names = first
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        same = ' and '.join(str(n) for n, name in enumerate(names, 1) if name == twice)
        raise RecordingError(f'{source}: columns {same} have the same name in the header')
    findings: list[Finding] = []
    matrix = _matrix(rows, delimiter, names, source, findings)
    if not len(matrix):
        raise RecordingError(f'{source}: the file has a header but no rows')
    columns = {name: matrix[:, index] for index, name in enumerate(names)}
    return Table(columns, source=source, findings=tuple(findings))


def _matrix(
    lines: Iterable[tuple[int, str]],
    delimiter: str | None,
    names: list[str],
    source: str,
    findings: list[Finding],
) -> Array:
    """Return the numbers of all rows, shape (N, k), without a truncated last row (a finding)."""
    stored, values, rows = Spool((len(names),)), array('d'), iter(lines)
    for number, line in rows:
        if line.startswith('#'):
            continue
        try:
            values.extend(_numbers(line, delimiter, names, number, source))
        except RecordingError:
            if next(rows, None) is not None or not _cut(line, delimiter, names, source):
                raise
            findings.append(finding('cut_off', source=source, line=number))
        if len(values) >= 2**18:
            stored.append(np.array(values))
            del values[:]
    stored.append(np.array(values))
    return stored.array()


def _cut(line: str, delimiter: str | None, names: list[str], source: str) -> bool:
    """Return True if a last row that cannot be parsed is truncated, maybe within a cell."""
    cells = len(line.split(delimiter))
    if cells != len(names):
        return cells < len(names)
    with Path(source).open('rb') as file:
        file.seek(-1, 2)
        return file.read(1) not in b'\r\n'


def _lines(file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield numbers and content of the lines that are not blank."""
    number, start = 1, ''
    phase, size = f'reading {Path(file.name).name}', Path(file.name).stat().st_size or 1
    while block := file.read(2**20):
        progress(phase, file.buffer.tell() / size)
        *lines, start = (start + block).split('\n')
        check_bound(LINE, len(start))
        for line in lines:
            if line.strip():
                yield number, line.strip(' ')
            number += 1
    if start.strip():
        yield number, start.strip(' ')


def _delimiter(line: str) -> str | None:
    return next((mark for mark in DELIMITERS if mark is None or mark in line), None)


def _split(line: str, delimiter: str | None) -> list[str]:
    return [cell.strip().strip('"\'').strip() for cell in line.split(delimiter)]


def _is_number(cell: str, delimiter: str | None) -> bool:
    try:
        float(cell.replace(',', '.') if delimiter != ',' else cell)
    except ValueError:
        return cell.lower() in BLANK
    return True


def _numbers(
    line: str, delimiter: str | None, names: list[str], number: int, source: str
) -> list[float]:
    """Parse a row; the common case first and fast, because recordings have millions of rows."""
    cells = line.split(delimiter)
    if len(cells) != len(names):
        raise RecordingError(
            f'{source}: line {number} has {len(cells)} cells, the header has {len(names)}'
        )
    try:
        return list(map(float, cells))
    except ValueError:
        return [
            _number(cell, f'{source}: line {number}, column {column}', delimiter)
            for column, cell in enumerate(_split(line, delimiter), 1)
        ]


def _number(cell: str, where: str, delimiter: str | None) -> float:
    if cell.lower() in BLANK:
        return float('nan')
    if delimiter != ',':
        cell = re.sub(r'^([-+]?\d*),(\d+)', r'\1.\2', cell)
    try:
        return float(cell)
    except ValueError as error:
        # without the cell: requests may name any file, whose lines must not come back
        raise RecordingError(f'{where}: expected a number') from error
