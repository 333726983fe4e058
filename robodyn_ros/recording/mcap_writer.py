"""Write one topic to an MCAP file in small complete chunks, with an index at the end.

Whatever happens, the file can be read up to its last complete chunk: after a kill by a reader that
needs no index (`mcap.py`, `ros2 bag reindex`, `mcap recover`), after an error such as a full disk
by every reader, because the file is cut back to complete chunks and closed properly.
Format: mcap.dev/spec; what rosbag2 expects of it: profile ros2, metadata record rosbag2.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.recording.mcap import (
    CHANNEL,
    CHUNK,
    DATA_END,
    MAGIC,
    MESSAGE,
    METADATA,
    SCHEMA,
)

HEADER, FOOTER, MESSAGE_INDEX, CHUNK_INDEX, STATISTICS = 1, 2, 7, 8, 11
METADATA_INDEX, SUMMARY_OFFSET = 13, 14
CHUNK_SIZE = 2**18
RESERVE = 2**18
"""Bytes kept free on the disk for the index, should the disk get full."""


def record(code: int, content: bytes) -> bytes:
    """Frame a record."""
    return struct.pack('<BQ', code, len(content)) + content


def text(value: str) -> bytes:
    """Encode a string with its length."""
    data = value.encode()
    return struct.pack('<I', len(data)) + data


def _map(entries: Mapping[str, str]) -> bytes:
    data = b''.join(text(key) + text(value) for key, value in entries.items())
    return struct.pack('<I', len(data)) + data


@dataclass(frozen=True)
class Topic:
    """What is recorded: name, type, definition of the type, quality of service (YAML)."""

    name: str
    msgtype: str
    definition: str
    qos: str = ''


@dataclass(frozen=True)
class _Chunk:
    start: int
    end: int
    count: int
    first: int
    last: int
    index: bytes


class McapWriter:
    """One file, one topic; `count`, `first` and `last` tell messages and times in it, in [ns]."""

    def __init__(
        self, path: Path, topic: Topic, facts: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        """Create the file.

        :param facts: metadata records to begin with: name -> entries
        :raises OSError: it exists already, or cannot be written
        """
        self.path = path
        self.topic = topic
        self._reserve = path.with_name(f'.{path.name}.reserve')
        self._chunks: list[_Chunk] = []
        self._pending = bytearray()
        self._times: list[tuple[int, int]] = []
        schema = text(topic.msgtype) + text('ros2msg') + text(topic.definition)
        self._schema = record(SCHEMA, struct.pack('<H', 1) + schema)
        channel = text(topic.name) + text('cdr') + _map({'offered_qos_profiles': topic.qos})
        self._channel = record(CHANNEL, struct.pack('<HH', 1, 1) + channel)
        self._facts: list[tuple[str, int, int]] = []
        self._file = path.open('xb', buffering=0)
        try:
            self._reserve.write_bytes(bytes(RESERVE))
            self._write(MAGIC + record(HEADER, text('ros2') + text('robodyn_ros')))
            for name, entries in (facts or {}).items():
                info = record(METADATA, text(name) + _map(entries))
                self._facts.append((name, self._file.tell(), len(info)))
                self._write(info)
            self._write(self._schema + self._channel)
            self._begin = self._file.tell()
        except BaseException:
            self._file.close()
            self._remove_reserve()
            path.unlink()
            raise

    @property
    def count(self) -> int:
        """Messages in complete chunks."""
        return sum(chunk.count for chunk in self._chunks)

    @property
    def first(self) -> int:
        """Earliest time, in [ns]; 0 without messages."""
        return min((chunk.first for chunk in self._chunks), default=0)

    @property
    def last(self) -> int:
        """Latest time, in [ns]; 0 without messages."""
        return max((chunk.last for chunk in self._chunks), default=0)

    def add(self, data: bytes, log_time: int) -> None:
        """Append a message.

        :param log_time: when it came, in [ns] since the epoch
        :raises OSError: the disk is full or broken; the file must be closed then
        """
        self._times.append((log_time, len(self._pending)))
        head = struct.pack('<BQHIQQ', MESSAGE, 22 + len(data), 1, 0, log_time, log_time)
        self._pending += head
        self._pending += data
        if len(self._pending) >= CHUNK_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a complete chunk.

        :raises OSError: as `add`
        """
        if not self._times:
            return
        data, times = bytes(self._pending), self._times
        self._pending, self._times = bytearray(), []
        first, last = min(times)[0], max(times)[0]
        span = struct.pack('<QQ', first, last)
        sizes = struct.pack('<QI', len(data), zlib.crc32(data)) + text('')
        start = self._file.tell()
        self._write(record(CHUNK, span + sizes + struct.pack('<Q', len(data)) + data))
        middle = self._file.tell()
        entries = b''.join(struct.pack('<QQ', *entry) for entry in times)
        index = record(MESSAGE_INDEX, struct.pack('<HI', 1, len(entries)) + entries)
        self._write(index)
        place = struct.pack('<QQIHQQ', start, middle - start, 10, 1, middle, len(index))
        content = span + place + text('') + struct.pack('<QQ', len(data), len(data))
        self._chunks.append(_Chunk(start, self._file.tell(), len(times), first, last, content))

    def close(self, metadata: Callable[[], str]) -> None:
        """Write the index and close; chunks that leave no room for it are given up.

        :param metadata: makes the content of rosbag2's metadata record
        :raises OSError: no index could be written; the file ends behind its last whole chunk
        """
        self._remove_reserve()
        try:
            while True:
                end = self._chunks[-1].end if self._chunks else self._begin
                try:
                    self._cut(end)
                    self._write(self._summary(end, metadata()))
                    os.fsync(self._file.fileno())
                    return
                except OSError:
                    with suppress(OSError):
                        self._cut(end)
                    if not self._chunks:
                        raise
                    self._chunks.pop()
        finally:
            self._file.close()

    def _cut(self, end: int) -> None:
        self._file.seek(end)
        self._file.truncate()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:  # an unbuffered file may take a part only, and fail on the rest
            view = view[self._file.write(view) or 0 :]

    def _remove_reserve(self) -> None:
        with suppress(OSError):
            self._reserve.unlink()

    def _summary(self, at: int, metadata: str) -> bytes:
        """Return everything behind the chunks, for a file whose chunks end at `at`."""
        info = record(METADATA, text('rosbag2') + _map({'serialized_metadata': metadata}))
        head = info + record(DATA_END, struct.pack('<I', 0))
        facts = [*self._facts, ('rosbag2', at, len(info))]
        places = [struct.pack('<QQ', *place) + text(name) for name, *place in facts]
        counts = struct.pack('<HQ', 1, self.count)
        statistics = (
            struct.pack(
                '<QHIIIIQQI',
                self.count,
                1,
                1,
                0,
                len(places),
                len(self._chunks),
                self.first,
                self.last,
                len(counts),
            )
            + counts
        )
        groups = {
            SCHEMA: self._schema,
            CHANNEL: self._channel,
            CHUNK_INDEX: b''.join(record(CHUNK_INDEX, chunk.index) for chunk in self._chunks),
            METADATA_INDEX: b''.join(record(METADATA_INDEX, place) for place in places),
            STATISTICS: record(STATISTICS, statistics),
        }
        start = position = at + len(head)
        offsets = b''
        for code, content in groups.items():
            if content:
                entry = struct.pack('<BQQ', code, position, len(content))
                offsets += record(SUMMARY_OFFSET, entry)
            position += len(content)
        footer = record(FOOTER, struct.pack('<QQI', start, position, 0))
        return head + b''.join(groups.values()) + offsets + footer + MAGIC
