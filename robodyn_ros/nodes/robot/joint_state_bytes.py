"""JointState messages read from their serialised bytes: what a node sees 1000 times a second.

rclpy spends 30 us on the Python objects of a message with six joints and the reader 15 us more.
The layout of the last message is kept: a message that fits it is read from its bytes. Any other
message is read through rclpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.robot.joint_states import Array, JointStateReader
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.joint_state import FIELDS, JointStateLayout

Pick = Callable[[tuple[Any, ...]], tuple[Any, ...]]


class JointStateBytes(JointStateReader):
    """`JointStateReader` for subscriptions with `raw=True`.

    :ivar clock: the stamp as it came, seconds and nanoseconds
    """

    def __init__(
        self,
        joints: Sequence[str],
        required: Sequence[str] = FIELDS,
        *,
        optional: Sequence[str] = (),
        exact: bool = False,
    ) -> None:
        """Prepare for these joints; parameters as of `JointStateReader`."""
        super().__init__(joints, required, optional=optional, exact=exact)
        # One block, so that a message is written in one go; the fields are its rows.
        self._block = np.full((len(self.required), len(self.joints)), np.nan)
        for row, field in enumerate(self.required):
            setattr(self, field, self._block[row])
        self._flat = self._block.reshape(-1)
        self.clock = (0, 0)
        self._layout: JointStateLayout | None = None
        self._numbers: Pick = tuple
        self._optional: list[tuple[str, Array, Pick]] = []
        self._absent: tuple[str, ...] = ()

    @property
    def time(self) -> Time:
        """The stamp as a message."""
        return Time(sec=self.clock[0], nanosec=self.clock[1])

    def read_bytes(self, serialised: bytes) -> str:
        """Take a message over; return '' or the reason why it is refused."""
        if self._read_known(serialised):
            return ''
        try:
            message = deserialize_message(serialised, JointState)
        except Exception as error:
            return f'it is no JointState: {error}'
        self.clock = (message.header.stamp.sec, message.header.stamp.nanosec)
        problem = self.read(message)
        if not problem:
            with suppress(WireError):  # big endian, or arrays that this reader does not need
                self._learn(JointStateLayout(serialised))
        return problem

    def _read_known(self, serialised: bytes) -> bool:
        """Read a message laid out as the last one; False: it is not, or cannot be used."""
        layout = self._layout
        if layout is None or not layout.fits(serialised):
            return False
        values = layout.numbers.unpack_from(serialised)
        numbers = self._numbers(values)
        if not math.isfinite(sum(numbers)):
            return False
        self._flat[:] = numbers
        self.missing = self._absent
        for field, row, pick in self._optional:
            numbers = pick(values)
            if math.isfinite(sum(numbers)):
                row[:] = numbers
            else:
                row[:] = math.nan
                self.missing += (field,)
        self.clock = values[:2]
        self.stamp = values[0] + 1e-9 * values[1]
        return True

    def _learn(self, layout: JointStateLayout) -> None:
        """Remember the layout of a message that was read, and where its numbers are."""
        first, columns = layout.columns, self._columns.tolist()

        def pick(*fields: str) -> Pick:
            return _picker([first[field] + column for field in fields for column in columns])

        self._numbers = pick(*self.required)
        given = [field for field in self.optional if field in first]
        self._optional = [(field, getattr(self, field), pick(field)) for field in given]
        self._absent = tuple(field for field in self.optional if field not in first)
        self._layout = layout


def _picker(places: list[int]) -> Pick:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)
