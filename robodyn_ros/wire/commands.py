# SPDX-License-Identifier: Apache-2.0
"""Commanded positions in a serialised JointState or JointTrajectoryControllerState.

Both begin with header, joint names and positions; those of the controller are its reference. The
package of the second type, control_msgs, need not be installed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from robodyn_ros.wire.cursor import BODY, TIME, Cursor, WireError

Rename = Callable[[tuple[str, ...]], tuple[str, ...]]


def as_joint_state(data: bytes) -> bytes | None:
    """Return a JointState with header, names and commanded positions of either message.

    :return: the serialised message; None: damaged, or without positions
    """
    try:
        names, (start,) = Cursor(data).read_named_arrays(1)
    except WireError:
        return None
    empty = bytes(8)  # no velocities, no efforts: two counts of zero
    return None if start < 0 else bytes(data[: start + 8 * len(names)]) + empty


class CommandReader:
    """Reader of the commanded positions of some joints; the order of joints may change."""

    def __init__(self, joints: Sequence[str], rename: Rename = tuple) -> None:
        """Prepare for these joints.

        :param rename: returns the names of joints for those in a message
        """
        self._joints, self._rename = tuple(joints), rename
        self._names: tuple[str, ...] | None = None
        self._places: list[int] = []

    def read(self, data: bytes) -> tuple[float, list[float]] | None:
        """Return stamp, in [s], and positions; None: damaged, or a joint is missing."""
        try:
            cursor = Cursor(data)
            names, (start,) = cursor.read_named_arrays(1)
        except WireError:
            return None
        if names != self._names and not self._match(names):
            return None
        if start < 0:
            return None
        values = struct.unpack_from(f'<{len(names)}d', data, start)
        seconds, nanoseconds = TIME.unpack_from(data, BODY)
        return seconds + 1e-9 * nanoseconds, [values[place] for place in self._places]

    def _match(self, names: tuple[str, ...]) -> bool:
        ours = self._rename(names)
        if not set(self._joints) <= set(ours):
            return False
        self._names = names
        self._places = [ours.index(joint) for joint in self._joints]
        return True
