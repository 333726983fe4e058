# SPDX-License-Identifier: Apache-2.0
"""Form of a CSV file, recognised by its first lines: preamble, header rows, marks of numbers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robodyn_ros.bounds import COLUMNS, NAME, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.tables.blocks import BLANK
from robodyn_ros.recording.tables.units import is_time, unit_of

DELIMITERS = ('\t', ';', ',', '|')
SAMPLE = 2**17
"""Characters by which the form is recognised."""
HEADER_ROWS = 3
ECHO = ('position', 'velocity', 'effort')
NUMBER = re.compile(r'[-+]?[\d.,]*\d[.,]?(e[-+]?\d+)?', re.IGNORECASE)
VALUE = re.compile(
    r'\d{4}-\d\d-\d\d[T ]\d.*|\d+:\d\d:\d\d.*|[\[(][^a-zA-Z]*\d[^a-zA-Z]*[\])]|[-+]?inf'
)


@dataclass(frozen=True)
class CsvForm:
    """Form of a file.

    :param names: of the columns, unique
    :param skipped: lines up to the first row of numbers
    :param header: line of the header, as it is in the file
    :param units: of columns, of a row of units below the header
    :param refused: why a column cannot be used, by name
    :param joints: of `ros2 topic echo --csv`
    """

    path: Path
    encoding: str
    delimiter: str
    names: list[str]
    skipped: int
    decimal: str = '.'
    header: str = ''
    units: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    joints: tuple[str, ...] | None = None

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
    delimiter = _delimiter(useful)
    rows = _rows(lines, delimiter)
    check_bound(COLUMNS, max(len(cells) for _, cells in rows))
    width = Counter(len(cells) for _, cells in rows[-50:]).most_common(1)[0][0]
    if rows[0][1][0].isdigit():  # of several publishers, the one with most joints
        width = max((len(each) for _, each in rows[:50] if _joints_of_echo(each)), default=width)
    data = (at for at, (_, cells) in enumerate(rows) if _is_data(cells, width))
    start = next(data, len(rows))
    if start == len(rows):
        raise RecordingError(f'{path}: the file has a header but no rows')
    skipped = rows[start - 1][0] if start else 0
    above = {
        number: cells
        for number, cells in rows[max(0, start - 8) : start]
        if abs(len(cells) - width) < 2
    }
    if not above:  # numpy.savetxt writes the header as a comment
        before = range(rows[start][0] - 1, skipped, -1)
        last = next((number for number in before if lines[number - 1].startswith('#')), 0)
        comment = _rows([lines[last - 1].lstrip('# ')] if last else [], delimiter)
        above = {last: comment[0][1]} if comment and len(comment[0][1]) == width else {}
    body = [cells for _, cells in rows[start:]]
    if len(body[0]) > width:
        number = rows[start][0]
        raise RecordingError(
            f'{path}: line {number} has {len(body[0])} cells, the header has {width}'
        )
    joints = None if above else _joints_of_echo(body[0])
    units: dict[int, str] = {}
    if joints:
        names, header = _names_of_echo(joints, width), 0
    else:
        names, units, header = _names(above, body, width)
    names, refused = _unique(names)
    check_bound(NAME, max(map(len, names)))
    named = {names[column]: unit for column, unit in units.items()}
    decimal = _decimal_mark(path, [cell for cells in body for cell in cells])
    return CsvForm(
        path, encoding, delimiter, names, skipped, decimal,
        lines[header - 1].strip() if header else '', named, refused, joints,
    )  # fmt: skip


def _first_lines(path: Path) -> tuple[str, list[str]]:
    """Return the encoding and the first complete lines."""
    with path.open('rb') as file:
        data, more = file.read(SAMPLE), file.read(1)
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        encoding, text = 'utf-16', data.decode('utf-16', 'ignore')
        return encoding, text.splitlines()[: -1 if more else None]
    encoding = 'utf-8-sig'
    data = data[: data.rfind(b'\n') + 1] if more and b'\n' in data else data
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = 'cp1252'  # of Windows: units such as °
        text = data.decode(encoding)
    return encoding, re.split('\r\n|\n|\r', text.rstrip('\r\n'))


def _rows(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the cells of each row with the number of its last line, without comments."""
    shown = (' ' if line.startswith('#') else f'{line.strip(" ")}\n' for line in lines)
    reader = csv.reader(shown, delimiter=delimiter, skipinitialspace=True)
    rows = ((reader.line_num, [cell.strip().strip("'") for cell in cells]) for cells in reader)
    return [(number, cells) for number, cells in rows if any(cells)]


def _delimiter(lines: Sequence[str]) -> str:
    """Return the first mark that divides most of the last lines into cells, else a space."""
    for mark in DELIMITERS:
        rows = _rows(lines[-20:], mark)
        if 2 * sum(len(cells) > 1 for _, cells in rows) >= len(rows):
            return mark
    return ' '


