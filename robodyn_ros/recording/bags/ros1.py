# SPDX-License-Identifier: Apache-2.0
"""Messages of ROS 1, in bags of ROS 1 and in MCAP, and messages in JSON; all become CDR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import numpy as np

from robodyn_ros.bounds import check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.compression import decompress
from robodyn_ros.recording.bags.scan import Scan
from robodyn_ros.recording.topics.messages import types_with
from robodyn_ros.wire.cursor import Writer
from robodyn_ros.wire.joint_state import FIELDS

Convert = Callable[[bytes], bytes]


class Ros1Scan(Scan):
    """Reader of the messages of one topic in a bag of ROS 1, by rosbags."""

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield time in the bag, in [ns], and bytes in CDR, in the order of recording."""
        from rosbags.rosbag1.reader import Reader, decompressors

        check_regular(self.path)
        forms = {function: name for name, function in decompressors.items() if name != 'none'}
        with Reader(self.path) as reader:
            reader.chunks = {  # with a bound
                place: each._replace(
                    decompressor=partial(decompress, form=forms.get(each.decompressor, ''))
                )
                for place, each in reader.chunks.items()
            }
            wanted = {}
            for each in reader.connections:
                self.definitions[each.msgtype] = 'ros1msg', each.msgdef.data
                if self.add_topic(each.topic, each.msgtype):
                    wanted[each] = cdr_of_ros1(each.msgtype, each.msgdef.data)
            total = sum(each.msgcount for each in wanted)
            for link, time, data in reader.messages(wanted) if wanted else ():
                self.count += 1
                progress(self.reading, self.count / total)
                yield time, wanted[link](data)


def cdr_of_ros1(kind: str, definition: str) -> Convert:
    """Return a function that converts a message of ROS 1; what is damaged becomes empty."""
    types = types_with(kind, definition)

    def convert(data: bytes) -> bytes:
        try:
            return bytes(types.ros1_to_cdr(data, kind))
        except Exception:  # a parser may raise any exception for damaged bytes
            return b''

    return convert


def joint_state_of_json(data: bytes) -> bytes:
    """Convert a JointState in JSON to CDR; another message becomes empty."""
    try:
        message = msgspec.json.decode(data)
        stamp = message.get('header', {}).get('stamp', {})
        nanoseconds = stamp.get('nanosec', stamp.get('nsec', 0))
        writer = Writer()
        writer.header(stamp.get('sec', 0) * 10**9 + nanoseconds, '', message['name'])
        for field in FIELDS:
            writer.doubles(np.array(message.get(field, ()), dtype=np.float64))
        return bytes(writer.data)
    except Exception:  # anything can be in it
        return b''
