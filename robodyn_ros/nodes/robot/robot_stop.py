# SPDX-License-Identifier: Apache-2.0
"""Braking of a robot through its controller if the node that moved it has ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.braking import braking
from robodyn_ros.msg import NodePresence
from robodyn_ros.nodes.base.background import Background
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.base.waits import DISCOVERY, WaitError, until
from robodyn_ros.nodes.excitation.output import to_message
from robodyn_ros.nodes.robot.joint_states import JointStateReader

Array = NDArray[np.float64]
WINDOW = 0.05
"""Shortest time of a velocity from positions, in [s]: the resolution of encoders over it is far
below 0.02 rad/s."""


class MeasuredMotion:
    """Position and velocity of some joints, from positions and stamps of joint states."""

    def __init__(self, node: Node, joints: Sequence[str]) -> None:
        """Subscribe."""
        self._reader = JointStateReader(joints, required=('position',))
        self._rows: deque[tuple[float, Array]] = deque()
        self._subscription = node.create_subscription(
            JointState, 'joint_states', self._on_state, MONITOR_QOS
        )
        self._node = node

    def _on_state(self, message: JointState) -> None:
        before = self._rows[-1][0] if self._rows else -np.inf
        if self._reader.read(message) or self._reader.stamp <= before:
            return
        self._rows.append((self._reader.stamp, self._reader.position.copy()))
        while len(self._rows) > 2 and self._reader.stamp - self._rows[1][0] >= WINDOW:
            self._rows.popleft()

    @property
    def known(self) -> bool:
        """True if a velocity can be computed."""
        return bool(self._rows) and self._rows[-1][0] - self._rows[0][0] >= WINDOW

    @property
    def velocity(self) -> Array:
        """Shape (n,), in [rad/s] or [m/s]."""
        (first, begin), (last, end) = self._rows[0], self._rows[-1]
        return np.asarray((end - begin) / (last - first))

    @property
    def position(self) -> Array:
        """Position now, shape (n,), in [rad] or [m]."""
        stamp, position = self._rows[-1]
        age = 1e-9 * self._node.get_clock().now().nanoseconds - stamp
        return np.asarray(position + self.velocity * np.clip(age, 0.0, WINDOW))

    @property
    def at_rest(self) -> bool:
        """True if no joint moves."""
        slow = 0.02  # rad/s or m/s
        return self.known and bool(np.abs(self.velocity).max() < slow)

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)


async def stop_robot(node: Node, background: Background, moved_by: NodePresence) -> str:
    """Replace the trajectory of a node that has ended by one that brakes the robot.

    :param moved_by: last message of that node about itself
    :return: the result, as the end of a sentence
    """
    topic = moved_by.command_topic
    if not topic:
        return 'its set points ended with it'
    publisher = node.create_publisher(JointTrajectory, topic, 10)
    measured = MeasuredMotion(node, moved_by.joints)
    try:
        limit = np.array(moved_by.max_acceleration)
        text = f'joint states and a controller at {topic}'
        ready = lambda: measured.known and publisher.get_subscription_count() > 0  # noqa: E731
        await until(background, ready, DISCOVERY, text, lambda: '')
        for _ in range(5):  # a controller that subscribes best effort may lose one
            points = braking(moved_by.joints, measured.position, measured.velocity, limit)
            publisher.publish(to_message(points))
            if await _at_rest(background, measured, float(points.time[-1])):
                return f'the robot was stopped through {topic}'
    except RobodynError as error:
        return f'THE ROBOT COULD NOT BE STOPPED: {error}'
    finally:
        measured.close()
        node.destroy_publisher(publisher)
    return f'THE ROBOT STILL MOVES although braking was commanded through {topic}'


async def _at_rest(background: Background, measured: MeasuredMotion, braking_time: float) -> bool:
    begin = time.monotonic()

    def done() -> bool:
        return time.monotonic() > begin + braking_time + WINDOW and measured.at_rest

    try:
        # 2 s for the delays of the controller: after that the motion may have been lost.
        await until(background, done, braking_time + 2.0, 'rest', lambda: '')
    except WaitError:
        return False
    return True
