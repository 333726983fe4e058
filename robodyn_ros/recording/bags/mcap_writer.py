# SPDX-License-Identifier: Apache-2.0
"""Crash-safe writer of MCAP files: small complete chunks, with an index at the end.

The file can always be read up to its last complete chunk. After a kill, a reader that needs no
index can do so (`mcap.py`, `ros2 bag reindex`, `mcap recover`). After an error such as a full disk
every reader can, because the file is truncated to complete chunks and closed properly.
Format: mcap.dev/spec; rosbag2 also expects the profile ros2 and a metadata record rosbag2.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.recording.bags.mcap import (
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
_HEAD = struct.Struct('<BQHIQQ')
CHUNK_SIZE = 2**18
"""Size [bytes] from which pending messages are written as a chunk."""


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
    """A recorded topic: name, type, its definition, quality of service (YAML), type hash."""

    name: str
    msgtype: str
    definition: str
    qos: str = ''
    type_hash: str = ''


@dataclass(frozen=True)
class _Chunk:
    start: int
    end: int
    counts: tuple[int, ...]
    first: int
    last: int
    index: bytes


class McapWriter:
    """One file; `count` is the number of messages, `first` and `last` are times in [ns]."""

    def __init__(
        self,
        path: Path,
        topics: Topic | Sequence[Topic],
        facts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Create the file.

        :param facts: metadata records at the start of the file: name -> entries
        :raises OSError: it exists already, or cannot be written
        """
        self.path = path
        self.topics: tuple[Topic, ...] = ()
        self._reserve = path.with_name(f'.{path.name}.reserve')
        self._chunks: list[_Chunk] = []
        self._pending = bytearray()
        self._times: tuple[list[tuple[int, int]], ...] = ()
        self._schemas = b''
        self._channels = b''
        for topic in (topics,) if isinstance(topics, Topic) else topics:
            self._declare(topic)
        self._facts: list[tuple[str, int, int]] = []
        self._file = path.open('xb', buffering=0)
        self._start(facts or {})

    def _declare(self, topic: Topic) -> bytes:
        """Take a topic, and return its records."""
        number = len(self.topics) + 1
        schema = text(topic.msgtype) + text('ros2msg') + text(topic.definition)
        described = record(SCHEMA, struct.pack('<H', number) + schema)
        channel = text(topic.name) + text('cdr') + _map({'offered_qos_profiles': topic.qos})
        opened = record(CHANNEL, struct.pack('<HH', number, number) + channel)
        self._schemas += described
        self._channels += opened
        self.topics, self._times = (*self.topics, topic), (*self._times, [])
        return described + opened

    def add_topic(self, topic: Topic) -> None:
        """Add a topic, whose index is the highest, to a file that has messages already.

        :raises OSError: as `add`
        """
        self.flush()
        self._write(self._declare(topic))

    def _start(self, facts: Mapping[str, Mapping[str, str]]) -> None:
        """Write everything before the messages; after an error no file remains."""
        try:
            # Space for the index, in case the disk becomes full.
            self._reserve.write_bytes(bytes(2**18))
            self._write(MAGIC + record(HEADER, text('ros2') + text('robodyn_ros')))
            for name, entries in facts.items():
                info = record(METADATA, text(name) + _map(entries))
                self._facts.append((name, self._file.tell(), len(info)))
                self._write(info)
            self._write(self._schemas + self._channels)
            self._first_chunk = self._file.tell()
        except BaseException:
            self._file.close()
            self._remove_reserve()
            self.path.unlink()
            raise

    @property
    def count(self) -> int:
        """Messages in complete chunks."""
        return sum(self.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """Messages of each topic in complete chunks."""
        columns = zip_longest(*(chunk.counts for chunk in self._chunks), fillvalue=0)
        known = [sum(column) for column in columns]  # a chunk has the topics of its time
        return (*known, *[0] * (len(self.topics) - len(known)))

    @property
    def first(self) -> int:
        """Earliest time, in [ns]; 0 without messages."""
        return min((chunk.first for chunk in self._chunks), default=0)

    @property
    def last(self) -> int:
        """Latest time, in [ns]; 0 without messages."""
        return max((chunk.last for chunk in self._chunks), default=0)

    def add(self, data: bytes, log_time: int, topic: int = 0) -> None:
        """Append a message.

        :param log_time: time of reception, in [ns] since the epoch
        :raises OSError: the disk is full or broken; the file must then be closed
        """
        self._times[topic].append((log_time, len(self._pending)))
        self._pending += _HEAD.pack(MESSAGE, 22 + len(data), topic + 1, 0, log_time, log_time)
        self._pending += data
        if len(self._pending) >= CHUNK_SIZE:
            self.flush()

    def flush(self) -> None:
        """Write pending messages as a complete chunk.

        :raises OSError: as `add`
        """
        if not self._pending:
            return
        data, times = bytes(self._pending), self._times
        self._pending, self._times = bytearray(), tuple([] for _ in self.topics)
        stamps = [time for own in times for time, _ in own]
        entries = [struct.pack(f'<{2 * len(own)}Q', *chain(*own)) for own in times]
        self._write_chunk(data, entries, min(stamps), max(stamps))

    def add_rows(self, stamps: NDArray[np.int64], messages: Sequence[NDArray[np.uint8]]) -> None:
        """Append a message of each of the first topics for each stamp, as one chunk.

        :param stamps: ascending, in [ns] since the epoch, shape (N,), N >= 1
        :param messages: of each topic in turn, shape (N, bytes)
        :raises OSError: as `add`
        """
        self.flush()
        count, times = len(stamps), stamps.astype('<u8')
        parts, entries, at = [], [], 0
        for channel, own in enumerate(messages, start=1):
            head = _HEAD.pack(MESSAGE, 22 + own.shape[1], channel, 0, 0, 0)
            heads = np.tile(np.frombuffer(head, np.uint8), (count, 1))
            heads[:, 15:] = np.repeat(times, 2).view(np.uint8).reshape(count, 16)
            parts += [heads, own]
            entries.append((times, at))
            at += len(head) + own.shape[1]
        data = np.concatenate(parts, axis=1).tobytes()
        rows = at * np.arange(count)
        index = [np.column_stack([each, rows + start]).astype('<u8') for each, start in entries]
        whole = [each.tobytes() for each in index] + [b''] * (len(self.topics) - len(index))
        self._write_chunk(data, whole, *stamps[[0, -1]].tolist())

    def _write_chunk(self, data: bytes, entries: Sequence[bytes], first: int, last: int) -> None:
        """Write records with the message index of each topic: times and offsets in the chunk."""
        span = struct.pack('<QQ', first, last)
        sizes = struct.pack('<QI', len(data), zlib.crc32(data)) + text('')
        start = self._file.tell()
        self._write(record(CHUNK, span + sizes + struct.pack('<Q', len(data)) + data))
        middle = self._file.tell()
        places, indexes = b'', b''
        for number, own in enumerate(entries, start=1):
            if own:
                places += struct.pack('<HQ', number, middle + len(indexes))
                indexes += record(MESSAGE_INDEX, struct.pack('<HI', number, len(own)) + own)
        self._write(indexes)
        place = struct.pack('<QQI', start, middle - start, len(places)) + places
        place += struct.pack('<Q', len(indexes))
        content = span + place + text('') + struct.pack('<QQ', len(data), len(data))
        counts = tuple(len(own) // 16 for own in entries)
        self._chunks.append(_Chunk(start, self._file.tell(), counts, first, last, content))

    def close(self, metadata: Callable[[], str]) -> None:
        """Write the index and close; drop the last chunks if there is no space for the index.

        :param metadata: makes the content of rosbag2's metadata record
        :raises OSError: no index could be written; the file ends after its last complete chunk
        """
        self._remove_reserve()
        try:
            while True:
                end = self._chunks[-1].end if self._chunks else self._first_chunk
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
        while view:  # an unbuffered file may write a part only, and fail on the remainder
            view = view[self._file.write(view) or 0 :]

    def _remove_reserve(self) -> None:
        with suppress(OSError):
            self._reserve.unlink()

    def _summary(self, at: int, metadata: str) -> bytes:
        """Return everything after the chunks, for a file whose chunks end at `at`."""
        info = record(METADATA, text('rosbag2') + _map({'serialized_metadata': metadata}))
        head = info + record(DATA_END, struct.pack('<I', 0))
        facts = [*self._facts, ('rosbag2', at, len(info))]
        places = [struct.pack('<QQ', *place) + text(name) for name, *place in facts]
        counts = b''.join(struct.pack('<HQ', *each) for each in enumerate(self.counts, start=1))
        statistics = (
            struct.pack(
                '<QHIIIIQQI',
                self.count,
                len(self.topics),
                len(self.topics),
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
            SCHEMA: self._schemas,
            CHANNEL: self._channels,
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
