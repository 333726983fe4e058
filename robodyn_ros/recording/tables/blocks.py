# SPDX-License-Identifier: Apache-2.0
"""Table of the columns of a file that is read block by block: numbers, times, lists and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import COLUMNS, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import Spool
from robodyn_ros.recording.tables.table import Array, Table, joints_of

Block = Mapping[str, NDArray[Any]]
"""Values of some rows by name, shape (N,) or (N, k); texts, lists and None as objects."""
BLANK = ('', 'nan', 'null', 'none', 'na', 'n/a', '-', 'nat')
"""Cells without a number, in lower case; pandas knows most of them."""


class ColumnsOfBlocks:
    """Columns that grow by blocks, in one file if they are large.

    :ivar texts: first text or list of texts of a column; '' or [] where others follow
    :ivar bad: first row of a column that is no number, or a list of another length
    :ivar units: of columns that are times
    """

    def __init__(self) -> None:
        self.texts: dict[str, Any] = {}
        self.bad: dict[str, int] = {}
        self.units: dict[str, str] = {}
        self.rows = 0
        self._parts: dict[str, slice | int] = {}
        self._spool = Spool((0,))

    def append(self, block: Block) -> None:
        """Append rows; columns that the first block does not have are ignored."""
        parts = {name: self._numbers(name, values) for name, values in block.items()}
        if not self._parts:
            start = 0
            for name, part in parts.items():
                stop = start + (part.shape[1] if part.ndim > 1 else 1)
                self._parts[name] = slice(start, stop) if part.ndim > 1 else start
                start = stop
            check_bound(COLUMNS, start)
            self._spool = Spool((start,))
        count = max((len(part) for part in parts.values()), default=0)
        rows = np.full((count, *self._spool.shape), np.nan)
        for name, where in self._parts.items():
            part = parts.get(name, np.full(count, np.nan))
            if part.shape == rows[:, where].shape:
                rows[:, where] = part
            else:
                self.bad.setdefault(name, self.rows)
        self._spool.append(rows)
        self.rows += count

    def columns(self, rows: int | None = None) -> dict[str, Array]:
        """Return the first rows, or all, by name."""
        matrix = self._spool.array()[:rows]
        return {name: matrix[:, where] for name, where in self._parts.items()}

    def _numbers(self, name: str, values: NDArray[Any]) -> Array:
        """Return values as numbers; NaN where they are none, which is noted."""
        if values.dtype.kind in 'fiub':
            return values.astype(np.float64, copy=False)
        if values.dtype.kind in 'mM':
            self.units[name] = 'ns'
            return _nanoseconds(values)
        import pandas as pd  # slow to import

        cells = pd.Series(values, dtype=object)
        present = cells[cells.notna()]
        if len(present) and isinstance(present.iloc[0], str):
            present = present.astype(str).str.strip()
            present = present[~present.str.lower().isin(BLANK)]
        if not len(present):
            return np.full(len(cells), np.nan)
        first = present.iloc[0]
        if isinstance(first, str) and first[:1] in ('[', '('):
            inside = present.str.replace(r'array|[\[\]()\'",;]', ' ', regex=True)
            return self._lists(name, cells, inside.str.split())
        if np.ndim(first):
            return self._lists(name, cells, present)
        return self._texts(name, cells, present if isinstance(first, str) else present.map(str))

    def _lists(self, name: str, cells: Any, present: Any) -> Array:
        """Return lists of one length as rows, and NaN for missing ones."""
        lengths = present.map(len)
        rows = np.full((len(cells), lengths.iloc[0]), np.nan)
        if (other := lengths != lengths.iloc[0]).any():
            self.bad.setdefault(name, self.rows + int(other.idxmax()))
            return rows
        try:
            rows[present.index] = np.array(present.tolist(), dtype=np.float64)
        except (TypeError, ValueError):  # of texts, or of lists
            self._note(name, present.map(list), present.index[0])
        return rows

    def _texts(self, name: str, cells: Any, present: Any) -> Array:
        import pandas as pd

        numbers = pd.to_numeric(present, errors='coerce')
        if numbers.isna().all():
            stamps = pd.to_datetime(present, format='ISO8601', utc=True, errors='coerce')
            clock = pd.to_timedelta(present.where(present.str.contains(':')), errors='coerce')
            for times in (stamps.dt.tz_localize(None), clock):
                if times.notna().all():
                    self.units[name] = 'ns'
                    numbers = pd.Series(_nanoseconds(times.to_numpy()), present.index)
        if numbers.isna().any():
            self._note(name, present, numbers.isna().idxmax())
        return np.asarray(numbers.reindex(cells.index).to_numpy(np.float64))

    def _note(self, name: str, present: Any, row: int) -> None:
        """Note that a column has texts."""
        self.bad.setdefault(name, self.rows + int(row))
        first = self.texts.setdefault(name, present.iloc[0])
        if not all(each == first for each in present):
            self.texts[name] = type(first)()


def _nanoseconds(times: NDArray[Any]) -> Array:
    """Return times in [ns] since the epoch, or of durations; NaN for NaT."""
    numbers = times.astype(f'{times.dtype.kind}8[ns]').astype(np.int64).astype(np.float64)
    numbers[np.isnat(times)] = np.nan
    return numbers


def table_of_blocks(blocks: Iterable[Block], path: Path) -> Table:
    """Return the table of a file without header lines.

    :raises RecordingError: it has no rows
    """
    read = ColumnsOfBlocks()
    for block in blocks:
        read.append(block)
    if not read.rows:
        raise RecordingError(f'{path}: it has no rows')
    refused = {name: f'row {row + 1}: expected a number' for name, row in read.bad.items()}
    columns = read.columns()
    return Table(columns, str(path), joints_of(read.texts), refused=refused, units=read.units)
