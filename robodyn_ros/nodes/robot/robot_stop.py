# SPDX-License-Identifier: Apache-2.0
"""Braking of a robot through its controller if the node that moved it has ended."""

from __future__ import annotations

from functools import partial

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.braking import plan_braking
from robodyn_ros.msg import NodePresence
from robodyn_ros.nodes.base.background import Background
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.base.waits import DISCOVERY, WaitError, until
from robodyn_ros.nodes.robot.robot_state import WINDOW, RobotState
from robodyn_ros.nodes.robot.trajectory_message import write_points

REST = 0.02
"""Largest velocity at rest, in [rad/s] or [m/s]."""


async def stop_robot(node: Node, background: Background, moved_by: NodePresence) -> str:
    """Replace the trajectory of a node that has ended by one that brakes the robot.

    :param moved_by: last message of that node about itself
    :return: the result, as the end of a sentence
    """
    topic = moved_by.command_topic
    if not topic:
        return 'its set points ended with it'
    publisher = node.create_publisher(JointTrajectory, topic, 10)
    robot = RobotState(moved_by.joints, partial(now, node))
    subscription = node.create_subscription(JointState, 'joint_states', robot.read, MONITOR_QOS)
    try:
        limit = np.array(moved_by.max_acceleration)
        text = f'joint states and a controller at {topic}'
        ready = lambda: robot.known and publisher.get_subscription_count() > 0  # noqa: E731
        for _ in range(5):  # a controller that subscribes best effort may lose one
            await until(background, ready, DISCOVERY, text, discovery=True)
            position, velocity = robot.motion(1e-9 * node.get_clock().now().nanoseconds)
            points = plan_braking(moved_by.joints, position, velocity, limit)
            publisher.publish(write_points(points))
            if await _at_rest(background, robot, float(points.time[-1])):
                return f'the robot was stopped through {topic}'
    except RobodynError as error:
        return f'THE ROBOT COULD NOT BE STOPPED: {error}'
    finally:
        node.destroy_subscription(subscription)
        node.destroy_publisher(publisher)
    return f'THE ROBOT STILL MOVES although braking was commanded through {topic}'


async def _at_rest(background: Background, robot: RobotState, braking_time: float) -> bool:
    begin = background.now()

    def done() -> bool:
        return background.now() > begin + braking_time + WINDOW and not robot.moving(REST)

    try:
        # 2 s for the delays of the controller: after that the motion may have been lost.
        await until(background, done, braking_time + 2.0, 'rest')
    except WaitError:
        return False
    return True
