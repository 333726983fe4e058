# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of what a trajectory controller commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState


def follow_reference(node: Node, taken: Callable[[bytes], None], qos: QoSProfile) -> Subscription:
    """Take serialised JointStates, of robots without a joint_trajectory_controller."""
    return node.create_subscription(JointState, '~/reference', taken, qos, raw=True)


def follow_controller(
    node: Node, controller: str, taken: Callable[[bytes], None], qos: QoSProfile
) -> Subscription | None:
    """Take the serialised states of a controller; None: control_msgs is not installed."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    kind: Any = JointTrajectoryControllerState
    topic = f'{controller}/controller_state'
    return node.create_subscription(kind, topic, taken, qos, raw=True)
