"""Presence of nodes that depend on each other: who died is noticed within LEASE seconds.

A node with a `Presence` publishes a latched message with an automatic liveliness. The middleware
keeps that up from its threads, so a node that computes for long is not taken for dead, and a
process that is killed or stopped is: without this, DDS waits 20 s.

A node creates it after its services. DDS announces them in this order, and the services of a dead
predecessor look ready for 20 s: who has seen the presence has seen the services.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from rclpy.duration import Duration
from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

from robodyn_ros.errors import ConfigError
from robodyn_ros.msg import NodePresence

LEASE = 4.0
"""A process without a sign of life for this long is dead, in [s].

DDS gives one every two thirds of it; the remainder is what a busy machine may hold a process up.
"""
DISCOVERY = 10.0
"""A node that has not been discovered after this time is not there, in [s]."""


def _qos() -> QoSProfile:
    return QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=LEASE),
    )


class Presence:
    """Publishes that the node lives, and what became of its work."""

    def __init__(
        self,
        node: Node,
        *,
        command_topic: str = '',
        joints: Sequence[str] = (),
        max_acceleration: Sequence[float] = (),
    ) -> None:
        """Publish on ~/presence.

        :param command_topic: of the trajectories that the node sends
        :param joints: of these trajectories
        :param max_acceleration: of these joints, in [rad/s^2] or [m/s^2]
        """
        self._message = NodePresence(
            process=uuid.uuid4().hex,
            command_topic=command_topic,
            joints=list(joints),
            max_acceleration=[float(value) for value in max_acceleration],
        )
        self._publisher = node.create_publisher(NodePresence, '~/presence', _qos())
        self._publisher.publish(self._message)

    def tell(self, work: str, problem: str = '') -> None:
        """Publish what the node works on, and why that ended early, if it did."""
        if (work, problem) != (self._message.work, self._message.problem):
            self._message.work, self._message.problem = work, problem
            self._publisher.publish(self._message)


class Watch:
    """Watches one other node from `begin` on.

    :ivar message: what it published last; None: nothing yet
    """

    def __init__(self, node: Node, name: str) -> None:
        """Subscribe to its presence.

        :param name: of the node, relative to the namespace or absolute
        :raises ConfigError: no node can have this name
        """
        self.name = name.lstrip('/')
        self.message: NodePresence | None = None
        self._node, self._topic = node, f'{name}/presence'
        self._alive: int | None = None
        arguments: tuple[Any, ...] = (NodePresence, self._topic, self._on_message, _qos())
        events = SubscriptionEventCallbacks(liveliness=self._on_liveliness)
        try:
            try:
                self._subscription = node.create_subscription(*arguments, event_callbacks=events)
                self._alive = 0
            except UnsupportedEventTypeError:  # then the graph of nodes tells, later
                self._subscription = node.create_subscription(*arguments)
        except InvalidTopicNameException as error:
            raise ConfigError(f'{name!r} is not the name of a node: {error}') from error
        self.begin()

    def begin(self) -> None:
        """Watch from now on; what was before does not count."""
        known = self.message is not None and self._living() > 0
        self._process = self.message.process if known and self.message else ''
        self._gone = False
        self._deadline = time.monotonic() + DISCOVERY

    @property
    def seen(self) -> bool:
        """Tell whether the node lives and has said what it is."""
        return bool(self._process) and self._living() > 0

    def _living(self) -> int:
        if self._alive is None:
            return int(self._node.count_publishers(self._topic))
        return self._alive

    def problem(self) -> str:
        """Say that the node is gone, or not there at all; '' while it lives."""
        if self._alive is None and self._process and not self._living():
            self._gone = True
        if self._gone:
            return f'node {self.name} is gone'
        if not self._process and time.monotonic() > self._deadline:
            return f'node {self.name} is not there after {DISCOVERY:.0f} s: is it running?'
        return ''

    def _on_liveliness(self, event: Any) -> None:
        self._alive = event.alive_count
        if not self._alive and event.alive_count_change < 0:
            self._gone = True

    def _on_message(self, message: NodePresence) -> None:
        self.message = message
        if self._process and message.process != self._process:  # it died and was started anew
            self._gone = True
        self._process = self._process or message.process


class Owner:
    """The node for which a work is done; without it, the work ends."""

    def __init__(self, node: Node) -> None:
        """Nobody owns the work yet."""
        self._node = node
        self._watches: dict[str, Watch] = {}
        self._watch: Watch | None = None

    def take(self, name: str) -> None:
        """Watch the owner of the next work.

        :param name: full name of the node; '': a user, who is not watched
        :raises ConfigError: no node can have this name
        """
        self._watch = None
        if name:
            if name not in self._watches:
                self._watches[name] = Watch(self._node, name)
            self._watch = self._watches[name]
            self._watch.begin()

    def problem(self) -> str:
        """Say that the owner is gone; '' while it lives."""
        problem = '' if self._watch is None else self._watch.problem()
        return f'{problem} (it asked for this)' if problem else ''
