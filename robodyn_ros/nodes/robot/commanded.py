# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of what a trajectory controller commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

REFERENCE = '~/reference'
"""Topic (JointState) for robots whose controller is no joint_trajectory_controller."""


def state_topic(node: Node, controller: str) -> str:
    """Return the topic on which a controller publishes what it commands."""
    return str(node.resolve_topic_name(f'{controller}/controller_state'))


def follow_reference(node: Node, taken: Callable[[bytes], None], qos: QoSProfile) -> Subscription:
    """Take the serialised messages of REFERENCE."""
    return node.create_subscription(JointState, REFERENCE, taken, qos, raw=True)


def follow_controller(
    node: Node, controller: str, taken: Callable[[bytes], None], qos: QoSProfile
) -> Subscription | None:
    """Take the serialised states of a controller; None: control_msgs is not installed."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    kind: Any = JointTrajectoryControllerState
    return node.create_subscription(kind, state_topic(node, controller), taken, qos, raw=True)
