# SPDX-License-Identifier: Apache-2.0
"""Writer of received JointState messages to an MCAP rosbag2."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_metadata import RECORD_NAME, finish_bag
from robodyn_ros.recording.bags.mcap_writer import McapWriter, Topic
from robodyn_ros.recording.stamps import MissingMessages
from robodyn_ros.recording.topics.messages import JOINT_STATE as MSGTYPE
from robodyn_ros.wire.cursor import NANOSECONDS, WireError
from robodyn_ros.wire.joint_state import JointStateLayout, stamp_of

RULE = '=' * 80
HEADER = f"""{RULE}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{RULE}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
DEFINITION = f"""std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
{HEADER}"""
TYPE_HASH = 'RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e'


def joint_state_topic(name: str) -> Topic:
    """Return a topic of JointState messages."""
    return Topic(name, MSGTYPE, DEFINITION, '[]', TYPE_HASH)


FLUSH_PERIOD = NANOSECONDS
"""Longest time that messages stay in memory, in [ns]; `kill -9` loses no more than this."""


@dataclass(frozen=True)
class BagStatistics:
    """Statistics of the messages in a bag.

    :param missing: estimated from the stamps (see `stamps.py`)
    :param late: with a stamp that is not newer than that of the previous message
    :param largest_gap: between consecutive stamps of one publisher, in [s]
    :param duration: from the first stamp to the last, in [s]
    :param commands: messages with commanded positions, written or pending
    """

    messages: int
    missing: int
    late: int
    largest_gap: float
    duration: float
    commands: int = 0


class JointStateBag:
    """A rosbag2 folder that grows message by message and can be read at any time.

    Messages are written in complete chunks once a second, directly into the final folder (as
    rosbag2 does): a killed process loses the last second. After an error (disk full) the bag is
    closed with everything that was written before, and further messages are ignored.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        topic: str = '/joint_states',
        commands: str = '/recorder/reference',
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Create the folder.

        :param commands: topic of the commanded positions, see `add_command`
        :raises RecordingError: the folder exists already or cannot be written
        """
        self.path = Path(path)
        self.closed = False
        self._sources: list[tuple[JointStateLayout, MissingMessages]] = []
        self._messages = self._commands = 0
        self._command_topic = commands
        self._span = (2**63, -(2**63))
        self._flushed: int | None = None
        self._custom = dict(metadata or {})
        try:
            self.path.mkdir(parents=True)
        except FileExistsError as error:
            raise RecordingError(f'{self.path}: it exists already') from error
        except OSError as error:
            raise RecordingError(f'{self.path}: it cannot be created: {error}') from error
        file = self.path / f'{self.path.name}_0.mcap'
        try:
            facts = {RECORD_NAME: self._custom} if self._custom else {}
            self._writer = McapWriter(file, joint_state_topic(topic), facts)
        except OSError as error:
            with suppress(OSError):
                self.path.rmdir()
            raise RecordingError(f'{self.path}: it cannot be written: {error}') from error

    def add(self, data: bytes, log_time: int) -> None:
        """Write a message.

        :param data: the serialised JointState (CDR, little-endian)
        :param log_time: time of reception, in [ns] since the epoch
        :raises RecordingError: it cannot be written (disk full); the bag is then closed and holds
            all earlier messages
        """
        if self.closed:
            return
        self._count(data, log_time)
        self._write(data, log_time, 0)

    def add_command(self, data: bytes, log_time: int) -> None:
        """Write commanded positions, a serialised JointState, on a topic of their own.

        :raises RecordingError: as `add`
        """
        if not self.closed:
            self._commands += 1
            self._write(data, log_time, 1)

    def _write(self, data: bytes, log_time: int, topic: int) -> None:
        try:
            if topic == len(self._writer.topics):
                self._writer.add_topic(joint_state_topic(self._command_topic))
            self._writer.add(data, log_time, topic)
        except OSError as error:
            self._give_up(error)
        if self._flushed is None:
            self._flushed = log_time
        if not 0 <= log_time - self._flushed < FLUSH_PERIOD:
            self._flushed = log_time
            self.flush()

    def _count(self, data: bytes, log_time: int) -> None:
        self._messages += 1
        stamp = stamp_of(data) or log_time
        self._span = (min(self._span[0], stamp), max(self._span[1], stamp))
        source = self._source(data)
        if source is not None:
            source.add(stamp)

    def _source(self, data: bytes) -> MissingMessages | None:
        """Distinguish the publishers on a topic (robot, gripper) by the names of their joints."""
        for layout, source in self._sources:
            if layout.fits(data):
                return source
        if len(self._sources) < 64:  # names that change all the time are not publishers
            with suppress(WireError):  # an unreadable message is recorded too
                self._sources.append((JointStateLayout(data), MissingMessages()))
                return self._sources[-1][1]
        return None

    @property
    def statistics(self) -> BagStatistics:
        """Numbers of messages, and of missing ones according to the stamps."""
        sources = [source for _, source in self._sources]
        first, last = self._span
        written = (*self._writer.counts, 0) if self.closed else (self._messages, self._commands)
        return BagStatistics(
            messages=written[0],
            commands=written[1],
            missing=sum(source.missing for source in sources),
            late=sum(source.late for source in sources),
            largest_gap=max((source.largest for source in sources), default=0) / 1e9,
            duration=(last - first) / 1e9 if self._messages else 0.0,
        )

    def flush(self) -> None:
        """Write pending messages to the disk, for use when no further message arrives.

        :raises RecordingError: as `add`
        """
        if self.closed:
            return
        try:
            self._writer.flush()
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Finish the bag; further calls have no effect.

        :raises RecordingError: the last messages or the index could not be written
        """
        self.flush()
        if not self.closed:
            self._finish()

    def _give_up(self, error: OSError) -> NoReturn:
        with suppress(RecordingError):  # the first error is the one to report
            self._finish()
        raise RecordingError(
            f'{self.path}: recording ended, {error.strerror or error}; '
            f'{self._writer.count} messages are in the bag'
        ) from error

    def _finish(self) -> None:
        self.closed = True
        try:
            finish_bag(self._writer, self.path, self._custom)
        except OSError as error:
            raise RecordingError(
                f'{self.path}: the index cannot be written, {error.strerror or error}; '
                f'{self._writer.count} messages can be read without it'
            ) from error

    def __enter__(self) -> JointStateBag:
        return self

    def __exit__(self, *_: object) -> None:
        """Close, also after an error."""
        self.close()
