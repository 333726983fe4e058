# SPDX-License-Identifier: Apache-2.0
"""Subscriptions that are read when the node looks at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message


class Tap:
    """One subscription."""

    def __init__(
        self,
        node: Node,
        kind: Any,
        topic: str,
        take: Callable[[Any], None],
        qos: QoSProfile,
        wanted: Callable[[bytes, bool], bool],
    ) -> None:
        """Subscribe."""
        self._kind, self._take, self._wanted, self._depth = kind, take, wanted, qos.depth
        self.subscription = node.create_subscription(kind, topic, take, qos, raw=True)

    def poll(self) -> int:
        """Take what has come since the last call; return the number of refused messages."""
        refused = 0
        with self.subscription.handle:
            waiting = self._next()
            for _ in range(self._depth):
                if waiting is None:
                    break
                data, waiting = waiting, self._next()
                refused += self._read(data, waiting is None)
        return refused

    def _next(self) -> bytes | None:
        message = self.subscription.handle.take_message(self._kind, True)
        return None if message is None else message[0]

    def _read(self, data: bytes, last: bool) -> bool:
        """Deserialise a message and hand it over, if it is wanted; return True if it fails."""
        try:
            if self._wanted(data, last):
                self._take(deserialize_message(data, self._kind))
        except Exception:  # of a sender with another version of the message, or with wrong sizes
            return True
        return False


class Taps:
    """Subscriptions of a hidden node that no executor spins.

    An executor calls Python for each message, which takes 5 to 10 % of a core with three topics of
    500 Hz. Here the middleware keeps the last messages, and `poll` takes them together.
    """

    def __init__(self, node: Node) -> None:
        """Create the hidden node in the context and namespace of a node."""
        self._for = node
        self._node = rclpy.create_node(
            f'_{node.get_name()}_taps',
            context=node.context,
            namespace=node.get_namespace(),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter('start_type_description_service', value=False)],
        )
        self._taps: dict[str, Tap] = {}
        self.refused = 0

    def add(
        self,
        kind: Any,
        topic: str,
        take: Callable[[Any], None],
        qos: QoSProfile,
        wanted: Callable[[bytes, bool], bool] = lambda data, last: True,
    ) -> None:
        """Subscribe, unless this is done; remappings are those of the visible node.

        :param take: called for the wanted messages, oldest first, of those that `qos` keeps
        :param wanted: tells from a serialised message, and True for the last one at present,
            whether it is needed
        """
        if topic not in self._taps:
            name = self._for.resolve_topic_name(topic)
            self._taps[topic] = Tap(self._node, kind, name, take, qos, wanted)

    def remove(self, topic: str) -> None:
        """End a subscription, if there is one."""
        if tap := self._taps.pop(topic, None):
            self._node.destroy_subscription(tap.subscription)

    def poll(self, topic: str = '') -> None:
        """Take what has come since the last call.

        :param topic: take its messages only; '': of all topics
        """
        taps = [self._taps[topic]] if topic else list(self._taps.values())
        self.refused += sum(tap.poll() for tap in taps)

    def close(self) -> None:
        """Remove the hidden node."""
        self._node.destroy_node()
