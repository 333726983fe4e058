# SPDX-License-Identifier: Apache-2.0
"""Sequential reader of MCAP files, with or without an index.

A killed recorder leaves a file without footer and index. A sequential reader does not need them,
and a recording is read from start to end in any case. Format: mcap.dev/spec.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import BinaryIO

from robodyn_ros.bounds import RECORD, BoundError, check_expansion, check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.compression import decompressed
from robodyn_ros.recording.bags.scan import Scan

MAGIC = b'\x89MCAP0\r\n'
SCHEMA, CHANNEL, MESSAGE, CHUNK, STATISTICS, METADATA, DATA_END = 3, 4, 5, 6, 11, 12, 15
NEEDED = (SCHEMA, CHANNEL, MESSAGE, CHUNK, METADATA)
"""Records whose content is read."""

LONGEST_STATISTICS = 2**20
"""Bytes of a statistics record that are read: those of 2^16 channels, the most there can be."""

_RECORD = struct.Struct('<BQ').unpack_from
_MESSAGE = struct.Struct('<HIQQ').unpack_from


class McapScan(Scan):
    """Reader of the messages of one topic in one file."""

    def __init__(self, path: Path, topic: str, msgtype: str = '') -> None:
        """Store the arguments; see `Scan`."""
        super().__init__(path, topic, msgtype)
        self._schemas: dict[int, str] = {}
        self._channels: set[int] = set()
        self._cut = self._verified = False
        self._expanded = self._size = 0

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag [ns] and bytes; a BoundError if the file expands too much."""
        for code, content in self.records():
            if code == CHUNK:
                yield from self._chunk(content)
            elif code != METADATA:
                yield from self._messages(struct.pack('<BQ', code, len(content)) + content)

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield code and content of the needed records up to the end of the data."""
        check_regular(self.path)
        with self.path.open('rb') as file:
            if file.read(8) != MAGIC:
                self.damage.append('it does not start like an MCAP file')
                return
            end = self._size = self.path.stat().st_size
            while head := file.read(9):
                progress(self.reading, file.tell() / end)
                size = _RECORD(head)[1] if len(head) == 9 else end
                self._cut = size > end - file.tell()
                if self._cut:
                    self.damage.append(f'it is cut off at byte {end}')
                    if head[0] == CHUNK:  # the available part can still be read
                        yield CHUNK, file.read(RECORD.most)
                    break
                if head[0] == DATA_END:
                    checksum = file.read(min(size, 4))
                    file.seek(size - len(checksum), 1)
                    self._check_summary(file, end, checksum)
                    return
                if head[0] in NEEDED and size <= RECORD.most:
                    yield head[0], file.read(size)
                    continue
                file.seek(size, 1)
                if head[0] in NEEDED:
                    self.damage.append(f'a record of {size} bytes was left out')
                self._note_unknown(head[0])
                if head[0] == 0:  # no record has it: these are not records
                    return
        self.damage.append('it has no index')

    def _note_unknown(self, code: int, known: Container[int] = range(1, 16)) -> None:
        """Note a record that MCAP does not have, once; codes from 128 on are free to use."""
        text = 'it has records of an unknown type'
        if code not in known and code < 128 and text not in self.damage:
            self.damage.append(text)

    def _check_summary(self, file: BinaryIO, end: int, checksum: bytes) -> None:
        """Compare the checksum, and the number of messages with that in the summary."""
        start = file.tell()
        file.seek(-8, 2)
        if file.read() != MAGIC:
            self.damage.append('its index is cut off')
            return
        if any(checksum) and not self._verified:  # chunks have checksums too
            self._check_data(file, start - 9 - len(checksum), int.from_bytes(checksum, 'little'))
        file.seek(start)
        while file.tell() + 9 <= end - 8:
            code, size = _RECORD(file.read(9))
            if code != STATISTICS:
                file.seek(min(size, end), 1)
                continue
            counts = file.read(min(size, LONGEST_STATISTICS))[46:]
            self._compare(dict(struct.iter_unpack('<HQ', counts[: len(counts) // 10 * 10])))
            return

    def _check_data(self, file: BinaryIO, size: int, expected: int) -> None:
        file.seek(0)
        found = 0
        while size > 0 and (block := file.read(min(size, 2**20))):
            found, size = zlib.crc32(block, found), size - len(block)
        if found != expected:
            self.damage.append('its checksum is wrong')

    def _compare(self, counts: dict[int, int]) -> None:
        """Compare messages by channel with those read; a summary may leave them out."""
        expected = sum(counts.get(channel, 0) for channel in self._channels)
        if counts and not self.damage and expected != self.count:
            self.damage.append(
                f'it holds {self.count} messages of the topic, and {expected} by its summary'
            )

    def _chunk(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        try:
            records = _start_of(content) if self._cut else self._unpacked(content)
        except BoundError:
            raise
        except Exception as error:  # decompressors may raise any exception for damaged bytes
            self.damage.append(f'a chunk is damaged ({error})')
            return
        yield from self._messages(records)

    def _messages(self, records: bytes) -> Iterator[tuple[int, bytes]]:
        at, end = 0, len(records)
        while at + 9 <= end:
            code, size = _RECORD(records, at)
            start, at = at + 9, at + 9 + size
            if at > end:
                if not self._cut:
                    self.damage.append('a record in a chunk is cut off')
                return
            if code != MESSAGE:
                self._note_unknown(code, NEEDED)
                if code == 0:  # no record has it: these are not records
                    return
                self._define(code, records[start:at])
            elif size >= 22:
                channel, _, log_time, _ = _MESSAGE(records, start)
                if channel in self._channels:
                    self.count += 1
                    yield min(log_time, 2**63 - 1), records[start + 22 : at]

    def _define(self, code: int, content: bytes) -> None:
        """Store a schema or channel; ignore other records."""
        try:
            if code == SCHEMA:
                (number,) = struct.unpack_from('<H', content)
                name, at = _text(content, 2)
                form, at = _text(content, at)
                self._schemas[number] = name
                self.definitions[name] = form, _text(content, at)[0]
            elif code == CHANNEL:
                number, schema = struct.unpack_from('<HH', content)
                topic, msgtype = _text(content, 4)[0], self._schemas.get(schema, '')
                if self.found(topic, msgtype):
                    self._channels.add(number)
        except (struct.error, UnicodeDecodeError) as error:
            self.damage.append(f'a record is damaged ({error})')

    def _unpacked(self, content: bytes) -> bytes:
        """Decompress and verify the records of a chunk."""
        _, _, size, checksum = struct.unpack_from('<QQQI', content)
        compression, at = _text(content, 28)
        (length,) = struct.unpack_from('<Q', content, at)
        if size > RECORD.most:
            raise ValueError(f'a chunk of {size} bytes')
        self._expanded += size
        check_expansion(self._expanded, self._size)
        records = decompressed(content[at + 8 : at + 8 + length], compression, size)
        if len(records) != size:
            raise ValueError(f'expected {size} bytes, got {len(records)}')
        if checksum and zlib.crc32(records) != checksum:
            raise ValueError('its checksum is wrong')
        self._verified |= checksum != 0
        return records


def _text(content: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from('<I', content, at)
    return content[at + 4 : at + 4 + size].decode(), at + 4 + size


def metadata_of(content: bytes) -> tuple[str, dict[str, str]]:
    """Return name and entries of a metadata record.

    :raises struct.error, UnicodeDecodeError: the record is damaged
    """
    name, at = _text(content, 0)
    end = at + 4 + struct.unpack_from('<I', content, at)[0]
    entries: dict[str, str] = {}
    at += 4
    while at < end:
        key, at = _text(content, at)
        entries[key], at = _text(content, at)
    return name, entries


def _start_of(content: bytes) -> bytes:
    """Return the records of a truncated chunk; a compressed one cannot be read."""
    compression, at = _text(content, 28)
    if compression:
        raise ValueError('compressed and cut off')
    return content[at + 8 :]
