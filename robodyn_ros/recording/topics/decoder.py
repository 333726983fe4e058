# SPDX-License-Identifier: Apache-2.0
"""Decoder of messages with joint states in CDR (the bytes in a bag), a block at a time.

Almost every message of a recording differs from the previous one only in its stamp and numbers, so
that one numpy view decodes thousands of them. Other messages are first rewritten by the general
decoder of rosbags.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.bounds import JOINT_LISTS, JOINTS, BoundError, check_bound
from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import Spool
from robodyn_ros.wire.controller_states import (
    OLD_POINTS,
    POINTS,
    ControllerStateLayout,
    DynamicStateLayout,
)
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.joint_state import JointStateLayout

MSGTYPE = 'sensor_msgs/msg/JointState'
DYNAMIC_STATE = 'control_msgs/msg/DynamicJointState'
TRAJECTORY_STATE = 'control_msgs/msg/JointTrajectoryControllerState'
KINDS = (MSGTYPE, DYNAMIC_STATE, TRAJECTORY_STATE)
"""Types of messages with joint states, the first one first where a bag has several."""
BLOCK = 4096
"""Messages that are decoded together."""

MAX_LAYOUTS = 64
"""Layouts to recognise; with more, the frame changes all the time and messages are rewritten."""


@cache
def types_with(kind: str, definition: str) -> Any:
    """Return the message definitions of ROS 2 Jazzy, and of one more type if there is its text.

    :raises Exception: of rosbags, the definition is damaged
    """
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore  # slow to import

    store = get_typestore(Stores.ROS2_JAZZY)
    given = get_types_from_msg(definition, kind) if definition else {}
    store.register({name: each for name, each in given.items() if name not in store.fielddefs})
    return store


class Form:
    """How the messages of a topic are read: by their type, its definition, and choices.

    :param definition: text of the type; '': unknown
    :param chosen: quantities that the user chose for `position`, `velocity` or `effort`
    """

    def __init__(
        self, kind: str = MSGTYPE, definition: str = '', chosen: Mapping[str, str] | None = None
    ) -> None:
        self.kind, self.definition, self.chosen = kind, definition, chosen or {}
        first = re.split('^={5,}', definition, maxsplit=1, flags=re.MULTILINE)[0]
        points = re.findall(r'^[ \t]*\S*JointTrajectoryPoint[ \t]+(\w+)', first, re.MULTILINE)
        self._points = [points] if len(points) > 1 else [POINTS, OLD_POINTS]

    def layout(self, data: bytes) -> JointStateLayout:
        """Return the layout of a message; a WireError if it has another type."""
        if self.kind == DYNAMIC_STATE:
            return DynamicStateLayout(data, self.chosen)
        if self.kind != TRAJECTORY_STATE:
            return JointStateLayout(data)
        with suppress(WireError):
            return ControllerStateLayout(data, self.chosen, self._points[0])
        return ControllerStateLayout(data, self.chosen, self._points[-1])

    def rewrite(self, data: bytes) -> bytes:
        """Rewrite any message (big-endian) in the form that `layout` reads, without its frame.

        :raises ValueError: the bytes are no such message
        """
        try:
            message = self._types.deserialize_cdr(data, self.kind)
            message.header.frame_id = ''  # it may change all the time
            return bytes(self._types.serialize_cdr(message, self.kind))
        except Exception as error:  # a parser may raise any exception for damaged bytes
            name = self.kind.rpartition('/')[2]
            raise ValueError(f'not a {name}: {error}') from error

    @cached_property
    def _types(self) -> Any:
        return types_with(self.kind, self.definition)


@dataclass
class Group:
    """Decoded messages that name the same joints in the same order.

    The columns are `row` (order of arrival), `stamp` and `log` in [ns], each of shape (N,), and
    `position`, `velocity`, `effort`, each of shape (N, n) and NaN where a message has no value.
    `measured` is True if a message has an effort. `layout` is that of its first message.
    """

    names: tuple[str, ...]
    layout: JointStateLayout
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

    def __init__(self, form: Form | None = None) -> None:
        self.form = form or Form()
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
        if self._layouts < MAX_LAYOUTS:
            with suppress(ValueError, BoundError):
                return self._new(self.form.layout(data)), data
        try:
            data = self.form.rewrite(data)
            return self._search(data) or self._new(self.form.layout(data)), data
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
        group = self.groups.setdefault(names, Group(names, entry.layout))
        group.add(
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
