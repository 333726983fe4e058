# SPDX-License-Identifier: Apache-2.0
"""Number of points of a trajectory that fit into a message to its controller."""

from __future__ import annotations

from rclpy.node import Node

from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.wire.trajectory import write_trajectory


def thinned(plan: TorquePlan, node: Node, topic: str, longest: float) -> TorquePlan:
    """Reduce a plan to the number of points that arrive.

    :param topic: resolved name of the trajectory topic of the controller
    :param longest: longest time between points, in [s]
    :raises ControlError: the points that arrive are too few for the motion
    """
    some = min(len(plan.time), 100)
    fields = [plan.position[:some]] * 4
    sample = write_trajectory(stamp=0, joints=plan.joints, time=plan.time[:some], fields=fields)
    stride = parts(node, topic, len(plan.time) * len(sample) / some)
    if stride == 1:
        return plan
    few = plan.every(stride)
    check_points(float(plan.time[-1]), few.period, plan.distance_to(few), longest=longest)
    node.get_logger().info(
        f'{len(plan.time)} points are too large for one message to the controller: one every '
        f'{1e3 * few.period:.3g} ms is sent'
    )
    return few
