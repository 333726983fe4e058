"""MCAP files that no index leads through: read record by record, as far as they are whole.

A recorder that was killed leaves a file without footer and index. Format: mcap.dev/spec.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

MAGIC = b'\x89MCAP0\r\n'
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15
MAX_CHUNK = 2**30


class Channel(NamedTuple):
    """Where a message belongs."""

    topic: str
    msgtype: str


class McapScan:
    """Reads the messages of a damaged MCAP file; `damage` says what was wrong with it."""

    def __init__(self, path: Path) -> None:
        """Remember the file; nothing is read yet."""
        self.path = path
        self.channels: dict[int, Channel] = {}
        self.damage: list[str] = []
        self._schemas: dict[int, str] = {}
        self._cut = False

    def messages(self) -> Iterator[tuple[Channel, int, bytes]]:
        """Yield channel, time in the bag in [ns], and bytes, in the order of the file."""
        with self.path.open('rb') as file:
            if file.read(8) != MAGIC:
                self.damage.append('it does not begin like an MCAP file')
                return
            for code, content in self._records(file):
                if code == DATA_END:
                    return
                if code == CHUNK:
                    yield from self._chunk(content, whole=not self._cut)
                else:
                    yield from self._record(code, content)
        self.damage.append('it ends without an index')

    def _records(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        end = self.path.stat().st_size
        while head := file.read(9):
            size = struct.unpack('<Q', head[1:])[0] if len(head) == 9 else end
            if size > end - file.tell():
                self.damage.append(f'it is cut off at byte {end}')
                self._cut = True
                if head[0] == CHUNK:  # what is there of it can still be read
                    yield CHUNK, file.read()
                return
            yield head[0], file.read(size)

    def _chunk(self, content: bytes, *, whole: bool) -> Iterator[tuple[Channel, int, bytes]]:
        try:
            records = _unpacked(content) if whole else _begin_of(content)
        except Exception as error:  # decompressors fed with damaged bytes may raise anything
            self.damage.append(f'a chunk is damaged ({error})')
            return
        at = 0
        while at + 9 <= len(records):
            code, size = struct.unpack_from('<BQ', records, at)
            at += 9
            if size > len(records) - at:
                self.damage.append('a record in a chunk is cut off')
                return
            yield from self._record(code, records[at : at + size])
            at += size

    def _record(self, code: int, content: bytes) -> Iterator[tuple[Channel, int, bytes]]:
        try:
            if code == MESSAGE:
                channel, _, log_time, _ = struct.unpack_from('<HIQQ', content)
                if channel in self.channels:
                    yield self.channels[channel], min(log_time, 2**63 - 1), content[22:]
            elif code == SCHEMA:
                (number,) = struct.unpack_from('<H', content)
                self._schemas[number] = _text(content, 2)[0]
            elif code == CHANNEL:
                number, schema = struct.unpack_from('<HH', content)
                topic = _text(content, 4)[0]
                self.channels[number] = Channel(topic, self._schemas.get(schema, ''))
        except (struct.error, UnicodeDecodeError) as error:
            self.damage.append(f'a record is damaged ({error})')


def _text(content: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from('<I', content, at)
    return content[at + 4 : at + 4 + size].decode(), at + 4 + size


def _unpacked(content: bytes) -> bytes:
    """Decompress and verify the records of a chunk.

    :raises ValueError: size or checksum are wrong, or the compression is not known
    """
    _, _, size, checksum = struct.unpack_from('<QQQI', content)
    compression, at = _text(content, 28)
    (length,) = struct.unpack_from('<Q', content, at)
    packed = content[at + 8 : at + 8 + length]
    if size > MAX_CHUNK:
        raise ValueError(f'a chunk of {size} bytes')
    records = _decompressed(packed, compression)
    if len(records) != size:
        raise ValueError(f'expected {size} bytes, got {len(records)}')
    if checksum and zlib.crc32(records) != checksum:
        raise ValueError('its checksum is wrong')
    return records


def _begin_of(content: bytes) -> bytes:
    """Return the records of a chunk that is cut off; a compressed one cannot be read."""
    compression, at = _text(content, 28)
    if compression:
        raise ValueError('compressed and cut off')
    return content[at + 8 :]


def _decompressed(packed: bytes, compression: str) -> bytes:
    # These two come with rosbags.
    if compression == 'lz4':
        from lz4.frame import decompress as lz4_decompress

        return bytes(lz4_decompress(packed))
    if compression == 'zstd':
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        return bytes(zstd.decompress(packed))
    if compression:
        raise ValueError(f'compression {compression!r} is not known')
    return packed
