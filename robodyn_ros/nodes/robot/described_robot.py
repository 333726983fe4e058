# SPDX-License-Identifier: Apache-2.0
"""URDF of a node: parameters robot_description and urdf, or the topic robot_description."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from robodyn_ros.bounds import TEXT, check_bound, read_text
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import LATCHED_QOS, declare, overrides
from robodyn_ros.paths import resource
from robodyn_ros.xacro_file import expand_xacro, is_xacro, locate_file

TOPIC = 'robot_description'


def robot_description(node: Node, *, wanted: bool = True) -> str:
    """Return the URDF text of the robot.

    The sources are parameter `robot_description`, the file of parameter `urdf`, or the topic
    `robot_description`, on which robot_state_publisher and drivers publish. A URDF from the
    topic or a xacro file becomes the value of the parameter `robot_description`.

    :raises ConfigError: there is none, or the file cannot be read
    """
    text = (
        'URDF file, when robot_description is empty; a xacro file where xacro is installed, its '
        'arguments after it'
    )
    path = str(declare(node, 'urdf', '', text, read_only=True))
    longest = declare(
        node, 'robot_description_timeout', 10.0, 'longest wait for the topic robot_description at '
        'the start, if neither robot_description nor urdf is given [s]; 0: do not use it',
        read_only=True, minimum=0.0, maximum=600.0,
    )  # fmt: skip
    override = overrides(node).get('robot_description')
    text = ''
    if override is None or not override.value:
        if is_xacro(path):
            text = expand_xacro(locate_file(path, resource))
        elif not path and wanted and longest:
            text = DescriptionTopic(node).wait(longest)
    declare(node, 'robot_description', text, 'URDF of the robot (XML text)', read_only=True)
    return read_description(node)


def read_description(node: Node) -> str:
    """Return the URDF text of a node that has called `robot_description`.

    :raises ConfigError: there is none, or the file cannot be read
    """
    text, path = (node.get_parameter(name).value for name in ('robot_description', 'urdf'))
    if text:
        return str(text)
    if not path:
        raise ConfigError(
            f'node {node.get_name()!r} needs the robot: give the parameter robot_description '
            f'(URDF text) or urdf (file), or publish the topic {node.resolve_topic_name(TOPIC)} '
            f'(robot_state_publisher)'
        )
    try:
        return read_text(resource(str(path)))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f'parameter urdf: cannot read {path!r}: {error}') from error


def robot_file(node: Node) -> str:
    """Return the text of the URDF, or else the path of its file, or '' without one."""
    text, path = (str(node.get_parameter(name).value) for name in ('robot_description', 'urdf'))
    return text or (str(resource(path)) if path else '')


class DescriptionTopic:
    """Latched topic `robot_description`; a different text after the first one is a warning."""

    def __init__(self, node: Node) -> None:
        """Subscribe."""
        self._text = ''
        self._warn: Callable[[str], Any] = node.get_logger().warning
        self._subscription = node.create_subscription(
            String, TOPIC, self._on_text, LATCHED_QOS, raw=True
        )
        self._name = str(self._subscription.topic_name)

    def wait(self, longest: float) -> str:
        """Return the first text, before the node spins; '' if there is none in time.

        :param longest: in [s]
        :raises BoundError: it is too large
        """
        deadline = time.monotonic() + longest
        while not self._text and time.monotonic() < deadline:
            with self._subscription.handle:
                taken = self._subscription.handle.take_message(String, True)
            if taken:
                self._text = self._read(taken[0])
            else:
                time.sleep(0.02)
        return self._text

    def _read(self, serialised: bytes) -> str:
        check_bound(TEXT, len(serialised), f'topic {self._name}')
        return str(deserialize_message(serialised, String).data)

    def _on_text(self, serialised: bytes) -> None:
        text = self._read(serialised)
        if text != self._text:
            self._warn(
                f'{self._name} has another robot description now; this node keeps the one from '
                f'its start: start it again to use the new one'
            )
            self._text = text
