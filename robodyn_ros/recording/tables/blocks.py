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

    :ivar texts: first text of columns of text, a list for lists; None where others follow
    :ivar bad: first row of a column that is no number
    :ivar units: of columns that are times
    """

    def __init__(self) -> None:
        self.texts: dict[str, Any] = {}
        self.bad: dict[str, int] = {}
        self.units: dict[str, str] = {}
        self.rows = 0
        self._missing: dict[str, int] = {}
        self._widths: dict[str, int] = {}
        self._spool: Spool | None = None

    def append(self, block: Block) -> None:
        """Append rows; columns that the first block does not have are ignored.

        :raises ValueError: a list has another length than in earlier rows
        """
        parts = {name: self._numbers(name, values) for name, values in block.items()}
        if self._spool is None:
            self._widths = {name: 1 if p.ndim < 2 else p.shape[1] for name, p in parts.items()}
            self._flat = [name for name, part in parts.items() if part.ndim < 2]
            check_bound(COLUMNS, sum(self._widths.values()))
            self._spool = Spool((sum(self._widths.values()),))
        count = max((len(part) for part in parts.values()), default=0)
        rows = np.full((count, *self._spool.shape), np.nan)
        start = 0
        for name, width in self._widths.items():
            part = parts.get(name, rows[:, :0])
            if part.size:
                part = part.reshape(count, -1)
                if part.shape[1] != width:
                    raise ValueError(f'{name!r} has {part.shape[1]} numbers after {width}')
                rows[:, start : start + width] = part
            missing = np.isnan(rows[:, start])
            if name not in self._missing and missing.any():
                self._missing[name] = self.rows + int(missing.argmax())
            start += width
        self._spool.append(rows)
        self.rows += count

    def first_missing(self, name: str) -> int:
        """Return the first row without a number in a column; -1: there is none."""
        return self._missing.get(name, -1)

    def columns(self, rows: int | None = None) -> dict[str, Array]:
        """Return the first rows, or all, by name."""
        assert self._spool is not None
        matrix, columns, start = self._spool.array()[:rows], {}, 0
        for name, width in self._widths.items():
            flat = name in self._flat
            columns[name] = matrix[:, start] if flat else matrix[:, start : start + width]
            start += width
        return columns

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
        return (self._texts if np.ndim(first) == 0 else self._lists)(name, cells, present)

    def _lists(self, name: str, cells: Any, present: Any) -> Array:
        """Return lists of one length as rows, and NaN for missing ones."""
        lengths = {len(each) for each in present}
        if len(lengths) > 1:
            raise ValueError(f'the lists of {name!r} have {min(lengths)} to {max(lengths)} values')
        rows = np.full((len(cells), *lengths), np.nan)
        try:
            rows[cells.index.get_indexer(present.index)] = np.array(
                present.tolist(), dtype=np.float64
            )
        except ValueError:  # of texts
            self._note_texts(name, present.map(list))
        return rows

    def _texts(self, name: str, cells: Any, present: Any) -> Array:
        import pandas as pd

        numbers = pd.to_numeric(present, errors='coerce')
        bad = numbers.isna()
        if bad.all():
            for parse in (_stamps, _times_of_day):
                times = parse(present.astype(str))
                if times.notna().all():
                    self.units[name] = 'ns'
                    numbers, bad = pd.Series(_nanoseconds(times.to_numpy()), present.index), ~bad
                    break
        if bad.any():
            self.bad.setdefault(name, self.rows + int(bad.idxmax()))
            self._note_texts(name, present)
        return np.asarray(numbers.reindex(cells.index).to_numpy(np.float64))

    def _note_texts(self, name: str, present: Any) -> None:
        first = self.texts.setdefault(name, present.iloc[0])
        if first is not None and not all(each == first for each in present):
            self.texts[name] = None


def _stamps(texts: Any) -> Any:
    """Return times of ISO 8601 in UTC, NaT where a text is none."""
    import pandas as pd

    return pd.to_datetime(texts, format='ISO8601', utc=True, errors='coerce').dt.tz_localize(None)


def _times_of_day(texts: Any) -> Any:
    """Return times such as 12:00:00.001, NaT where a text is none."""
    import pandas as pd

    return pd.to_timedelta(texts.where(texts.str.contains(':')), errors='coerce')


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
