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
from robodyn_ros.findings import Finding, finding
from robodyn_ros.long_work import progress
from robodyn_ros.recording.tables.blocks import BLANK, ColumnsOfBlocks
from robodyn_ros.recording.tables.csv_layout import CsvForm, is_value, recognise_layout
from robodyn_ros.recording.tables.table import Table, joints_of, reading

VALUES = 2**20
"""Numbers that are parsed at a time."""


def read_csv(path: Path) -> Table:
    """Read a CSV file; empty cells are NaN. A cell without number matters if its column is used.

    Columns without a name are named column1, column2, ... by their place.

    :raises RecordingError: it cannot be read, or a row has more cells than the header
    """
    with reading(path, 'CSV'):
        _check_lines(path)
        layout = recognise_layout(path)
        read, short, findings = _read(layout)
        cut = _is_truncated(layout)
        last = read.rows - 1
        bad = {name: row for name, row in read.bad.items() if row < last or not cut}
        lines = _find_lines(layout, [*bad.values(), short, *([last] if cut else [])])
        if short in lines and short < last:
            number, text = lines[short]
            if (count := len(layout.split(text))) < len(layout.names):
                raise _wrong_length(layout, number, count)
        if cut:
            findings.append(finding('cut_off', source=str(path), line=lines[last][0]))
        columns = read.columns(-1 if cut else None)
        nothing = np.broadcast_to(np.nan, read.rows - cut)
        columns |= dict.fromkeys(layout.refused, nothing)
    places = {name: layout.names.index(name) + 1 for name in bad}
    # without the cell: requests may name any file, whose lines must not come back
    refused = {
        name: f'line {lines[row][0]}, column {places[name]}: expected a number'
        for name, row in bad.items()
    }
    return Table(
        columns,
        source=str(path),
        joints=layout.joints or joints_of(read.texts),
        findings=tuple(findings),
        header=layout.header,
        units=layout.units | read.units,
        refused=layout.refused | refused,
    )


def _read(layout: CsvForm) -> tuple[ColumnsOfBlocks, int, list[Finding]]:
    """Read all rows; of `ros2 topic echo` those of the publisher of the first one.

    :return: columns, the first row without its last cell or -1, and findings
    """
    from pandas.errors import ParserError  # slow to import

    read, short, others = ColumnsOfBlocks(), -1, 0
    try:
        for frame in _frames(layout):
            if layout.joints:
                names = frame[[f'name[{k}]' for k in range(len(layout.joints))]]
                same = (names == [*layout.joints]).all(axis=1)
                others, frame = others + int((~same).sum()), frame[same]
            if short < 0 and (missing := frame.iloc[:, -1].isna().to_numpy()).any():
                short = read.rows + int(missing.argmax())
            read.append({name: frame[name].to_numpy() for name in layout.names})
    except ParserError as error:
        if match := re.search(r'Expected \d+ fields in line (\d+), saw (\d+)', str(error)):
            raise _wrong_length(layout, int(match[1]), int(match[2])) from error
        raise
    if not others:
        return read, short, []
    what = finding('other_messages', count=others, topic=layout.path.name, joints='others')
    return read, short, [what]


def _wrong_length(layout: CsvForm, line: int, count: int) -> RecordingError:
    return RecordingError(
        f'{layout.path}: line {line} has {count} cells, the header has {len(layout.names)}'
    )


def _check_lines(path: Path) -> None:
    """Refuse a line that is too long to be in memory; half of the bound is read at a time."""
    with path.open('rb') as file:
        length = 0
        while block := file.read(LINE.most // 2):
            start, *lines = block.split(b'\n', 1)
            check_bound(LINE, length + len(start))
            length = len(block) - block.rfind(b'\n') - 1 if lines else length + len(block)


def _frames(layout: CsvForm) -> Iterator[Any]:
    """Yield the rows of the file in blocks, as data frames of pandas."""
    import pandas as pd  # slow to import

    options: dict[str, Any] = {
        'sep': layout.delimiter.replace(' ', r'\s+'),
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
        pd.read_csv(file, encoding=layout.encoding, **options) as frames,
    ):
        for frame in frames:
            progress(f'reading {layout.path.name}', min(1.0, file.tell() / size))
            if layout.decimal == ',':  # pandas leaves a column as it is for one cell of text
                for name in frame.columns[frame.dtypes.map(lambda kind: kind.kind not in 'fiub')]:
                    frame[name] = frame[name].astype(object).str.replace(',', '.')
            yield frame


def _is_truncated(layout: CsvForm) -> bool:
    """Return True if the last row ends in the middle, as a killed recorder leaves it."""
    with layout.path.open('rb') as file:
        file.seek(max(0, layout.path.stat().st_size - 2**20))
        end = file.read().decode(layout.encoding, 'replace')
    lines = [line for line in end.splitlines()[-100:] if line.strip() and line[0] != '#']
    cells = layout.split(lines[-1]) if lines else layout.names
    if len(cells) != len(layout.names) and not layout.joints:
        return len(cells) < len(layout.names)
    return end[-1:] not in '\r\n' and not is_value(cells[-1])


def _find_lines(layout: CsvForm, rows: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Return number and text of the lines with these rows."""
    wanted, texts = {*rows}, {}
    with layout.path.open(encoding=layout.encoding) as file:
        lines = islice(enumerate(file, 1), layout.skipped, None)
        useful = (each for each in lines if each[1].strip() and each[1][0] != '#')
        for row, each in enumerate(islice(useful, max(wanted, default=-1) + 1)):
            if row in wanted:
                texts[row] = each
    return texts
