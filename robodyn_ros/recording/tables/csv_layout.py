# SPDX-License-Identifier: Apache-2.0
"""Form of a CSV file, recognised by its first lines: preamble, header rows, marks of numbers."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.bounds import COLUMNS, NAME, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.blocks import BLANK
from robodyn_ros.recording.tables.units import UNITS, is_time, unit_of

DELIMITERS = ('\t', ';', ',', '|')
SAMPLE = 2**17
"""Characters by which the form is recognised."""
HEADER_ROWS = 3
NUMBER = re.compile(r'[-+]?[\d.,]*\d[.,]?(e[-+]?\d+)?', re.IGNORECASE)
DATE = re.compile(r'\d{1,2}\.\d{1,2}\.(\d\d|\d{4})')
GROUPS = re.compile(r'[-+]?[1-9]\d{0,2}([.,]\d{3})+')
"""Numbers that may have marks of thousands."""
VALUE = re.compile(
    r'\d{4}-\d\d-\d\d[T ]\d.*|\d+:\d\d:\d\d.*|[\[(][^a-zA-Z]*\d[^a-zA-Z]*[\])]|[-+]?inf'
)

Row = tuple[int, list[str]]
"""Number of a line from 1, and its cells."""


@dataclass(frozen=True)
class CsvForm:
    """Form of a file.

    :param names: of the columns, unique
    :param skipped: lines up to the first row of numbers
    :param header: line of the header, as it is in the file
    :param units: of columns, of a row of units below the header
    :param refused: why a column cannot be used, by name
    """

    path: Path
    encoding: str
    delimiter: str
    names: list[str]
    skipped: int
    decimal: str
    header: str
    units: dict[str, str]
    refused: dict[str, str]

    def split(self, line: str) -> list[str]:
        """Return the cells of a line."""
        return next(iter(_rows([line], self.delimiter)), (0, []))[1]


def recognise_layout(path: Path) -> CsvForm:
    """Recognise the form of a file.

    :raises RecordingError: it has no rows of numbers, or numbers with both marks of decimals
    """
    encoding, lines = _first_lines(path)
    useful = [line for line in lines if line.strip() and not line.startswith('#')]
    if not useful:
        raise RecordingError(f'{path}: the file has no rows')
    last = useful[-20:]  # the first mark that divides most of them, else a space
    usual = (mark for mark in DELIMITERS if 2 * sum(mark in line for line in last) >= len(last))
    delimiter = next(usual, ' ')
    rows = _rows(lines, delimiter)
    check_bound(COLUMNS, max(len(cells) for _, cells in rows))
    width = Counter(len(cells) for _, cells in rows[-50:]).most_common(1)[0][0]
    start = next((k for k, (_, cells) in enumerate(rows) if _is_data(cells, width)), len(rows))
    if start == len(rows):
        raise RecordingError(f'{path}: the file has a header but no rows')
    skipped, (number, first) = rows[start - 1][0] if start else 0, rows[start]
    if len(first) > width:
        raise RecordingError(
            f'{path}: line {number} has {len(first)} cells, the header has {width}'
        )
    above = [row for row in rows[max(0, start - 8) : start] if abs(len(row[1]) - width) < 2]
    for line in range(number - 1, skipped, -1):  # numpy.savetxt writes the header as a comment
        comment = _rows([lines[line - 1].lstrip('# ')], delimiter)
        if not above and comment and len(comment[0][1]) == width:
            above = [(line, comment[0][1])]
    body = [cells for _, cells in rows[start:]]
    header, row, units = _header(above, body, width)
    if not above:
        row = _names_of_echo(first) or row
    names, refused = _unique(row)
    check_bound(NAME, max(map(len, names)))
    numbers = [
        cell
        for cells in body
        for cell in cells
        if NUMBER.fullmatch(cell) and not DATE.fullmatch(cell)
    ]
    comma = next((cell for cell in numbers if ',' in cell), None)
    marked = [cell for cell in numbers if '.' in cell or ',' in cell]
    if marked and (comma or delimiter == ';') and all(map(GROUPS.fullmatch, marked)):
        raise RecordingError(
            f'{path}: numbers such as {marked[0]} have a mark of decimals or of thousands: write '
            f'them with a decimal point and without marks of thousands'
        )
    if comma and any('.' in cell for cell in numbers):
        raise RecordingError(
            f'{path}: it has numbers with a decimal point and with a decimal comma ({comma}); '
            f'write all of them with a point, and without marks of thousands'
        )
    return CsvForm(
        path, encoding, delimiter, names, skipped, ',' if comma else '.',
        lines[header - 1].strip() if header else '',
        {name: unit for name, unit in zip(names, units, strict=False) if unit}, refused,
    )  # fmt: skip


def _first_lines(path: Path) -> tuple[str, list[str]]:
    """Return the encoding and the first complete lines."""
    with path.open('rb') as file:
        data, more = file.read(SAMPLE), file.read(1)
    encoding = 'utf-16' if data[:2] in (b'\xff\xfe', b'\xfe\xff') else 'utf-8-sig'
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        encoding, text = 'cp1252', data.decode('cp1252')  # of Windows: units such as °
    lines = re.split('\r\n|\n|\r', text if more else text.rstrip('\r\n'))
    return encoding, lines[:-1] if more and len(lines) > 1 else lines


def _rows(lines: Sequence[str], delimiter: str) -> list[Row]:
    """Return the cells of each row with the number of its last line, without comments."""
    shown = (' ' if line.startswith('#') else f'{line.strip(" ")}\n' for line in lines)
    reader = csv.reader(shown, delimiter=delimiter, skipinitialspace=True)
    rows = ((reader.line_num, [cell.strip().strip("'") for cell in cells]) for cells in reader)
    return [(number, cells) for number, cells in rows if any(cells)]


def is_value(cell: str) -> bool:
    """Return True for a number, time or list, or an empty cell."""
    return bool(NUMBER.fullmatch(cell) or VALUE.fullmatch(cell)) or cell.lower() in BLANK


def _is_data(cells: Sequence[str], width: int) -> bool:
    """Return True for a row of numbers."""
    present = [cell for cell in cells if cell.lower() not in BLANK]
    if len(cells) > 2 and len({*cells[::2]}) == 1 and not is_value(cells[0]):
        return False  # of a scope: a fact and its value for each signal
    return abs(len(cells) - width) < 2 and 2 * sum(map(is_value, present)) >= len(present)


def _header(
    above: list[Row], body: list[list[str]], width: int
) -> tuple[int, list[str], list[str | None]]:
    """Return the line of names, the names ('' without one) and units by the rows above."""
    rows = [(n, [*row, ''][:width]) for n, row in above if len(row) >= width]
    if not rows:  # without a name of the index (R), or with a mark at the end of rows
        ends = all(not cells[-1] for cells in body)
        rows = [(n, [*row, ''] if ends else ['', *row]) for n, row in above]
    units: list[str | None] = []
    cells = ['' if cell.lower() in BLANK else cell for cell in rows[-1][1]] if rows[1:] else ['']
    pairs = zip(rows[-2][1], cells, strict=False) if rows[1:] else ()
    dated = any(is_time(name) and unit_of(cell) in UNITS['time'] for name, cell in pairs)
    if rows[1:] and (dated or all(unit_of(cell) for cell in cells if cell)):
        units = [unit_of(cell) or cell.strip('[](){}<>') for cell in cells]
        rows.pop()
    for number, row in rows:  # a scope: Name, SIGNAL, Name, ... above pairs of time and value
        if width > 1 and {cell.lower() for cell in row[::2]} == {'name'}:
            return number, [cell if k % 2 else 'time' for k, cell in enumerate(row)], units
    last = [cell for cell in rows[-1][1] if cell] if rows else []
    if len({*last}) == len(last) > width - 2:
        timed = [each for each in rows[::-1] if any(map(is_time, each[1]))]
        return *[*timed, rows[-1]][0], units
    names = [''] * width  # upper rows hold for the empty cells behind
    for place, (_, row) in enumerate(rows[-HEADER_ROWS:], 1 - min(len(rows), HEADER_ROWS)):
        cell = ''
        for column, text in enumerate(row):
            cell = text or (cell if place and column else '')
            names[column] += f'.{cell}' if names[column] and cell else cell
    return rows[-1][0] if rows else 0, names, units


def _names_of_echo(cells: Sequence[str]) -> list[str]:
    """Return names for `ros2 topic echo --csv`: sec, nanosec, frame_id, joints, their values.

    Two values per joint may be velocity or effort. Other rows have no names.
    """
    count = next((k for k, cell in enumerate(cells[3:]) if NUMBER.fullmatch(cell)), 0)
    kinds = {2: ('position', 'velocity or effort'), 3: ('position', 'velocity', 'effort')}
    each, remainder = divmod(len(cells) - 3 - count, count) if count else (0, 0)
    if remainder or each not in kinds or not all(cell.isdigit() for cell in cells[:2]):
        return []
    values = [f'{kind}_{joint}' for kind in kinds[each] for joint in cells[3 : 3 + count]]
    joints = [f'name[{k}]' for k in range(count)]
    return ['stamp.sec', 'stamp.nanosec', 'frame_id', *joints, *values]


def _unique(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return names that are unique; columns without one, or with a common one, are numbered."""
    refused: dict[str, str] = {}
    unique: list[str] = []
    for number, name in enumerate(names, 1):
        same = [k for k, other in enumerate(names, 1) if other == name and name]
        if len(same) > 1 and is_time(name):
            unique.append(f'{name}.{number}' if name in unique else name)
        else:
            unique.append(name if len(same) == 1 else f'column{number}')
        if len(same) > 1 and not is_time(name):
            refused[name] = (
                f'columns {" and ".join(map(str, same))} have the same name in the header, name '
                f'one as {" or ".join(f"column{k}" for k in same)}'
            )
    return unique, refused
