# SPDX-License-Identifier: Apache-2.0
"""Messages with joint states of several types, as JointState messages in CDR.

A message is taken apart into quantities, each with a number per joint. Three of them are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from robodyn_ros.wire.cursor import Writer
from robodyn_ros.wire.joint_state import FIELDS

JOINT_STATE = 'sensor_msgs/msg/JointState'
DYNAMIC_STATE = 'control_msgs/msg/DynamicJointState'
TRAJECTORY_STATE = 'control_msgs/msg/JointTrajectoryControllerState'
KINDS = (JOINT_STATE, DYNAMIC_STATE, TRAJECTORY_STATE)
"""Types of messages with joint states, the first one first where a bag has several."""
USUAL = {
    'position': ('position', 'feedback.positions', 'actual.positions'),
    'velocity': ('velocity', 'feedback.velocities', 'actual.velocities'),
    'effort': ('effort', 'feedback.effort', 'actual.effort'),
}
"""Quantities that are read if they are there; `actual` is of ROS 1 and of ROS 2 before Iron."""
TORQUE = re.compile(r'effort|torque|tau|force|current', re.IGNORECASE)
"""Parts of names of quantities that can be the torque of a joint."""
OTHER = re.compile(
    r'comm?an?d|desired|target|ref|goal|set|ext|error|limit|stiff|output', re.IGNORECASE
)
"""Parts of names of torques that are not the measured torque of the joint."""


@cache
def types_with(kind: str, definition: str) -> Any:
    """Return the message definitions of ROS 2 Jazzy, and of one more type if there is its text.

    :raises Exception: of rosbags, the definition is damaged
    """
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore  # slow to import

    store = get_typestore(Stores.ROS2_JAZZY)
    given = get_types_from_msg(definition, kind) if definition else {}
    store.register({name: each for name, each in given.items() if name not in store.fielddefs})
    return store


class Converter:
    """Converter of the messages of a topic.

    :ivar plain: True for JointState, of which nothing can be chosen
    :ivar known: quantities of other messages so far
    :ivar torques: those that can be the measured torque; one other than the effort is read only
        if it is the only one
    :ivar read: quantity of each field of a JointState, of the last messages
    """

    def __init__(
        self,
        kind: str = JOINT_STATE,
        definition: str = '',
        chosen: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare for a topic.

        :param definition: text of the type; '': unknown
        :param chosen: quantities to read for some of `FIELDS`
        """
        self.kind, self.definition, self.chosen = kind, definition, chosen or {}
        self.plain = kind == JOINT_STATE
        self.known: list[str] = []
        self.torques: list[str] = []
        self.read = dict(zip(FIELDS, FIELDS, strict=True))
        self._last: tuple[str, ...] | None = None

    def convert(self, data: bytes) -> bytes:
        """Return a message as little-endian JointState without its frame, which may change.

        :raises ValueError: the bytes are no such message
        """
        try:
            types = types_with(self.kind, self.definition)
            message = types.deserialize_cdr(data, self.kind)
            names, quantities = _quantities(message)
            self._choose(quantities)
            stamp = message.header.stamp
            writer = Writer()
            writer.header(stamp.sec * 10**9 + stamp.nanosec, '', names)
            for field in FIELDS:
                writer.doubles(np.asarray(quantities.get(self.read[field], ()), dtype=np.float64))
            return bytes(writer.data)
        except Exception as error:  # a parser may raise any exception for damaged bytes
            raise ValueError(f'not a {self.kind.rpartition("/")[2]}: {error}') from error

    def _choose(self, quantities: Mapping[str, Any]) -> None:
        """Choose the quantities to read of messages that have these."""
        if self.plain or (names := tuple(quantities)) == self._last:
            return
        self._last = names
        self.known += [name for name in names if name not in self.known]
        torques = [name for name in names if TORQUE.search(name)]
        likely = sorted((n for n in torques if not OTHER.search(n)), key=lambda n: n != 'effort')
        common = USUAL | {'effort': (*USUAL['effort'], *(likely if len(likely) == 1 else ()))}
        self.torques = likely
        self.read = {
            field: next((n for n in (self.chosen.get(field), *its) if n in quantities), field)
            for field, its in common.items()
        }

    @property
    def offered(self) -> list[str]:
        """All torques, the likely ones first."""
        others = [name for name in self.known if TORQUE.search(name)]
        return list(dict.fromkeys([*self.torques, *others]))


def _quantities(message: Any) -> tuple[Sequence[str], dict[str, Sequence[float]]]:
    """Return the joints of a message, and its quantities by name: a number for each joint."""
    if hasattr(message, 'interface_values'):
        rows = [
            dict(zip(each.interface_names, each.values, strict=True))
            for each in message.interface_values
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        return message.joint_names, {n: [row.get(n, np.nan) for row in rows] for n in names}
    if hasattr(message, 'joint_names'):
        points = {key: each for key, each in vars(message).items() if hasattr(each, 'positions')}
        given = {
            f'{key}.{field}': getattr(each, field)
            for key, each in points.items()
            for field in ('positions', 'velocities', 'effort')
        }
    else:
        given = {field: getattr(message, field) for field in FIELDS}
    names = message.joint_names if hasattr(message, 'joint_names') else message.name
    return names, {name: values for name, values in given.items() if len(values)}
