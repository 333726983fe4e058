# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of the nodes, with the age of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from robodyn_ros.errors import clip
from robodyn_ros.watch.events import Events
from robodyn_ros.watch.source import DataAge

LEVELS = ('ok', 'warning', 'error', 'stale')
"""Names of the levels of DiagnosticStatus."""
STALE_AFTER = 3.5
"""Age at which a status is stale, in [s]: three periods of 1 s."""


@dataclass
class Status:
    """Last status of one node."""

    source: DataAge
    level: str = ''
    message: str = ''
    values: Mapping[str, str] | None = None


class DiagnosticList:
    """Last status of each node; a status that is not repeated becomes stale.

    :ivar changes: increases with every new level or message
    """

    def __init__(
        self,
        events: Events,
        clock: Callable[[], float] = time.monotonic,
        *,
        most: int = 64,
    ) -> None:
        """Start empty.

        :param most: number of names, and of values of each, that are kept; any program may publish
            diagnostics
        """
        self._events = events
        self._clock = clock
        self._most = most
        self._rows: dict[str, Status] = {}
        self.changes = 0

    def take(self, name: str, level: int, message: str, values: Mapping[str, str]) -> None:
        """Take one status; of long texts and many values the beginning is kept."""
        name = clip(name)
        row = self._rows.get(name)
        if row is None:
            if len(self._rows) >= self._most:
                return
            row = self._rows[name] = Status(DataAge(STALE_AFTER, self._clock))
        row.source.note_data()
        word = LEVELS[level] if level < len(LEVELS) else 'stale'
        text = clip(message)
        if (word, text) != (row.level, row.message):
            self.changes += 1
        if word != row.level:
            severity = {'ok': 'info', 'warning': 'warning'}.get(word, 'error')
            self._events.add(name, severity, f'{word}: {text}', key=word)
        row.level, row.message = word, text
        kept = islice(values.items(), self._most)
        row.values = {clip(key): clip(value) for key, value in kept}

    def rows(self) -> list[dict[str, object]]:
        """Return one row per node, sorted by name."""
        return [
            {
                'name': name,
                'level': row.level if row.source.fresh else 'stale',
                'message': row.message,
                'values': dict(row.values or {}),
                **row.source.facts(),
            }
            for name, row in sorted(self._rows.items())
        ]
