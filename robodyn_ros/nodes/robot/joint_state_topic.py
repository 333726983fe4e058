# SPDX-License-Identifier: Apache-2.0
"""Publisher of JointState messages in each cycle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.wire.cursor import BODY, TIME
from robodyn_ros.wire.joint_state import FIELDS, JointStateLayout, encode_joint_states


class JointStateTopic:
    """Publisher of JointState with names and some of its arrays; the others are empty.

    The message is serialised once per set of joints; a cycle replaces its stamp and numbers.
    Nothing is published without a subscriber.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        fields: Sequence[str] = ('effort',),
        qos: QoSProfile | int = MONITOR_QOS,
    ) -> None:
        """Create the publisher; `prepare` before the first `publish`.

        :param fields: arrays of the messages, in the order of the message
        """
        self._publisher = node.create_publisher(JointState, topic, qos)
        self._fields = fields
        self.prepare(())

    def prepare(self, joints: Sequence[str]) -> None:
        """Set the joints, in the order of the values."""
        width = len(joints)
        zeros = dict.fromkeys(self._fields, np.zeros((1, width)))
        row = encode_joint_states(joints, np.zeros(1, dtype=np.int64), **zeros)
        self._data = bytearray(row.tobytes())
        starts = dict(zip(FIELDS, JointStateLayout(bytes(self._data)).starts, strict=True))
        self._arrays = [
            np.frombuffer(self._data, '<f8', width, max(starts[field], 0))
            for field in self._fields
        ]

    @property
    def heard(self) -> bool:
        """True if there is a subscriber."""
        return bool(self._publisher.get_subscription_count())

    def publish(self, seconds: int, nanoseconds: int, *values: Array, valid: bool = True) -> None:
        """Publish if there is a subscriber; parameters as of `encode`."""
        if self.heard:
            self.send(self.encode(seconds, nanoseconds, *values, valid=valid))

    def send(self, data: bytes) -> None:
        """Publish a serialised message."""
        self._publisher.publish(data)

    def encode(self, seconds: int, nanoseconds: int, *values: Array, valid: bool = True) -> bytes:
        """Return the serialised message.

        :param values: each of the fields, shape (n,), in [rad], [rad/s] and [Nm], or [m], [m/s]
            and [N]
        :param valid: False: NaN, so that no old value looks like a measurement
        """
        TIME.pack_into(self._data, BODY, seconds, nanoseconds)
        for array, new in zip(self._arrays, values, strict=True):
            array[:] = new if valid else np.nan
        return bytes(self._data)
