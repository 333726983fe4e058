"""JointState messages in CDR (the bytes in a bag) to arrays, a block at a time.

Almost every message of a recording differs from the previous one only in its stamp and numbers, so
that one numpy view decodes thousands of them. Other messages are first rewritten by the general
decoder of rosbags.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.storage import Spool

MSGTYPE = 'sensor_msgs/msg/JointState'
LITTLE_ENDIAN = b'\x00\x01\x00\x00'
STAMP_END = 12
BLOCK = 4096
MAX_LAYOUTS = 64

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@cache
def joint_state_types() -> Any:
    """Return the message definitions of ROS 2 Jazzy (rosbags is slow to import)."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


@dataclass(frozen=True)
class Layout:
    """Offsets of the numbers in messages that share frame, names and array lengths.

    :param length: bytes of a message
    :param names: joint names, in the order of the arrays
    :param starts: offset of position, velocity and effort; -1 for an empty array
    :param fixed: byte ranges that do not change, with their content
    """

    length: int
    names: tuple[str, ...]
    starts: tuple[int, int, int]
    fixed: tuple[tuple[slice, bytes], ...]

    @classmethod
    def of(cls, data: bytes) -> Layout:
        """Parse one message.

        :raises ValueError: not a little-endian JointState, or arrays that do not fit the names
        """
        if data[:4] != LITTLE_ENDIAN:
            raise ValueError('not little-endian CDR')
        try:
            return cls._parsed(data)
        except (struct.error, IndexError) as error:
            raise ValueError('the message ends too early') from error

    @classmethod
    def _parsed(cls, data: bytes) -> Layout:
        names, at = _names(data)
        starts, fixed, since = [], [(slice(0, 4), LITTLE_ENDIAN)], STAMP_END
        for _ in range(3):
            at = _aligned(at, 4)
            (count,) = struct.unpack_from('<I', data, at)
            if count not in (0, len(names)):
                raise ValueError(f'{count} values for {len(names)} joints')
            at = _aligned(at + 4, 8) if count else at + 4
            fixed.append((slice(since, at), data[since:at]))
            starts.append(at if count else -1)
            at += 8 * count
            since = at
        if not 0 <= len(data) - at < 4:
            raise ValueError(f'{len(data)} bytes where the arrays end at {at}')
        return cls(len(data), names, (starts[0], starts[1], starts[2]), tuple(fixed))

    def fits(self, data: bytes) -> bool:
        """Return True if a message differs only in its stamp and numbers."""
        if len(data) != self.length:
            return False
        for at, text in self.fixed:  # noqa: SIM110 (once per message: all() takes twice as long)
            if data[at] != text:
                return False
        return True

    def decode(self, messages: list[bytes]) -> tuple[Integers, Array, Array, Array]:
        """Decode messages that fit: stamps (N,) in [ns], position, velocity, effort (N, n)."""
        block = np.frombuffer(b''.join(messages), np.uint8).reshape(-1, self.length)
        seconds = block[:, 4:8].copy().view('<i4')[:, 0].astype(np.int64)
        nanoseconds = block[:, 8:12].copy().view('<u4')[:, 0]
        position, velocity, effort = (self._numbers(block, start) for start in self.starts)
        return seconds * 10**9 + nanoseconds, position, velocity, effort

    def _numbers(self, block: NDArray[np.uint8], start: int) -> Array:
        width = len(self.names)
        if start < 0:
            return np.full((len(block), width), np.nan)
        numbers = block[:, start : start + 8 * width].copy().view('<f8')
        return np.asarray(numbers, dtype=np.float64)


def _aligned(at: int, size: int) -> int:
    # Offsets count from behind the 4 header bytes.
    return -(-(at - 4) // size) * size + 4


def _names(data: bytes) -> tuple[tuple[str, ...], int]:
    """Return the joint names and the offset behind them."""
    (length,) = struct.unpack_from('<I', data, STAMP_END)
    at = _aligned(STAMP_END + 4 + length, 4)
    (count,) = struct.unpack_from('<I', data, at)
    at += 4
    if count > len(data):
        raise ValueError(f'{count} names')
    names = []
    for _ in range(count):
        at = _aligned(at, 4)
        (length,) = struct.unpack_from('<I', data, at)
        text = data[at + 4 : at + 4 + length]
        if len(text) != length or text[-1] != 0:
            raise ValueError('a name is cut off')
        names.append(text[:-1].decode())
        at += 4 + length
    return tuple(names), at


def canonical(data: bytes) -> bytes:
    """Rewrite any CDR JointState (big-endian, unclean padding) in the form `Layout` reads.

    :raises ValueError: the bytes are no JointState
    """
    types = joint_state_types()
    try:
        return bytes(types.serialize_cdr(types.deserialize_cdr(data, MSGTYPE), MSGTYPE))
    except Exception as error:  # a parser may raise any exception for damaged bytes
        raise ValueError(f'not a JointState: {error}') from error


@dataclass
class Group:
    """Decoded messages that name the same joints in the same order.

    The columns are `row` (order of arrival), `stamp` and `log` in [ns], each of shape (N,), and
    `position`, `velocity`, `effort`, each of shape (N, n) and NaN where a message has no value.
    """

    names: tuple[str, ...]
    count: int = 0
    _columns: dict[str, Spool] = field(default_factory=dict)

    def add(self, **columns: NDArray[Any]) -> None:
        """Append a block."""
        self.count += len(columns['row'])
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = Spool(values.shape[1:], values.dtype)
            self._columns[name].append(values)

    def take(self, name: str) -> NDArray[Any]:
        """Remove a column from the group and return it."""
        return self._columns.pop(name).array()


class _Pending:
    """Messages of one layout that wait to be decoded together."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.messages: list[bytes] = []
        self.rows: list[int] = []
        self.logs: list[int] = []


class JointStateDecoder:
    """Decoder of the messages of one topic, for any joints in any order."""

    def __init__(self) -> None:
        """Start empty."""
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
        found = self._known(data)
        if found is not None:
            return found, data
        try:
            if self._layouts >= MAX_LAYOUTS:  # padding or frames change: rewrite first
                data = canonical(data)
                return self._known(data) or self._new(Layout.of(data)), data
            try:
                return self._new(Layout.of(data)), data
            except ValueError:
                data = canonical(data)
                return self._known(data) or self._new(Layout.of(data)), data
        except ValueError as error:
            self.damaged[str(error)] += 1
            return None, data

    def _known(self, data: bytes) -> _Pending | None:
        candidates = self._pending.get(len(data), ())
        return next((entry for entry in candidates if entry.layout.fits(data)), None)

    def _new(self, layout: Layout) -> _Pending:
        if len(set(layout.names)) != len(layout.names) or not layout.names:
            raise ValueError('no joint names, or a name twice')
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
        entry.messages.clear()
        entry.rows.clear()
        entry.logs.clear()

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
