# SPDX-License-Identifier: Apache-2.0
"""Messages of ROS 1, in bags of ROS 1 and in MCAP, and messages in JSON; all become CDR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np

from robodyn_ros.bounds import check_regular
from robodyn_ros.long_work import progress
from robodyn_ros.recording.bags.compression import decompress
from robodyn_ros.recording.bags.scan import Scan
from robodyn_ros.recording.topics.decoder import types_with
from robodyn_ros.wire.joint_state import FIELDS, encode_joint_states

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
    """Convert a message in JSON with joint states to a JointState; another one becomes empty."""
    try:
        message = msgspec.json.decode(data)
        point = message.get('feedback') or message.get('actual') or message
        names = message.get('joint_names') or message['name']
        values = {field: _first(point, field, f'{field}s') for field in FIELDS}
        values['velocity'] = values['velocity'] or point.get('velocities')
        if interfaces := message.get('interface_values'):
            values = {
                field: [dict(zip(each['interface_names'], each['values'], strict=True)).get(field)
                        for each in interfaces]
                for field in FIELDS
            }  # fmt: skip
        arrays = {name: np.array([each], dtype=float) for name, each in values.items() if each}
        if any(each.shape[1] != len(names) for each in arrays.values()):
            return b''
        return bytes(encode_joint_states(names, np.array([_stamp(message)]), **arrays)[0])
    except Exception:  # it may be anything
        return b''


def _first(content: Mapping[str, Any], *names: str) -> Any:
    """Return the first of some entries that is not empty."""
    return next((content[name] for name in names if content.get(name)), None)


def _stamp(message: Mapping[str, Any]) -> int:
    """Return the stamp of a message in JSON, in [ns]; 0: it has none."""
    stamp = (message.get('header') or {}).get('stamp') or {}
    seconds, rest = (
        _first(stamp, *keys) or 0 for keys in (('sec', 'secs'), ('nanosec', 'nsecs', 'nsec'))
    )
    return int(seconds) * 10**9 + int(rest)
