# SPDX-License-Identifier: Apache-2.0
"""Reader of CSV files by pandas, in the form that `csv_layout` recognises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import LINE, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import finding
from robodyn_ros.long_work import progress
from robodyn_ros.recording.tables.blocks import BLANK, ColumnsOfBlocks
from robodyn_ros.recording.tables.csv_layout import CsvForm, is_value, recognise_layout
from robodyn_ros.recording.tables.table import Table, joints_of, reading

CHECKED = 1000
"""Rows without a last cell that are checked, at most."""
VALUES = 2**20
"""Numbers that are parsed at a time."""


def read_csv(path: Path) -> Table:
    """Read a CSV file; empty cells are NaN. A cell without number matters if its column is used.

    Columns without a name are named column1, column2, ... by their place.

    :raises RecordingError: it cannot be read, or a row has more or fewer cells than the header
    """
    with reading(path, 'CSV'):
        layout, read = recognise_layout(path), ColumnsOfBlocks()
        short: list[int] = []  # rows that may be shorter than the header
        for frame in _frames(layout):
            missing = frame.iloc[:, -2:].isna().to_numpy()
            rows = np.flatnonzero(missing.all(axis=1) if missing[:, -1].all() else missing[:, -1])
            short += (read.rows + rows[: CHECKED - len(short)]).tolist()
            read.append(frame)
        last, cut = read.rows - 1, _is_truncated(layout)
        bad = {name: row for name, row in read.bad.items() if row < last or not cut}
        lines = _find_lines(layout, [*bad.values(), *short, *([last] if cut else [])])
        for row in sorted(lines.keys() & {*short} - {last}):
            number, text = lines[row]
            if (count := len(layout.split(text))) < len(layout.names):
                raise _wrong_length(layout, number, count)
        columns = read.columns(-1 if cut else None)
        joints = joints_of(read.names)
    nothing = np.broadcast_to(np.nan, read.rows - cut)
    # without the cell: requests may name any file, whose lines must not come back
    refused = {
        name: f'line {lines[row][0]}, column {layout.names.index(name) + 1}: expected a number'
        for name, row in bad.items()
    }
    return Table(
        columns | dict.fromkeys(layout.refused, nothing),
        source=str(path),
        joints=joints,
        findings=(finding('cut_off', source=str(path), line=lines[last][0]),) if cut else (),
        header=layout.header,
        units=layout.units | read.units,
        refused=layout.refused | refused,
    )


def _wrong_length(layout: CsvForm, line: int, count: int) -> RecordingError:
    return RecordingError(
        f'{layout.path}: line {line} has {count} cells, the header has {len(layout.names)}'
    )


def _frames(layout: CsvForm) -> Iterator[Any]:
    """Yield the rows of the file in blocks, as data frames of pandas."""
    import pandas as pd  # slow to import
    from pandas.errors import ParserError

    _check_lines(layout.path)
    size = layout.path.stat().st_size or 1
    try:
        with (
            layout.path.open('rb') as file,
            pd.read_csv(
                file,
                encoding=layout.encoding,
                sep=layout.delimiter.replace(' ', r'\s+'),
                skipinitialspace=True,
                decimal=layout.decimal,
                comment='#',
                header=None,
                names=layout.names,
                index_col=False,
                skiprows=layout.skipped,
                na_values=[*BLANK, *(word.upper() for word in BLANK)],
                low_memory=False,
                chunksize=max(1, VALUES // len(layout.names)),
            ) as frames,
        ):
            for frame in frames:
                progress(f'reading {layout.path.name}', min(1.0, file.tell() / size))
                if layout.decimal == ',':  # pandas leaves a column as it is for one cell of text
                    for name in frame.columns[[each.kind not in 'fiub' for each in frame.dtypes]]:
                        frame[name] = frame[name].astype(object).str.replace(',', '.')
                yield frame
    except ParserError as error:
        if match := re.search(r'Expected \d+ fields in line (\d+), saw (\d+)', str(error)):
            raise _wrong_length(layout, int(match[1]), int(match[2])) from error
        raise


def _check_lines(path: Path) -> None:
    """Refuse a line that is too long to be in memory; half of the bound is read at a time."""
    with path.open('rb') as file:
        length = 0
        while block := file.read(LINE.most // 2):
            start, *lines = block.split(b'\n', 1)
            check_bound(LINE, length + len(start))
            length = len(block) - block.rfind(b'\n') - 1 if lines else length + len(block)


def _is_truncated(layout: CsvForm) -> bool:
    """Return True if the last row ends in the middle, as a killed recorder leaves it."""
    with layout.path.open('rb') as file:
        file.seek(max(0, layout.path.stat().st_size - 2**20))
        end = file.read().decode(layout.encoding, 'replace')
    lines = [line for line in end.splitlines()[-100:] if line.strip() and line[0] != '#']
    cells = layout.split(lines[-1]) if lines else layout.names
    if len(cells) != len(layout.names):
        return len(cells) < len(layout.names)
    return end[-1:] not in '\r\n' and not is_value(cells[-1])


def _find_lines(layout: CsvForm, rows: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return number and text of the lines with these rows."""
    wanted = {*rows}
    with layout.path.open(encoding=layout.encoding) as file:
        lines = islice(enumerate(file, 1), layout.skipped, None)
        useful = (each for each in lines if each[1].strip() and each[1][0] != '#')
        shown = islice(enumerate(useful), max(wanted, default=-1) + 1)
        return {row: each for row, each in shown if row in wanted}
