"""Messages that are too large for a subscriber that listens best effort.

Fast DDS hands messages of up to half a megabyte over in shared memory; larger ones become
datagrams, and a best-effort subscriber gets none of the message when one of them is lost. The
joint_trajectory_controller is such a subscriber; an 8 s trajectory of six axes with a point every
2 ms did not arrive in two of three tries (ros2_controllers 4.42).
"""

from __future__ import annotations

import math

from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

from robodyn_ros.errors import ControlError

LARGEST = 400_000
"""Bytes of a message that arrives."""
FARTHEST = 1e-3
"""Fewer points than wanted may not lead a robot farther off its way, in [rad] or [m]."""


def parts(node: Node, topic: str, size: float) -> int:
    """Divisor that makes a message of this size arrive at everyone who listens; 1: it does.

    :param topic: resolved name
    :param size: in bytes
    """
    listeners = node.get_subscriptions_info_by_topic(topic)
    if all(one.qos_profile.reliability == ReliabilityPolicy.RELIABLE for one in listeners):
        return 1
    return -int(-size // LARGEST)


def check_points(
    duration: float, spacing: float, distance: float, *, longest: float = math.inf
) -> None:
    """Refuse a motion that the points that arrive no longer describe.

    :param duration: of the motion, in [s]
    :param spacing: of these points, in [s]
    :param distance: by which they lead the robot off its way, in [rad] or [m]
    :param longest: spacing with which torque can be taken away in time, in [s]
    :raises ControlError: naming all of these
    """
    if distance <= FARTHEST and spacing <= longest:
        return
    late = ', and torque would not be gone within ramp_down_time' * (spacing > longest)
    raise ControlError(
        f'the motion of {duration:.6g} s is too long for a controller that listens best effort: '
        f'with a point every {1e3 * spacing:.3g} ms, which is all that arrives, the robot would '
        f'be up to {distance:.2g} rad or m off its way{late}; send it in parts, or give the '
        f'controller a reliable subscription'
    )
