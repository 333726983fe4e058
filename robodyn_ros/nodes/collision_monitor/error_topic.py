# SPDX-License-Identifier: Apache-2.0
"""Topic `~/torque_error`."""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNode

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.robot.effort_topic import EffortTopic


class ErrorTopic:
    """Publisher of the torque error with joint names; NaN where it is not valid."""

    def __init__(self, node: LifecycleNode) -> None:
        """Create the publisher."""
        self._topic = EffortTopic(node, '~/torque_error')

    def build(self, model: IdentifiedModel, _: ModelTorque, __: TorqueErrorDetector) -> None:
        """Set the joints."""
        self._topic.prepare(model.joints)

    def restart(self, reason: str) -> None:
        """Continue: each message stands for itself."""

    def details(self) -> dict[str, object]:
        """Return no entries."""
        return {}

    def publish(self, detector: TorqueErrorDetector, _: Inputs, stamp: Any) -> None:
        """Publish the torque error of this cycle."""
        error, valid = detector.torque_error, detector.settled
        self._topic.publish(stamp.sec, stamp.nanosec, error, valid=valid)