def is_value(cell: str) -> bool:
    """Return True for a number, time or list, or an empty cell."""
    return bool(NUMBER.fullmatch(cell) or VALUE.fullmatch(cell)) or cell.lower() in BLANK


def _is_data(cells: Sequence[str], width: int) -> bool:
    """Return True for a row of numbers."""
    present = [cell for cell in cells if cell.lower() not in BLANK]
    if len(cells) > 2 and len({*cells[::2]}) == 1 and not is_value(cells[0]):
        return False  # of a scope: a fact and its value for each signal
    return abs(len(cells) - width) < 2 and 2 * sum(map(is_value, present)) >= len(present)


def _names(
    above: dict[int, list[str]], body: list[list[str]], width: int
) -> tuple[list[str], dict[int, str], int]:
    """Return names by the header rows, '' without one, units by column, and the line of names."""
    rows = [(n, [*row, ''][:width]) for n, row in above.items() if len(row) >= width]
    if not rows:  # without a name of the index (R), or with a mark at the end of rows
        ends = all(not cells[-1] for cells in body)
        rows = [(n, [*row, ''] if ends else ['', *row]) for n, row in above.items()]
    units: dict[int, str] = {}
    if len(rows) > 1 and all(unit_of(cell) for cell in rows[-1][1] if cell):
        units = {k: unit for k, cell in enumerate(rows.pop()[1]) if (unit := unit_of(cell))}
    if not rows:
        return [''] * width, units, 0
    for number, row in rows:  # a scope: Name, SIGNAL, Name, ... above pairs of time and value
        if width > 1 and {cell.lower() for cell in row[::2]} == {'name'}:
            return [cell if k % 2 else 'time' for k, cell in enumerate(row)], units, number
    last = [cell for cell in rows[-1][1] if cell]
    if len({*last}) == len(last) > width - 2:
        timed = [each for each in rows[::-1] if any(is_time(cell) for cell in each[1])]
        number, row = [*timed, rows[-1]][0]
        return row, units, number
    return _join_rows([row for _, row in rows[-HEADER_ROWS:]]), units, rows[-1][0]


def _join_rows(rows: list[list[str]]) -> list[str]:
    """Return the names of several header rows; upper ones hold for the empty cells behind."""
    names = [''] * len(rows[0])
    for number, row in enumerate(rows):
        cell = ''
        for column, text in enumerate(row):
            cell = text or (cell if number + 1 < len(rows) and column else '')
            names[column] += f'.{cell}' if names[column] and cell else cell
    return names


def _unique(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return names that are unique; columns without one, or with a common one, are numbered."""
    counts, refused = Counter(names), {}
    unique: list[str] = []
    for number, name in enumerate(names, 1):
        if is_time(name) and counts[name] > 1:
            unique.append(f'{name}.{number}' if name in unique else name)
            continue
        unique.append(name if name and counts[name] == 1 else f'column{number}')
        if name and counts[name] > 1:
            which = [k for k, other in enumerate(names, 1) if other == name]
            refused[name] = (
                f'columns {" and ".join(map(str, which))} have the same name in the header, name '
                f'one as {" or ".join(f"column{k}" for k in which)}'
            )
    return unique, refused


def _joints_of_echo(cells: Sequence[str]) -> tuple[str, ...] | None:
    """Return the joints of `ros2 topic echo --csv`: sec, nanosec, frame_id, names, values."""
    if len(cells) < 5 or not all(cell.isdigit() for cell in cells[:2]):
        return None
    count = next((k for k, cell in enumerate(cells[3:]) if NUMBER.fullmatch(cell)), 0)
    numbers = len(cells) - 3 - count
    return tuple(cells[3 : 3 + count]) if count and numbers in (2 * count, 3 * count) else None


def _names_of_echo(joints: tuple[str, ...], width: int) -> list[str]:
    """Return the names of columns; two values per joint may be velocity or effort."""
    count = len(joints)
    kinds = ECHO if width - 3 == 4 * count else ('position', 'velocity or effort')
    names = [f'name[{k}]' for k in range(count)]
    values = [f'{kind}_{joint}' for kind in kinds for joint in joints]
    return ['stamp.sec', 'stamp.nanosec', 'frame_id', *names, *values]


def _decimal_mark(path: Path, cells: Sequence[str]) -> str:
    """Return the mark of decimals; a RecordingError if there are two."""
    numbers = [cell for cell in cells if NUMBER.fullmatch(cell)]
    comma = next((cell for cell in numbers if ',' in cell), None)
    if comma and any('.' in cell for cell in numbers):
        raise RecordingError(
            f'{path}: it has numbers with a decimal point and with a decimal comma ({comma}); '
            f'write all of them with a point'
        )
    return ',' if comma else '.'
