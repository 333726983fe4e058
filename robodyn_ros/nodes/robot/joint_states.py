"""JointState messages to arrays and back, matched by joint name; whole samples or none."""

from __future__ import annotations

import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from robodyn_ros.wire.joint_state import FIELDS

Array = NDArray[np.float64]


class JointStateReader:
    """Reads the joints it is told from JointState messages into arrays it owns.

    After `read` returned '' the arrays `position`, `velocity`, `effort` (shape (n,), SI) hold
    the sample and `stamp` its time in [s]; else nothing changed and the text says why the
    sample was refused. The order of joints in messages may change at any time.

    :ivar missing: optional fields that the last message did not give
    """

    def __init__(
        self,
        joints: Sequence[str],
        required: Sequence[str] = FIELDS,
        *,
        optional: Sequence[str] = (),
        exact: bool = False,
    ) -> None:
        """Prepare for these joints.

        :param required: fields that must be there and finite
        :param optional: further fields; an empty one stays as it was, one that is not finite
            becomes NaN
        :param exact: refuse messages that name other joints too
        """
        self.joints = tuple(joints)
        self._exact = exact
        self.required = tuple(required)
        self.optional = self.missing = tuple(optional)
        self.stamp = float('-inf')
        self.position = np.full(len(self.joints), np.nan)
        self.velocity = np.full(len(self.joints), np.nan)
        self.effort = np.full(len(self.joints), np.nan)
        self._names: list[str] = []
        self._columns: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def read(self, message: JointState) -> str:
        """Take a message over; return '' or the reason why it is refused."""
        self.missing = self.optional
        if message.name != self._names:
            problem = self._match(message.name)
            if problem:
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
        self.stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        return ''

    def _match(self, names: Sequence[str]) -> str:
        names = list(names)
        for joint in self.joints:
            count = names.count(joint)
            if count != 1:
                return f'joint {joint!r} occurs {count} times among {names}'
        unknown = [name for name in names if name not in self.joints]
        if self._exact and unknown:
            return f'there is no joint {unknown[0]!r} in the model, it has {list(self.joints)}'
        self._columns = np.array([names.index(joint) for joint in self.joints], dtype=np.intp)
        self._names = names
        return ''


def fill(message: JointState, position: Array, velocity: Array, effort: Array) -> None:
    """Write arrays of shape (n,) into a message; array.array is rclpy's fast way."""
    message.position = array.array('d', position.tobytes())
    message.velocity = array.array('d', velocity.tobytes())
    message.effort = array.array('d', effort.tobytes())
