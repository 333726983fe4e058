# SPDX-License-Identifier: Apache-2.0
"""Reader of CSV files by pandas, with any usual delimiter, decimal comma and # comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import COLUMNS, LINE, NAME, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.long_work import progress
from robodyn_ros.recording.storage import Spool
from robodyn_ros.recording.tables.table import Array, Table, reading

DELIMITERS = ('\t', ';', ',', None)  # None: white space
BLANK = ('', 'nan', 'null', 'none', 'na', 'n/a', '-')
"""Cells without a number, in lower case; pandas knows most of them."""
VALUES = 2**20
"""Numbers that are parsed at a time."""


@dataclass(frozen=True)
class _Layout:
    """Form of a file.

    :param skipped: lines up to the header
    :param decimal: mark of the decimals
    """

    path: Path
    names: list[str]
    delimiter: str | None
    decimal: str
    skipped: int

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of each row, from the text."""
        with self.path.open(encoding='utf-8-sig') as file:
            for number, line in enumerate(file, 1):
                if number > self.skipped and line.strip() and not line.startswith('#'):
                    yield number, _split(line, self.delimiter)


def read_csv(path: Path) -> Table:
    """Read a CSV file with one header row; empty cells are NaN.

    The header may be a comment (numpy.savetxt writes it so). Without a header the columns are
    named column1, column2, ...; a column mapping must then assign them.

    :raises RecordingError: it cannot be read, or a row has a wrong length or a cell without number
    """
    with reading(path, 'CSV'):
        _check_lines(path)
        layout = _layout(path)
        matrix, findings = _matrix(layout)
    if not len(matrix):
        raise RecordingError(f'{path}: the file has a header but no rows')
    columns = {name: matrix[:, index] for index, name in enumerate(layout.names)}
    return Table(columns, source=str(path), findings=tuple(findings))


def _check_lines(path: Path) -> None:
    """Refuse a line that is too long to be in memory; half of the bound is read at a time."""
    with path.open('rb') as file:
        length = 0
        while block := file.read(LINE.most // 2):
            start, *lines = block.split(b'\n', 1)
            check_bound(LINE, length + len(start))
            length = len(block) - block.rfind(b'\n') - 1 if lines else length + len(block)


def _layout(path: Path) -> _Layout:
    """Recognise the form by the first lines."""
    comment = ''
    with path.open(encoding='utf-8-sig') as file:
        skipped = 0
        for line in file:
            if line.strip() and not line.startswith('#'):
                break
            skipped += 1
            comment = line.strip(' #\n') or comment
        else:
            raise RecordingError(f'{path}: the file has no rows')
        start = line + file.read(2**16)
    delimiter = next(mark for mark in DELIMITERS if mark is None or mark in line.strip(' '))
    first = _split(line, delimiter)
    check_bound(COLUMNS, len(first))
    check_bound(NAME, max(map(len, first)))
    if _is_number(first[0], '.' if delimiter == ',' else ','):
        names = _split(comment, delimiter)
        if len(names) != len(first):
            names = [f'column{index}' for index in range(1, len(first) + 1)]
    else:
        names, skipped = first, skipped + 1
        start = start.removeprefix(line)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        same = ' and '.join(str(n) for n, name in enumerate(names, 1) if name == twice)
        raise RecordingError(f'{path}: columns {same} have the same name in the header')
    decimal = ',' if delimiter != ',' and ',' in start else '.'
    return _Layout(path, names, delimiter, decimal, skipped)


def _matrix(layout: _Layout) -> tuple[Array, list[Finding]]:
    """Return the numbers of all rows, shape (N, k), without a truncated last row (a finding)."""
    from pandas.errors import ParserError  # slow to import

    stored, unclear, failure = Spool((len(layout.names),)), False, None
    number, cells = next(layout.rows(), (0, []))
    if len(cells) > len(layout.names) and (problem := _problem(layout, number, cells)):
        raise problem  # pandas ignores what the first row has too many
    if not number:
        return stored.array(), []
    try:
        for block, doubtful in _blocks(layout):
            stored.append(block)
            unclear = unclear or doubtful
    except ParserError as error:
        failure = error
    matrix = stored.array()
    number = _find_truncated(layout) if unclear or failure else 0
    if failure:
        raise failure
    if not number:
        return matrix, []
    return matrix[:-1], [finding('cut_off', source=str(layout.path), line=number)]


def _blocks(layout: _Layout) -> Iterator[tuple[Array, bool]]:
    """Yield the numbers of rows, and if a cell of them may be missing or no number."""
    import pandas as pd

    options: dict[str, Any] = {
        'sep': layout.delimiter or r'\s+',
        'skipinitialspace': True,
        'decimal': layout.decimal,
        'comment': '#',
        'header': None,
        'names': layout.names,
        'index_col': False,
        'skiprows': layout.skipped,
        'na_values': [*BLANK, *(word.upper() for word in BLANK)],
        'low_memory': False,
        'chunksize': max(1, VALUES // len(layout.names)),
    }
    size = layout.path.stat().st_size or 1
    with (
        layout.path.open('rb') as file,
        pd.read_csv(file, encoding='utf-8', **options) as blocks,
    ):
        for block in blocks:
            progress(f'reading {layout.path.name}', min(1.0, file.tell() / size))
            doubtful = bool(block.iloc[:, -1].isna().any())
            for name in block.columns[block.dtypes.map(lambda kind: kind.kind not in 'fiub')]:
                numbers = pd.to_numeric(block[name], errors='coerce')
                doubtful = doubtful or bool((numbers.isna() & block[name].notna()).any())
                block[name] = numbers
            yield block.to_numpy(np.float64), doubtful


def _find_truncated(layout: _Layout) -> int:
    """Return the line number of a last row that ends in the middle, or 0.

    :raises RecordingError: another row has a wrong length or a cell without number
    """
    problem = None
    for number, cells in layout.rows():
        if problem:
            raise problem
        problem = _problem(layout, number, cells)
    if problem is None:
        return 0
    with layout.path.open('rb') as file:
        file.seek(-1, 2)
        ended = file.read(1) in b'\r\n'
    if len(cells) > len(layout.names) or (len(cells) == len(layout.names) and ended):
        raise problem
    return number


def _problem(layout: _Layout, number: int, cells: list[str]) -> RecordingError | None:
    where = f'{layout.path}: line {number}'
    if len(cells) != len(layout.names):
        return RecordingError(
            f'{where} has {len(cells)} cells, the header has {len(layout.names)}'
        )
    for column, cell in enumerate(cells, 1):
        if not _is_number(cell, layout.decimal):
            # without the cell: requests may name any file, whose lines must not come back
            return RecordingError(f'{where}, column {column}: expected a number')
    return None


def _split(line: str, delimiter: str | None) -> list[str]:
    cells = line.strip(' \r\n').split(delimiter)
    return [cell.strip().strip('"\'').strip() for cell in cells]


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.replace(decimal, '.'))
    except ValueError:
        return cell.lower() in BLANK
    return True
