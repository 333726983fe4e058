# SPDX-License-Identifier: Apache-2.0
"""Layouts of other messages with joint states: of a broadcaster and of a trajectory controller."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.wire.cursor import Cursor, WireError
from robodyn_ros.wire.joint_state import FIELDS, Array, JointStateLayout, doubles_at
from robodyn_ros.wire.trajectory import FIELDS as POINT_FIELDS

TORQUE = re.compile(r'\w*(effort|torque|tau|force|current)\w*', re.IGNORECASE)
"""Names of interfaces that can be the torque of a joint."""
OTHER = re.compile(r'comm?an?d|desired|target|ref|goal|set|ext|error|limit|stiff', re.IGNORECASE)
"""Parts of names of torques that are not the measured torque of the joint."""
POINTS = ('reference', 'feedback', 'error', 'output')
"""Points of a JointTrajectoryControllerState, in the order of the message."""
OLD_POINTS = ('desired', 'actual', 'error')
"""The same of ROS 1 and of ROS 2 before Iron."""


class DynamicStateLayout(JointStateLayout):
    """Layout of DynamicJointState messages: each joint has interfaces with names.

    :ivar torques: interfaces that can be the measured torque: the one that is read first, then
        the other likely ones; without a likely one none is read
    :ivar fields: all interfaces
    """

    def __init__(self, data: bytes, chosen: Mapping[str, str]) -> None:
        """Parse one message.

        :param chosen: interfaces to read for `position`, `velocity` or `effort`
        :raises WireError: it is not such a message
        """
        cursor = Cursor(data)
        cursor.time()
        cursor.text()
        self.names = cursor.texts()
        if cursor.count() != len(self.names):
            raise WireError(f'interfaces of another number of joints than {len(self.names)}')
        spans, places = [], []
        for _ in self.names:
            interfaces = cursor.texts()
            start, count = cursor.doubles()
            if count != len(interfaces):
                raise WireError(f'{count} values for {len(interfaces)} interfaces')
            spans.append((start, start + 8 * count))
            places.append({name: start + 8 * k for k, name in enumerate(interfaces)})
        self.fields = list(dict.fromkeys(name for each in places for name in each))
        likely = [
            name for name in self.fields if TORQUE.fullmatch(name) and not OTHER.search(name)
        ]
        self.torques = sorted(likely, key=lambda name: name != 'effort')
        self.offered = [*self.torques, *(n for n in self.fields if TORQUE.fullmatch(n))]
        self.offered = list(dict.fromkeys(self.offered))
        usual = {field: field for field in FIELDS}
        if self.torques and (self.torques[0] == 'effort' or len(self.torques) == 1):
            usual['effort'] = self.torques[0]
        self.read = usual | {key: name for key, name in chosen.items() if name in self.fields}
        self.starts = tuple(
            np.array([each.get(self.read[field], -1) for each in places]) for field in FIELDS
        )
        self._learn(cursor, spans)

    def _array(self, block: NDArray[np.uint8], start: Any) -> Array:
        result = np.full((len(block), len(start)), np.nan)
        for joint in np.flatnonzero(start >= 0):
            result[:, joint] = doubles_at(block, start[joint], 1)[:, 0]
        return result


class ControllerStateLayout(JointStateLayout):
    """Layout of JointTrajectoryControllerState messages; the measured point is read.

    :ivar fields: all quantities that the points have, such as `output.effort`
    """

    def __init__(self, data: bytes, chosen: Mapping[str, str], points: Sequence[str]) -> None:
        """Parse one message.

        :param chosen: as of `DynamicStateLayout`
        :param points: names of the points in their order, the measured one second
        :raises WireError: it is not such a message
        """
        cursor = Cursor(data)
        cursor.time()
        cursor.text()
        self.names = cursor.texts()
        starts: dict[str, int] = {}
        durations = []
        for point in points:
            for field in POINT_FIELDS:
                start, count = cursor.doubles()
                if count not in (0, len(self.names)):
                    raise WireError(f'{count} values for {len(self.names)} joints')
                if count:
                    starts[f'{point}.{field}'] = start
            cursor.time()
            durations.append((cursor.at - 8, cursor.at))
        self.fields = list(starts)
        usual = zip(FIELDS, ('positions', 'velocities', 'effort'), strict=True)
        self.read = {field: f'{points[1]}.{name}' for field, name in usual} | dict(chosen)
        self.offered = [name for name in starts if name.endswith('.effort')]
        self.starts = tuple(starts.get(self.read[field], -1) for field in FIELDS)
        self._learn(cursor, [*self._spans(*starts.values()), *durations])
