"""JointState messages read from their serialised bytes: what a node sees 1000 times a second.

rclpy spends 30 us on the Python objects of a message with six joints and the reader 15 us more;
names, lengths and layout are the same in every message of a publisher, so they are compared as
they are and the numbers are taken where they stand. Whatever looks new goes the ordinary way.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.robot.joint_states import FIELDS, Array, JointStateReader
from robodyn_ros.wire.cursor import BODY, LITTLE_ENDIAN, Cursor

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
        self._length = -1
        self._layout = struct.Struct('')
        self._expected: tuple[Any, ...] = ()
        self._meaning: Pick = tuple
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
        if not problem and serialised[:2] == LITTLE_ENDIAN:
            self._learn(serialised)
        return problem

    def _read_known(self, serialised: bytes) -> bool:
        """Read a message laid out as the last one; False: it is not, or cannot be used."""
        if len(serialised) != self._length:
            return False
        values = self._layout.unpack_from(serialised)
        if self._meaning(values) != self._expected:
            return False
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

    def _learn(self, serialised: bytes) -> None:
        """Remember the layout of a message that was read: what numbers it has, and where."""
        layout = _Layout(serialised)
        begins, columns = layout.begins, self._columns.tolist()

        def pick(*fields: str) -> Pick:
            return _picker([begins[field] + column for field in fields for column in columns])

        self._layout = struct.Struct(layout.format)
        values = self._layout.unpack_from(serialised)
        self._numbers = pick(*self.required)
        given = [field for field in self.optional if field in begins]
        self._optional = [(field, getattr(self, field), pick(field)) for field in given]
        self._absent = tuple(field for field in self.optional if field not in begins)
        self._meaning = itemgetter(*layout.meaning)
        self._expected = self._meaning(values)
        self._length = len(serialised)


class _Layout:
    """Format of a JointState, for struct: first the stamp, padding left out."""

    def __init__(self, serialised: bytes) -> None:
        self._cursor = Cursor(serialised)
        self.format = f'<{BODY}xiI'
        self._end = self._cursor.at = 8
        self.meaning: list[int] = []
        self._count = 2
        self.begins: dict[str, int] = {}
        self._text()
        for _ in range(self._number()):
            self._text()
        for field in FIELDS:
            self._doubles(field)

    def _add(self, begin: int, form: str, count: int) -> None:
        """Note values that begin here and end where the cursor is."""
        self.format += f'{begin - self._end}x{form}'
        self._end = self._cursor.at
        self._count += count

    def _number(self) -> int:
        value = self._cursor.number()
        self.meaning.append(self._count)
        self._add(self._cursor.at - 4, 'I', 1)
        return value

    def _text(self) -> None:
        length = self._number()
        begin = self._cursor.at
        self._cursor.at += length
        self.meaning.append(self._count)
        self._add(begin, f'{length}s', 1)

    def _doubles(self, field: str) -> None:
        count = self._number()
        self._cursor.at -= 4
        begin, _ = self._cursor.doubles()
        if count:
            self.begins[field] = self._count
            self._add(begin, f'{count}d', count)


def _picker(places: list[int]) -> Pick:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)
