# SPDX-License-Identifier: Apache-2.0
"""Bounded list of events for the operator."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass

from robodyn_ros.errors import clip

MERGE_TIME = 5.0
"""Time in which the same event again only increases its count, in [s]."""


@dataclass
class WatchEvent:
    """One event, or several of the same kind in a row.

    :ivar number: increases with every occurrence of an event
    :ivar time: of the last occurrence, in [s] since the epoch
    :ivar count: occurrences
    """

    number: int
    time: float
    source: str
    severity: str
    text: str
    count: int = 1


class Events:
    """The last events; the same event again within `MERGE_TIME` only increases its count.

    :ivar changes: increases with every change
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Start empty.

        :param clock: time since the epoch, in [s]
        """
        self._events: deque[WatchEvent] = deque(maxlen=200)
        self._clock = clock
        self._last: dict[tuple[str, str], WatchEvent] = {}
        self._number = 0
        self.changes = 0

    def add(self, source: str, severity: str, text: str, *, key: str = '') -> None:
        """Add an event.

        :param key: identifies the same event with other numbers; '': the text
        """
        now, same = self._clock(), (source, key or text)
        self.changes += 1
        self._number += 1
        recent = self._recent(now)
        if event := recent.get(same):
            event.number, event.time, event.text = self._number, now, clip(text)
            event.count += 1
            return
        event = recent[same] = WatchEvent(self._number, now, source, severity, clip(text))
        self._events.append(event)

    def _recent(self, now: float) -> dict[tuple[str, str], WatchEvent]:
        """Return the events that another one can be merged with."""
        self._last = {
            same: event
            for same, event in self._last.items()
            if 0.0 <= now - event.time < MERGE_TIME
        }
        return self._last

    def newest_first(self) -> list[dict[str, object]]:
        """Return the events as mappings."""
        newest = sorted(self._events, key=lambda event: event.number, reverse=True)
        return [asdict(event) for event in newest]
