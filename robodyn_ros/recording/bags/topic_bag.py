# SPDX-License-Identifier: Apache-2.0
"""Reader of rosbag2 topics other than joint states: commands and torques, message by message.

rosbags decodes them with the definitions in the bag, so that the package of a message type need
not be installed. It is slower than the decoder of joint states: use it for minutes of recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.tables.table import reading
from robodyn_ros.recording.topics.messages import types_with
from robodyn_ros.recording.topics.rename import rename_joints

TORQUE_STATE = 'robodyn_ros/msg/TorqueState'

Values = tuple[Sequence[str], Sequence[Any]]
"""Joint names of a message, and its signals with one number per joint."""


@dataclass(frozen=True)
class TopicSamples:
    """Signals of a topic, of the requested joints that it has.

    :param stamps: header stamps, shape (N,), in [ns], strictly increasing
    :param signals: each of shape (N, n)
    """

    topic: str
    joints: tuple[str, ...]
    stamps: NDArray[np.int64]
    signals: tuple[NDArray[np.float64], ...]


def topic_types(path: str | Path) -> dict[str, str]:
    """Return the message types of a bag by topic; a RecordingError if it cannot be read."""
    scan = BagScan(Path(path), '')
    for _ in scan.messages():  # there is no such topic
        pass
    scan.check()
    return scan.topics


def read_topic(
    path: str | Path,
    topic: str,
    joints: Sequence[str],
    read: Callable[[Any], Values],
    part: BagPart | None = None,
) -> TopicSamples:
    """Read the signals of a topic.

    The first message with any of the requested joints defines the joints. Messages without one of
    them, or without a finite number for each, are ignored.

    :param joints: requested joints; the topic need not have all of them
    :param read: takes joint names and signals from a message
    :param part: of the recording that they belong to; None: all messages
    :raises RecordingError: the bag cannot be read, or has fewer than two messages with such joints
    """
    part = part or BagPart()
    stamps: list[int] = []
    rows: list[list[NDArray[np.float64]]] = []
    present: tuple[str, ...] = ()
    for message in _messages(Path(path), topic, part):
        try:
            names, signals = read(message)
            names = rename_joints(names, part.rename)
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        except AttributeError as error:  # the definition is the bag's present
            raise RecordingError(
                f'{path}: the messages of {topic} have no field {error.name!r}, by the definition '
                f'of their type in the bag'
            ) from None
        present = present or tuple(name for name in joints if name in names)
        row = _row(names, signals, present)
        if row and (not stamps or stamp > stamps[-1]):
            rows.append(row)
            stamps.append(stamp)
    width = max((len(row) for row in rows), default=0)
    complete = [index for index, row in enumerate(rows) if len(row) == width]
    if len(complete) < 2:
        raise RecordingError(
            f'{path}: {topic} has {len(complete)} messages with {list(present or joints)}, at '
            f'least 2 are needed'
        )
    values = np.array([rows[index] for index in complete])
    return TopicSamples(
        topic,
        present,
        np.array(stamps, dtype=np.int64)[complete],
        tuple(np.ascontiguousarray(values[:, signal]) for signal in range(width)),
    )


def _messages(path: Path, topic: str, part: BagPart) -> Iterator[Any]:
    """Yield the decoded messages of a topic; damaged ones are left out."""
    scan = BagScan(path, topic)
    store, kind = None, ''
    for _, data in part.select(scan.messages()):
        if store is None:
            kind = scan.topics[topic]
            store = _types(scan.definitions, kind, path)
        try:
            message = store.deserialize_cdr(data, kind)
        except Exception:  # parsers may raise any exception for damaged bytes
            continue
        yield message
    scan.check()


def _types(definitions: Mapping[str, tuple[str, str]], kind: str, path: Path) -> Any:
    """Return the decoder of a message type, by its definition in the bag or by ROS 2 Jazzy."""
    form, text = definitions.get(kind, ('', ''))
    with reading(path, f'a bag with {kind}'):
        store = types_with(kind, text if form in ('ros1msg', 'ros2msg') else '')
    if kind not in store.fielddefs:
        raise RecordingError(f'{path}: it has no definition of {kind}: record it as MCAP')
    return store


def _row(
    names: Sequence[str], signals: Sequence[Any], joints: Sequence[str]
) -> list[NDArray[np.float64]]:
    """Return the non-empty signals of these joints; empty if the message cannot be used."""
    given = [np.asarray(signal, dtype=float) for signal in signals if len(signal)]
    complete = all(len(signal) == len(names) for signal in given)
    if not joints or not complete or not set(joints) <= set(names):
        return []
    order = [list(names).index(name) for name in joints]
    row = [signal[order] for signal in given]
    return row if all(np.isfinite(signal).all() for signal in row) else []
