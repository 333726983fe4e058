# SPDX-License-Identifier: Apache-2.0
"""Stop of the robot itself, as an input of the collision monitor."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Bool

from robodyn_ros.nodes.robot.model_node import STREAM_QOS


class RobotStopInput:
    """Latch of a std_msgs/Bool topic that is true while the robot or a drive has stopped itself.

    :ivar latched: True from the first true message until `release`
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Subscribe; '': there is no such topic."""
        self.latched = self._stopped = False
        self.topic = topic
        if topic:
            node.create_subscription(Bool, topic, self._on_message, STREAM_QOS)

    def _on_message(self, message: Bool) -> None:
        self._stopped = bool(message.data)
        self.latched |= self._stopped

    def release(self) -> str:
        """Return '' and clear the latch, or why it must stay."""
        if self._stopped:
            return f'the robot still reports its stop on {self.topic}'
        self.latched = False
        return ''
