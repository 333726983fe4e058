"""Topics of a rosbag2 other than joint states: commands and torques, message by message.

Read through rosbags with the definitions that the bag carries, so that a message type needs no
package installed. Slower than the decoder of joint states, for recordings of minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import RecordingError

JOINT_STATE = 'sensor_msgs/msg/JointState'
TRAJECTORY_STATE = 'control_msgs/msg/JointTrajectoryControllerState'
TORQUE_STATE = 'robodyn_ros/msg/TorqueState'

Values = tuple[Sequence[str], Sequence[Any]]
"""Joint names of a message, and its signals, one number per joint each."""


@dataclass(frozen=True)
class TopicSamples:
    """Signals of a topic, of the joints asked for.

    :param stamps: header stamps, shape (N,), in [ns], strictly increasing
    :param signals: each of shape (N, n)
    """

    topic: str
    stamps: NDArray[np.int64]
    signals: tuple[NDArray[np.float64], ...]


def topic_types(path: str | Path) -> dict[str, str]:
    """Message types of a bag by topic.

    :raises RecordingError: it cannot be read
    """
    with _opened(path) as reader:
        return {link.topic: link.msgtype for link in reader.connections}


def read_topic(
    path: str | Path, topic: str, joints: Sequence[str], read: Callable[[Any], Values]
) -> TopicSamples:
    """Read the signals of a topic; messages that have not all of the joints are left out.

    :param read: takes joint names and signals from a message
    :raises RecordingError: the bag cannot be read, or no message of the topic has these joints
    """
    stamps: list[int] = []
    rows: list[list[Any]] = []
    with _opened(path) as reader:
        links = [link for link in reader.connections if link.topic == topic]
        for link, _, data in reader.messages(links) if links else ():
            message = reader.deserialize(data, link.msgtype)
            names, signals = read(message)
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            if set(joints) <= set(names) and (not stamps or stamp > stamps[-1]):
                order = [list(names).index(name) for name in joints]
                rows.append([np.asarray(s, dtype=float)[order] for s in signals if len(s)])
                stamps.append(stamp)
    width = max((len(row) for row in rows), default=0)
    whole = [index for index, row in enumerate(rows) if len(row) == width]
    if len(whole) < 2 or not width:
        raise RecordingError(
            f'{path}: {topic} has {len(whole)} messages with {list(joints)}, at least 2 are needed'
        )
    values = np.array([rows[index] for index in whole])
    return TopicSamples(
        topic,
        np.array(stamps, dtype=np.int64)[whole],
        tuple(np.ascontiguousarray(values[:, signal]) for signal in range(width)),
    )


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    from rosbags.highlevel import AnyReader, AnyReaderError
    from rosbags.typesys import Stores, get_typestore

    try:
        with AnyReader([Path(path)], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            yield reader
    except (AnyReaderError, OSError, KeyError) as error:
        reason = ' '.join(str(error).split()).rstrip('.')
        raise RecordingError(f'{path}: expected the folder of a rosbag2: {reason}') from error
