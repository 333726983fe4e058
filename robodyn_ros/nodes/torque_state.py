"""Publisher of TorqueState: what the feed-forward wants, what leaves, what the drives measure."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode

from robodyn_ros.control.effort import EffortConversion
from robodyn_ros.msg import TorqueState
from robodyn_ros.nodes.common import MONITOR_QOS
from robodyn_ros.nodes.joint_state_bytes import JointStateBytes

Array = NDArray[np.float64]
STALE = 0.1
"""Torque feedback older than this is none, in [s]."""


class TorqueStateOut:
    """Keeps one message and the last torque feedback."""

    def __init__(self, node: LifecycleNode) -> None:
        """Create the publisher; `prepare` before the first `publish`."""
        self._publisher = node.create_lifecycle_publisher(
            TorqueState, '~/torque_state', MONITOR_QOS
        )
        self._message = TorqueState()
        self._effort: EffortConversion | None = None
        self.prepare([])

    def prepare(self, joints: Sequence[str], effort: EffortConversion | None = None) -> None:
        """Set the joints, in the order of the arrays to come, and what their effort means."""
        self.feedback = JointStateBytes(joints, required=('effort',))
        self._effort = effort
        self._received = -np.inf
        self._message.name = list(joints)

    def read(self, serialised: bytes) -> bool:
        """Take the feedback over, as torque at the joint; one that cannot be used becomes NaN.

        :return: whether it can be used
        """
        self._received = time.monotonic()
        if self.feedback.read_bytes(serialised):
            self.feedback.effort[:] = np.nan
            return False
        if self._effort is not None:
            self._effort.feedback(self.feedback.effort)
        return True

    def publish(
        self, stamp: Any, requested: Array, applied: Array, enabled: bool, fault: str
    ) -> None:
        """Publish; arrays of shape (n,), in [Nm] or [N]."""
        message, feedback = self._message, self.feedback.effort
        if time.monotonic() - self._received > STALE:
            feedback[:] = np.nan
        message.header.stamp = stamp
        message.requested = array('d', requested.tobytes())
        message.additive_command = array('d', applied.tobytes())
        message.feedback = array('d', feedback.tobytes())
        message.error = array('d', (applied - feedback).tobytes())
        message.enabled = enabled
        message.fault = fault
        self._publisher.publish(message)
