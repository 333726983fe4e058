# SPDX-License-Identifier: Apache-2.0
"""Sequential reader of MCAP files, with or without an index.

A killed recorder leaves a file without footer and index. A recording is read from start to end in
any case. The package mcap parses the records; the loop over them is here, because that of the
package takes four times as long as all of the remaining reading.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, TypeVar

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Message, Metadata, Schema
from mcap.stream_reader import StreamReader

from robodyn_ros.bounds import RECORD, BoundError, check_expansion, check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.compression import decompress
from robodyn_ros.recording.bags.ros1 import Convert, cdr_of_ros1, joint_state_of_json
from robodyn_ros.recording.bags.scan import Scan
from robodyn_ros.recording.topics.messages import KINDS

MAGIC = b'\x89MCAP0\r\n'
NEEDED = {*map(int, (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE, Opcode.CHUNK))}
"""Records whose content is read for messages."""
DAMAGED = (McapError, struct.error, UnicodeDecodeError)
"""Errors of the package mcap about the content of a record."""

_HEAD = struct.Struct('<BQ').unpack
_MESSAGE = struct.Struct('<HIQQ').unpack_from
_Record = TypeVar('_Record')


class McapScan(Scan):
    """Reader of the messages of one topic in one file."""

    def __init__(self, path: Path, topic: str, kinds: Collection[str] = ()) -> None:
        super().__init__(path, topic, kinds)
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Convert | None] = {}
        self._expanded = 0

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag [ns] and bytes; a BoundError if the file expands too much."""
        check_regular(self.path)
        end = self.path.stat().st_size
        with self.path.open('rb') as file:
            if file.read(8) != MAGIC:
                self.damage.append('it does not start like an MCAP file')
                return
            for code, content in self._records(file):
                progress(self.reading, min(1.0, file.tell() / end))
                if code == Opcode.CHUNK:
                    inside = self._records(BytesIO(self._unpack(content)))
                    yield from self._messages(inside)
                else:
                    yield from self._messages(iter([(code, content)]))

    def _records(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield code and content of the needed records of a file or chunk."""
        inside = isinstance(stream, BytesIO)
        while len(head := stream.read(9)) == 9:
            code, size = _HEAD(head)
            if code == Opcode.FOOTER:
                return
            if code in NEEDED and size <= RECORD.most:
                content = stream.read(size)
                if len(content) == size or code == Opcode.CHUNK:
                    yield code, content
                if len(content) < size:
                    break
            elif code == 0:  # no record has it: these are not records
                self.damage.append('it has records of an unknown type')
                return
            elif code in NEEDED:
                self.damage.append(f'a record of {size} bytes was left out')
                return
            else:
                stream.seek(size, 1)
        else:
            if inside and not head:
                return
        self.damage.append('a chunk is cut off' if inside else 'it is cut off, without an index')

    def _messages(self, records: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield the messages of the topic, and store its schema and channel."""
        channels = self._channels
        for code, content in records:
            if code != Opcode.MESSAGE:
                self._define(code, content)
            elif len(content) >= 22:
                channel, _, log_time, _ = _MESSAGE(content)
                if channel in channels:
                    self.count += 1
                    data, convert = content[22:], channels[channel]
                    yield min(log_time, 2**63 - 1), convert(data) if convert else data

    def _define(self, code: int, content: bytes) -> None:
        try:
            if code == Opcode.SCHEMA:
                schema = parse_record(Schema.read, content)
                self._schemas[schema.id] = schema
                self.definitions[_kind(schema)] = schema.encoding, schema.data.decode()
            elif code == Opcode.CHANNEL:
                self._define_channel(parse_record(Channel.read, content))
        except DAMAGED as error:
            self.damage.append(f'a record is damaged ({error})')

    def _define_channel(self, channel: Channel) -> None:
        schema = self._schemas.get(channel.schema_id)
        convert: Convert | None = None
        kind, text = ('', '') if schema is None else (_kind(schema), schema.data.decode())
        if channel.message_encoding == 'json' and ('position' in text or kind == KINDS[0]):
            kind, convert = KINDS[0], joint_state_of_json
        if self.add_topic(channel.topic, kind):
            if channel.message_encoding == 'ros1':
                convert = cdr_of_ros1(kind, text)
            self._channels[channel.id] = convert

    def _unpack(self, content: bytes) -> bytes:
        """Return the records of a chunk; of a damaged or truncated one, those before the end."""
        try:
            chunk = parse_record(Chunk.read, content)
            size = chunk.uncompressed_size
            if size > RECORD.most:
                raise ValueError(f'a chunk of {size} bytes')
            self._expanded += size
            check_expansion(self._expanded, self.path.stat().st_size)
            records = decompress(chunk.data, chunk.compression, size)
            if len(records) != size:
                self.damage.append(f'a chunk has {len(records)} bytes, expected {size}')
            elif chunk.uncompressed_crc not in (0, zlib.crc32(records)):
                raise ValueError('its checksum is wrong')
            return records
        except BoundError:
            raise
        except Exception as error:  # decompressors may raise any exception for damaged bytes
            self.damage.append(f'a chunk is damaged ({error})')
            return b''


def _kind(schema: Schema) -> str:
    """Return the name of a type as ROS 2 has it: ROS 1 has no `msg` in it."""
    package, _, name = schema.name.rpartition('/')
    return f'{package}/msg/{name}' if package and '/' not in package else schema.name


def parse_record(read: Callable[[ReadDataStream], _Record], content: bytes) -> _Record:
    """Return the record of a content; one of `DAMAGED` if it is damaged."""
    return read(ReadDataStream(BytesIO(content)))


def metadata_records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and entries of the metadata records before the first message.

    :raises OSError: the file cannot be read
    :raises McapError, struct.error, UnicodeDecodeError: it is damaged
    """
    check_regular(path)
    with path.open('rb') as file:
        reader = StreamReader(file, emit_chunks=True, record_size_limit=RECORD.most)
        for record in reader.records:
            if isinstance(record, Message | Chunk | DataEnd):
                return
            if isinstance(record, Metadata):
                yield record.name, record.metadata
