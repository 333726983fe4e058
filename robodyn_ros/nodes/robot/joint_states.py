# SPDX-License-Identifier: Apache-2.0
"""Conversion of JointState messages to arrays and back, matched by joint name.

rclpy needs 30 us for the Python objects of a message with six joints. Serialised messages with
the layout of the last one are therefore read from their bytes, all others through rclpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.joint_state import FIELDS, JointStateLayout

Array = NDArray[np.float64]
Pick = Callable[[tuple[Any, ...]], tuple[Any, ...]]


class JointStateReader:
    """Reader of complete samples of some joints; the order of joints in messages may change.

    :ivar position: of the last sample, shape (n,), SI; `velocity` and `effort` likewise. A message
        that is refused changes nothing
    :ivar stamp: time of the last sample, in [s]; `clock`: the same in seconds and nanoseconds
    :ivar missing: optional fields that the last message did not give
    :ivar foreign: True if the last message was of another publisher: it has none of the joints, or
        nothing in a required field
    """

    def __init__(
        self,
        joints: Sequence[str],
        required: Sequence[str] = FIELDS,
        *,
        optional: Sequence[str] = (),
    ) -> None:
        """Prepare for these joints.

        :param required: fields that must be given and finite
        :param optional: further fields; an empty one does not change, one that is not finite
            becomes NaN
        """
        self.joints = tuple(joints)
        self.foreign = False
        self.required = tuple(required)
        self.optional = self.missing = tuple(optional)
        self.clock = (0, 0)
        self.stamp = float('-inf')
        # The required fields are the first rows, so that one assignment writes them all.
        order = [*self.required, *(field for field in FIELDS if field not in self.required)]
        block = np.full((len(order), len(self.joints)), np.nan)
        self.position: Array = block[order.index('position')]
        self.velocity: Array = block[order.index('velocity')]
        self.effort: Array = block[order.index('effort')]
        self._flat = block[: len(self.required)].reshape(-1)
        self._names: list[str] = []
        self._columns = np.zeros(0, dtype=np.intp)
        self._layout: JointStateLayout | None = None
        self._numbers: Pick = tuple
        self._given: list[tuple[str, Array, Pick]] = []
        self._absent: tuple[str, ...] = ()

    @property
    def time(self) -> Time:
        """The stamp as a message."""
        return Time(sec=self.clock[0], nanosec=self.clock[1])

    def read(self, message: JointState) -> str:
        """Read a message; return '' or why it is refused."""
        self.foreign = set(self.joints).isdisjoint(message.name) or not all(
            len(getattr(message, field)) for field in self.required
        )
        self.clock = (message.header.stamp.sec, message.header.stamp.nanosec)
        self.missing = self.optional
        if message.name != self._names and (problem := self._match(list(message.name))):
            return problem
        fresh, missing = {}, []
        for field in (*self.required, *self.optional):
            values = np.asarray(getattr(message, field), dtype=float)
            if not len(values) and field in self.optional:
                missing.append(field)
                continue
            if len(values) != len(self._names):
                return f'{len(values)} values in {field} for {len(self._names)} names'
            values = values[self._columns]
            if not np.isfinite(values).all():
                if field in self.required:
                    joint = int(np.flatnonzero(~np.isfinite(values))[0])
                    return f'{field} of joint {self.joints[joint]!r} is {values[joint]}'
                missing.append(field)
                values[:] = np.nan
            fresh[field] = values
        for field, values in fresh.items():
            getattr(self, field)[:] = values
        self.missing = tuple(missing)
        self.stamp = self.clock[0] + 1e-9 * self.clock[1]
        return ''

    def read_bytes(self, serialised: bytes) -> str:
        """Read a message of a subscription with `raw=True`; return '' or why it is refused."""
        if self._read_known(serialised):
            return ''
        try:
            message = deserialize_message(serialised, JointState)
        except Exception as error:
            return f'it is no JointState: {error}'
        problem = self.read(message)
        if not problem:
            with suppress(WireError):  # big endian, or arrays that this reader does not need
                self._learn(JointStateLayout(serialised))
        return problem

    def _match(self, names: list[str]) -> str:
        for joint in self.joints:
            count = names.count(joint)
            if count != 1:
                return f'joint {joint!r} occurs {count} times among {few(names)}'
        self._columns = np.array([names.index(joint) for joint in self.joints], dtype=np.intp)
        self._names = names
        return ''

    def _read_known(self, serialised: bytes) -> bool:
        """Read a message with the last layout; return False if it has another, or is not valid."""
        layout = self._layout
        if layout is None or not layout.fits(serialised):
            return False
        values = layout.numbers.unpack_from(serialised)
        numbers = self._numbers(values)
        if not math.isfinite(sum(numbers)):
            return False
        self._flat[:] = numbers
        self.foreign = False
        self.missing = self._absent
        for field, row, pick in self._given:
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
        """Store the layout of a message that was read, and the places of its numbers."""
        first, columns = layout.columns, self._columns.tolist()

        def pick(*fields: str) -> Pick:
            places = [first[field] + column for field in fields for column in columns]
            if len(places) > 1:
                return itemgetter(*places)
            return lambda values: tuple(values[place] for place in places)

        self._numbers = pick(*self.required)
        given = [field for field in self.optional if field in first]
        self._given = [(field, getattr(self, field), pick(field)) for field in given]
        self._absent = tuple(field for field in self.optional if field not in first)
        self._layout = layout


def few(names: Sequence[str], most: int = 20) -> str:
    """Return a list of names for a sentence; robots have fewer joints than `most`."""
    more = f' and {len(names) - most} more' if len(names) > most else ''
    return f'{list(names[:most])}{more}'
