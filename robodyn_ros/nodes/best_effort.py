"""Messages that are too large for a subscriber that listens best effort.

Fast DDS hands messages of up to half a megabyte over in shared memory; larger ones become
datagrams, and a best-effort subscriber gets none of the message when one of them is lost. The
joint_trajectory_controller is such a subscriber; an 8 s trajectory of six axes with a point every
2 ms did not arrive in two of three tries (ros2_controllers 4.42).
"""

from __future__ import annotations

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

LARGEST = 400_000
"""Bytes of a message that arrives."""


def parts(node: Node, topic: str, size: float) -> int:
    """Divisor that makes a message of this size arrive at everyone who listens; 1: it does.

    :param topic: resolved name
    :param size: in bytes
    """
    listeners = node.get_subscriptions_info_by_topic(topic)
    if all(one.qos_profile.reliability == ReliabilityPolicy.RELIABLE for one in listeners):
        return 1
    return -int(-size // LARGEST)
