# SPDX-License-Identifier: Apache-2.0
"""Torque per joint as a JointState, which plotting tools show with joint names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.wire.cursor import BODY, TIME
from robodyn_ros.wire.joint_state import JointStateLayout, encode_joint_states


class EffortTopic:
    """Publisher of JointState with names and effort in [Nm] or [N]; position and velocity empty.

    The message is serialised once per set of joints; a cycle replaces its stamp and numbers.
    Nothing is published without a subscriber.
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Create the publisher; `prepare` before the first `publish`."""
        self._publisher = node.create_publisher(JointState, topic, MONITOR_QOS)
        self.prepare(())

    def prepare(self, joints: Sequence[str]) -> None:
        """Set the joints, in the order of the values."""
        width = len(joints)
        row = encode_joint_states(joints, np.zeros(1, dtype=np.int64), effort=np.zeros((1, width)))
        self._data = bytearray(row.tobytes())
        start = JointStateLayout(bytes(self._data)).starts[-1]
        self._effort = np.frombuffer(self._data, '<f8', width, max(start, 0))

    def publish(
        self, seconds: int, nanoseconds: int, effort: Array, *, valid: bool = True
    ) -> None:
        """Publish if there is a subscriber.

        :param effort: shape (n,), in [Nm] or [N]
        :param valid: False: NaN is published, so that no old value looks like a measurement
        """
        if self._publisher.get_subscription_count():
            TIME.pack_into(self._data, BODY, seconds, nanoseconds)
            self._effort[:] = effort if valid else np.nan
            self._publisher.publish(bytes(self._data))
