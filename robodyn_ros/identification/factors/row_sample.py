# SPDX-License-Identifier: Apache-2.0
"""Some thousand rows of a recording's regression, for robust weights and residual spectra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.models.interface import Array

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

SEGMENTS, LENGTH = 8, 1024
"""Segments of time, evenly spread, that stand for all rows, and rows in each of them."""

MOST = 10_000_000
"""Numbers that are kept at most (80 MB): all rows, if they fit, and else those segments."""


@dataclass(frozen=True)
class RowSegment:
    """Rows that follow each other.

    :param rows: per joint [Y | tau], shape (m, k + 1); rows that do not count are zero
    :param used: which count, shape (m, n)
    :param position: of the joints, shape (m, n), in [rad] or [m]
    """

    rows: tuple[Array, ...]
    used: Mask
    position: Array


@dataclass(frozen=True)
class RowSample:
    """Segments of rows.

    :param columns: per joint, which of the selected columns act on it
    """

    columns: tuple[Indices, ...] = ()
    width: int = 0
    segments: tuple[RowSegment, ...] = ()
    total: int = 0

    @property
    def complete(self) -> bool:
        """True if all rows of the recording are here."""
        return len(self.segments) == 1 and len(self.segments[0].used) == self.total

    def few(self) -> RowSample:
        """Return the segments that represent all rows."""
        if not self.complete or self.total <= SEGMENTS * LENGTH:
            return self
        (segment,) = self.segments
        parts = (slice(first, last) for first, last in _spread(self.total))
        few = tuple(
            RowSegment(
                tuple(rows[part] for rows in segment.rows),
                segment.used[part],
                segment.position[part],
            )
            for part in parts
        )
        return replace(self, segments=few)

    def keep_columns(self, kept: Mask) -> RowSample:
        """Return the rows of some of the columns; `kept` (b,): which."""
        here = [kept[columns] for columns in self.columns]
        places = np.cumsum(kept) - 1
        segments = tuple(
            replace(
                part,
                rows=tuple(
                    rows[:, np.append(mask, True)]
                    for rows, mask in zip(part.rows, here, strict=True)
                ),
            )
            for part in self.segments
        )
        columns = tuple(places[each[h]] for each, h in zip(self.columns, here, strict=True))
        return RowSample(columns, int(kept.sum()), segments, self.total)

    def matrix(self, joint: int) -> Array:
        """Return the rows [Y | tau] of a joint that count, shape (m, k + 1)."""
        return np.concatenate([part.rows[joint][part.used[:, joint]] for part in self.segments])


def _spread(total: int) -> list[tuple[int, int]]:
    starts = np.linspace(0, total - LENGTH, SEGMENTS).astype(int)
    return [(int(start), int(start) + LENGTH) for start in starts]


class SampleCollector:
    """Collector of the rows of some segments, while all rows are processed in blocks."""

    def __init__(self, total: int, columns: Sequence[Indices], *, keep: bool = True) -> None:
        """Choose the segments of so many rows; with `keep` all rows, if they are not too many."""
        self.total, self.columns = total, tuple(columns)
        size = total * sum(len(indices) + 1 for indices in columns)
        few = total > SEGMENTS * LENGTH and (size > MOST or not keep)
        self.bounds = _spread(total) if few else [(0, total)]
        self.parts = tuple(self._room(last - first) for first, last in self.bounds)

    def _room(self, count: int) -> RowSegment:
        rows = tuple(np.empty((count, len(indices) + 1), order='F') for indices in self.columns)
        return RowSegment(
            rows, np.zeros((count, len(rows)), dtype=bool), np.zeros((count, len(rows)))
        )

    def add(self, where: slice, rows: Sequence[Array], used: Mask, position: Array) -> None:
        """Store those rows of a block that lie in a segment; rows that do not count as zeros.

        :param where: range of the block in all rows
        """
        for (first, last), part in zip(self.bounds, self.parts, strict=True):
            low, high = max(first, where.start), min(last, where.stop)
            if low < high:
                here = slice(low - where.start, high - where.start)
                there = slice(low - first, high - first)
                part.used[there] = used[here]
                part.position[there] = position[here]
                for kept, matrix, counts in zip(part.rows, rows, used[here].T, strict=True):
                    kept[there] = matrix[here]
                    if not counts.all():
                        kept[there][~counts] = 0.0

    def sample(self, width: int) -> RowSample:
        """Return the stored rows of so many selected columns."""
        return RowSample(self.columns, width, self.parts, self.total)
