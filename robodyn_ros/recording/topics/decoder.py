# SPDX-License-Identifier: Apache-2.0
"""Decoder of messages with joint states in CDR (the bytes in a bag), a block at a time.

Almost every message of a recording differs from the previous one only in its stamp and numbers, so
that one numpy view decodes thousands of them. All other messages are converted first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import JOINT_LISTS, JOINTS, BoundError, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import Spool
from robodyn_ros.recording.topics.messages import Converter
from robodyn_ros.wire.joint_state import JointStateLayout

BLOCK = 4096
"""Messages that are decoded together."""

MAX_LAYOUTS = 64
"""Layouts to recognise; with more, the frame changes all the time and messages are rewritten."""


@dataclass
class Group:
    """Decoded messages that name the same joints in the same order.

    The columns are `row` (order of arrival), `stamp` and `log` in [ns], each of shape (N,), and
    `position`, `velocity`, `effort`, each of shape (N, n) and NaN where a message has no value.
    `measured` is True if a message has an effort.
    """

    names: tuple[str, ...]
    count: int = 0
    measured: bool = False
    _columns: dict[str, Spool] = field(default_factory=dict)

    def add(self, **columns: NDArray[Any]) -> None:
        """Append a block."""
        self.count += len(columns['row'])
        self.measured = self.measured or bool(np.isfinite(columns['effort']).any())
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = Spool(values.shape[1:], values.dtype)
            self._columns[name].append(values)

    def take(self, name: str) -> NDArray[Any]:
        """Remove a column from the group and return it."""
        return self._columns.pop(name).array()


@dataclass
class _Pending:
    """Messages of one layout that wait to be decoded together."""

    layout: JointStateLayout
    messages: list[bytes] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    logs: list[int] = field(default_factory=list)


class JointStateDecoder:
    """Decoder of the messages of one topic, for any joints in any order."""

    def __init__(self, converter: Converter | None = None) -> None:
        self.converter = converter or Converter()
        self.groups: dict[tuple[str, ...], Group] = {}
        self.rows = 0
        self.damaged: Counter[str] = Counter()
        self._pending: dict[int, list[_Pending]] = {}
        self._layouts = 0

    def add_all(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Add messages with their time in the bag, in [ns]; damaged ones are counted."""
        last: _Pending | None = None
        for log_time, data in messages:
            self.rows += 1
            if last is None or not last.layout.fits(data):
                last, data = self._find(data)
                if last is None:
                    continue
            last.messages.append(data)
            last.rows.append(self.rows)
            last.logs.append(log_time)
            if len(last.messages) >= BLOCK:
                self._flush(last)

    def _find(self, data: bytes) -> tuple[_Pending | None, bytes]:
        """Return where a message belongs, and the message in a form that fits there."""
        data = bytes(data)
        pending = self._search(data)
        if pending is not None:
            return pending, data
        if self.converter.plain and self._layouts < MAX_LAYOUTS:
            with suppress(ValueError, BoundError):
                return self._new(JointStateLayout(data)), data
        try:
            data = self.converter.convert(data)
            return self._search(data) or self._new(JointStateLayout(data)), data
        except (ValueError, BoundError) as error:
            self.damaged[str(error)] += 1
            return None, data

    def _search(self, data: bytes) -> _Pending | None:
        candidates = self._pending.get(len(data), ())
        return next((entry for entry in candidates if entry.layout.fits(data)), None)

    def _new(self, layout: JointStateLayout) -> _Pending:
        if len(set(layout.names)) != len(layout.names) or not layout.names:
            raise ValueError('no joint names, or a name twice')
        check_bound(JOINTS, len(layout.names))
        check_bound(JOINT_LISTS, self._layouts + 1)
        entry = _Pending(layout)
        self._layouts += 1
        self._pending.setdefault(layout.length, []).append(entry)
        return entry

    def _flush(self, entry: _Pending) -> None:
        names = entry.layout.names
        stamp, position, velocity, effort = entry.layout.decode(entry.messages)
        self.groups.setdefault(names, Group(names)).add(
            row=np.array(entry.rows, dtype=np.int64),
            stamp=stamp,
            log=np.array(entry.logs, dtype=np.int64),
            position=position,
            velocity=velocity,
            effort=effort,
        )
        for pending in (entry.messages, entry.rows, entry.logs):
            pending.clear()

    def finish(self) -> list[Group]:
        """Decode pending messages and return the groups, the largest first.

        :raises RecordingError: there were messages, and none could be decoded
        """
        for entries in self._pending.values():
            for entry in entries:
                if entry.messages:
                    self._flush(entry)
        if self.rows and not self.groups:
            reason = self.damaged.most_common(1)[0][0]
            raise RecordingError(f'none of the {self.rows} messages can be read ({reason})')
        return sorted(self.groups.values(), key=lambda group: -group.count)
