# SPDX-License-Identifier: Apache-2.0
"""Messages that are too large to be published at once.

Fast DDS transmits messages of up to half a megabyte in shared memory. Larger ones become
datagrams; if one of these is lost, a best-effort subscriber loses the complete message. The
joint_trajectory_controller is such a subscriber (ros2_controllers 4.42).

Reliable subscribers lose nothing. But publishing keeps all threads of a node waiting, 1.5 ms of
processor time for each megabyte, and no stop is read meanwhile. Hence the bound MESSAGE.
"""

from __future__ import annotations

import math

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

from robodyn_ros.bounds import MESSAGE
from robodyn_ros.errors import ControlError

LARGEST = 400_000
"""Largest size of a message, in bytes: the half megabyte of shared memory, with a reserve."""
FARTHEST = 1e-3
"""Largest distance of the path through fewer points from the motion, in [rad] or [m]."""


def parts(node: Node, topic: str, size: float) -> int:
    """Return the factor by which a message must shrink to be published; 1: it fits.

    :param size: in bytes
    """
    if size <= LARGEST:  # a stop does not wait for the middleware's view of the network
        return 1
    listeners = node.get_subscriptions_info_by_topic(topic)
    reliable = all(one.qos_profile.reliability == ReliabilityPolicy.RELIABLE for one in listeners)
    return max(1, -int(-size // (MESSAGE.most if reliable else LARGEST)))


def check_points(
    duration: float, spacing: float, distance: float, *, longest: float = math.inf
) -> None:
    """Refuse a motion that is not described by the points that fit into a message.

    :param duration: of the motion, in [s]
    :param spacing: of these points, in [s]
    :param distance: of the path through them from the motion, in [rad] or [m]
    :param longest: largest spacing with which torque can be removed in time, in [s]
    :raises ControlError: naming all of these
    """
    if distance <= FARTHEST and spacing <= longest:
        return
    late = ', and torque would not be gone within ramp_down_time' * (spacing > longest)
    raise ControlError(
        f'the motion of {duration:.6g} s is too long for one message, of at most '
        f'{MESSAGE.most / 1e6:g} MB, and {LARGEST / 1e6:g} MB for a controller that listens '
        f'best effort: with a point every {1e3 * spacing:.3g} ms, which is all that fits, the '
        f'robot would be up to {distance:.2g} rad or m off its way{late}; send it in parts, or '
        f'give the controller a reliable subscription'
    )
