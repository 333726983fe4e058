# SPDX-License-Identifier: Apache-2.0
"""Writer of MCAP files that are complete on a full disk and readable after a kill.

Messages go to the disk in complete chunks. Space for the last chunk and the index is reserved from
the start, so that a file on a disk that has become full holds all messages and can be closed.
rosbag2 expects the profile ros2 and a metadata record rosbag2.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mcap.writer import CompressionType, Writer
from numpy.typing import NDArray

CHUNK_SIZE = 2**16
"""Size [bytes] from which pending messages are written as a chunk."""
RESERVE = 2 * CHUNK_SIZE
"""Space [bytes] for a chunk with the index of its messages, definitions and metadata."""
INDEX_SIZE = 256
"""Space [bytes] for the index of a chunk, of up to ten topics."""


@dataclass(frozen=True)
class Topic:
    """A recorded topic: name, type, its definition, quality of service (YAML), type hash."""

    name: str
    msgtype: str
    definition: str
    qos: str = ''
    type_hash: str = ''


class _Disk:
    """File with reserved space, which is used once the disk is full.

    :ivar error: error of the write that used the reserve
    """

    def __init__(self, path: Path) -> None:
        """Create the file.

        :raises OSError: it exists already, or there is no space for the reserve
        """
        self.error: OSError | None = None
        self._file = path.open('xb', buffering=0)
        try:
            # without a name: it vanishes with the process
            self._reserve = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 (kept open)
            self._reserved = 0
            self.reserve(RESERVE)
        except OSError:
            self._file.close()
            path.unlink()
            raise

    def reserve(self, size: int) -> None:
        """Extend the reserve to a size, in steps; an OSError if there is no space."""
        if size > self._reserved:
            step = max(RESERVE, size - self._reserved)
            os.posix_fallocate(self._reserve.fileno(), self._reserved, step)
            self._reserved += step

    def release(self) -> None:
        """Give up the reserve."""
        self._reserve.close()

    def write(self, data: bytes) -> None:
        """Write all of the data; an OSError if the reserve is too small, too."""
        view = memoryview(data)
        while view:  # an unbuffered file may write a part only, and fail on the remainder
            try:
                view = view[self._file.write(view) or 0 :]
            except OSError as error:
                if self._reserve.closed:
                    raise
                self.error = error
                self.release()

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def truncate(self, size: int) -> None:
        """Cut the file to a size."""
        self._file.seek(size)
        self._file.truncate()

    def close(self, *, sync: bool) -> None:
        """Close the file; an OSError if it cannot be synchronised with the disk."""
        try:
            if sync:
                os.fsync(self._file.fileno())
        finally:
            self._file.close()
            self.release()


class McapWriter:
    """One file.

    :ivar counts: messages of each topic in complete chunks
    :ivar first: earliest time, in [ns]; 0 without messages
    :ivar last: latest time, in [ns]; 0 without messages
    """

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
        self.counts: tuple[int, ...] = ()
        self.first = self.last = 0
        self._pending: list[int] = []
        self._size = self._chunks = 0
        self._broken: OSError | None = None
        self._disk = _Disk(path)
        self._writer = Writer(
            self._disk,  # type: ignore[arg-type]  # what it calls of a stream
            chunk_size=2**62,  # `flush` decides
            compression=CompressionType.NONE,
        )
        try:
            self._writer.start('ros2', 'robodyn_ros')
            for name, entries in (facts or {}).items():
                self._writer.add_metadata(name, dict(entries))
            self._check()
        except OSError:
            self._disk.close(sync=False)
            path.unlink()
            raise
        self._end = self._disk.tell()
        for topic in (topics,) if isinstance(topics, Topic) else topics:
            self.add_topic(topic)

    def add_topic(self, topic: Topic) -> None:
        """Add a topic, whose index is the highest."""
        self.topics, self.counts = (*self.topics, topic), (*self.counts, 0)
        self._pending.append(0)
        schema = self._writer.register_schema(topic.msgtype, 'ros2msg', topic.definition.encode())
        qos = {'offered_qos_profiles': topic.qos}
        self._writer.register_channel(topic.name, 'cdr', schema, qos)

    @property
    def count(self) -> int:
        """Messages in complete chunks."""
        return sum(self.counts)

    def add(self, data: bytes, log_time: int, topic: int = 0) -> None:
        """Append a message.

        :param log_time: time of reception, in [ns] since the epoch
        :raises OSError: the disk is full or broken; the file must then be closed
        """
        if not self.count and not any(self._pending):
            self.first = self.last = log_time
        self.first, self.last = min(self.first, log_time), max(self.last, log_time)
        self._writer.add_message(topic + 1, log_time, data, log_time)
        self._pending[topic] += 1
        self._size += len(data) + 31
        if self._size >= CHUNK_SIZE:
            self.flush()

    def add_rows(self, stamps: NDArray[np.int64], messages: Sequence[NDArray[np.uint8]]) -> None:
        """Append a message of each of the first topics for each stamp.

        :param stamps: in [ns] since the epoch, shape (N,)
        :param messages: of each topic in turn, shape (N, bytes)
        :raises OSError: as `add`
        """
        for stamp, *row in zip(stamps.tolist(), *messages, strict=True):
            for topic, data in enumerate(row):
                self.add(data.tobytes(), stamp, topic)

    def flush(self) -> None:
        """Write pending messages as a complete chunk.

        :raises OSError: as `add`; the messages are in the file if the disk has just become full
        """
        if self._broken or not any(self._pending):
            return
        try:
            self._writer.flush()
        except OSError as error:
            self._broken = error
            self._disk.truncate(self._end)
            raise
        self._chunks += 1
        self._end = self._disk.tell()
        self.counts = tuple(map(sum, zip(self.counts, self._pending, strict=True)))
        self._pending, self._size = [0] * len(self.topics), 0
        self._check()
        self._disk.reserve(RESERVE + INDEX_SIZE * self._chunks)

    def _check(self) -> None:
        if self._disk.error is not None:
            raise self._disk.error

    def close(self, metadata: Callable[[], str]) -> None:
        """Write the index and close.

        :param metadata: makes the content of rosbag2's metadata record
        :raises OSError: no index could be written; the file ends after its last complete chunk
        """
        try:
            with suppress(OSError):  # of a disk that has become full
                self.flush()
            if self._broken:
                raise self._broken
            self._disk.release()
            self._writer.add_metadata('rosbag2', {'serialized_metadata': metadata()})
            self._writer.finish()
            self._disk.close(sync=True)
        except OSError:
            with suppress(OSError, ValueError):  # the latter: it is closed
                self._disk.truncate(self._end)
            with suppress(OSError):
                self._disk.close(sync=False)
            raise
