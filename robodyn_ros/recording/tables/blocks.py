# SPDX-License-Identifier: Apache-2.0
"""Table of a file that pandas reads block by block: numbers, times, lists, names of joints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.bounds import COLUMNS, JOINTS, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import Spool
from robodyn_ros.recording.tables.table import NAME, Array, Table, joints_of
from robodyn_ros.recording.tables.units import is_time

JOINT = re.compile(
    r'(?:.*[./])?(?:name|(?:joint|axis|motor|actuator)[ _]?(?:name|id|number|no|nr)?)',
    re.IGNORECASE,
)
"""Names of columns that can tell which joint a row belongs to."""
BLANK = ('', 'nan', 'null', 'none', 'na', 'n/a', '-', 'nat')
"""Cells without a number, in lower case; pandas knows most of them."""


class ColumnsOfBlocks:
    """Columns that grow by data frames of pandas, in one file if they are large.

    :ivar names: different texts of a column that can name joints
    :ivar bad: first row of a column that is no number, or a list of another length
    :ivar units: of columns that are times
    """

    def __init__(self) -> None:
        self.names: dict[str, set[tuple[str, ...]]] = {}
        self.bad: dict[str, int] = {}
        self.units: dict[str, str] = {}
        self.rows = 0
        self._parts: dict[str, slice | int] = {}
        self._spool = Spool((0,))

    def append(self, frame: Any) -> None:
        """Append rows; columns that the first frame does not have are ignored."""
        parts = {str(name): self._numbers(str(name), cells) for name, cells in frame.items()}
        if not self._parts:
            _check_rows(frame)
            start = 0
            for name, part in parts.items():
                stop = start + (part.shape[1] if part.ndim > 1 else 1)
                self._parts[name] = slice(start, stop) if part.ndim > 1 else start
                start = stop
            check_bound(COLUMNS, start)
            self._spool = Spool((start,))
        rows = np.full((len(frame), *self._spool.shape), np.nan)
        for name, where in self._parts.items():
            if name in parts and parts[name].shape == rows[:, where].shape:
                rows[:, where] = parts[name]
            elif name in parts:
                self.bad.setdefault(name, self.rows)
        self._spool.append(rows)
        self.rows += len(frame)

    def columns(self, rows: int | None = None) -> dict[str, Array]:
        """Return the first rows, or all, by name."""
        matrix = self._spool.array()[:rows]
        return {name: matrix[:, where] for name, where in self._parts.items()}

    def _numbers(self, name: str, cells: Any) -> Array:
        """Return cells as numbers; NaN where they are none, which is noted."""
        import pandas as pd  # slow to import

        if cells.dtype.kind in 'fiub':
            return np.asarray(cells, dtype=np.float64)
        cells = cells.reset_index(drop=True)
        present = cells[cells.notna()]
        is_text = len(present) and isinstance(present.iloc[0], str)
        if is_text:
            present = present.astype(str).str.strip()
            present = present[~present.str.lower().isin(BLANK)]
        lists = present.map(_split)
        if len(present) and cells.dtype.kind == 'O' and NAME.fullmatch(name):
            texts = (map(str, each) if isinstance(each, list) else [str(each)] for each in lists)
            self.names.setdefault(name, set()).update(map(tuple, texts))
        if len(present) and isinstance(lists.iloc[0], list):
            return self._lists(name, cells, lists)
        values = present
        if cells.dtype.kind == 'O':
            values = pd.to_numeric(present, errors='coerce')
            if values.isna().all():
                values = _times(present.astype(str))
        if values.dtype.kind in 'mM':
            self.units[name] = 'ns'
            values = values.dt.as_unit('ns').astype('int64')
        if values.isna().any():
            self.bad.setdefault(name, self.rows + int(values.isna().idxmax()))
        return np.asarray(values.reindex(cells.index), dtype=np.float64)

    def _lists(self, name: str, cells: Any, present: Any) -> Array:
        """Return lists of one length as rows, and NaN for missing ones."""
        lengths = present.map(np.size)
        rows = np.full((len(cells), lengths.iloc[0]), np.nan)
        try:
            rows[present.index] = np.array(present.tolist(), dtype=np.float64)
        except (TypeError, ValueError):  # of several lengths, of texts, or of lists
            other = lengths != lengths.iloc[0]
            self.bad.setdefault(
                name, self.rows + int((other if other.any() else lengths).idxmax())
            )
        return rows


def _check_rows(frame: Any) -> None:
    """Check that rows do not belong to one joint each.

    :raises ValueError: they do
    """
    for name in filter(JOINT.fullmatch, map(str, frame.columns)):
        cells = frame[name].dropna().astype(str)
        rows, most = cells.value_counts(), JOINTS.most
        changes = (cells != cells.shift()).mean()
        alike = len(rows) > 1 and rows.max() <= 1.1 * rows.min() + 1
        if alike and len(rows) <= min(most, len(cells) / 2) and changes > 0.5:
            time = next(filter(is_time, map(str, frame.columns)), 'TIME')
            raise ValueError(
                f'column {name!r} gives each row another joint, expected one row for each time: '
                f"python3 -c \"import pandas; t = pandas.read_csv('FILE').pivot(index={time!r}, "
                f"columns={name!r}); t.set_axis(t.columns.map('{{0[0]}}_{{0[1]}}'.format), "
                f"axis=1).to_csv('NEW.csv')\" makes one of them"
            )


def _split(cell: Any) -> Any:
    """Return a list, also one that is written as text; another cell as it is."""
    if isinstance(cell, str) and cell[0] in '[(':
        return re.sub(r'array|[\[\]()\'",;]', ' ', cell).split()
    return [*cell] if isinstance(cell, (list, tuple, np.ndarray)) else cell


def _times(texts: Any) -> Any:
    """Return times of ISO 8601 or of the day; texts that are none as NaN."""
    import pandas as pd

    stamps = pd.to_datetime(texts, format='ISO8601', utc=True, errors='coerce')
    clock = pd.to_timedelta(texts.where(texts.str.contains(':')), errors='coerce')
    both = (stamps.dt.tz_localize(None), clock)
    nothing = pd.Series(np.nan, texts.index)
    return next((times for times in both if len(times) and times.notna().all()), nothing)


def table_of_blocks(frames: Iterable[Any], path: Path) -> Table:
    """Return the table of a file without header lines.

    :raises RecordingError: it has no rows
    """
    read = ColumnsOfBlocks()
    for frame in frames:
        read.append(frame)
    if not read.rows:
        raise RecordingError(f'{path}: it has no rows')
    refused = {name: f'row {row + 1}: expected a number' for name, row in read.bad.items()}
    columns, joints = read.columns(), joints_of(read.names)
    return Table(columns, str(path), joints, refused=refused, units=read.units)
