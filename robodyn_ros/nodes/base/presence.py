# SPDX-License-Identifier: Apache-2.0
"""Presence of nodes that depend on each other; an end is noticed within LEASE + GRACE seconds.

A node with a `Presence` publishes a latched message with automatic liveliness. The threads of the
middleware maintain it, so that a long computation does not count as the end of the node, but a
killed or stopped process does. Without it, DDS waits 20 s.

A node creates it after its services, and DDS announces them in this order. The services of a dead
predecessor look ready for 20 s, but after its presence a node's services are there.
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

from robodyn_ros.errors import NO_FAULT, ConfigError, ControlError, Fault
from robodyn_ros.faults import number_of
from robodyn_ros.msg import NodePresence

LEASE = 4.0
"""Time without a sign of life after which a process counts as dead, in [s].

DDS sends one every two thirds of it; the remainder allows for a busy machine.
"""
GRACE = 2.0
"""Real time in which a sign of life that was only late may still come, in [s]."""
MISSING = 10.0
"""Real time without a sign of life after which a node counts as missing, and a computation that
was cancelled as hanging, in [s]: on a busy machine they take a few seconds."""

UNKNOWN = '_NODE_NAME_UNKNOWN_', '_NODE_NAMESPACE_UNKNOWN_'
"""Name and namespace of a node that the middleware has not discovered yet: it may have any."""


def _qos() -> QoSProfile:
    return QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=LEASE),
    )


class Presence:
    """Publisher of a node's sign of life and the state of its work."""

    def __init__(
        self,
        node: Node,
        *,
        command_topic: str = '',
        joints: Sequence[str] = (),
        max_acceleration: Sequence[float] = (),
    ) -> None:
        """Publish on ~/presence.

        :param max_acceleration: of these joints, in [rad/s^2] or [m/s^2]
        """
        self._message = NodePresence(
            process=uuid.uuid4().hex,
            command_topic=command_topic,
            joints=list(joints),
            max_acceleration=[float(value) for value in max_acceleration],
        )
        self._node, self._other = node, ''
        self._publisher = node.create_publisher(NodePresence, '~/presence', _qos())
        self._subscription = node.create_subscription(
            NodePresence, '~/presence', self._on_message, _qos()
        )
        self._publisher.publish(self._message)

    def _on_message(self, message: NodePresence) -> None:
        if message.process not in (self._message.process, self._other):
            self._other = message.process
            if self._count() > 1:
                self._node.get_logger().error(self._describe_double())

    def _describe_double(self) -> str:
        name = self._node.get_fully_qualified_name()
        return (
            f'{self._count()} nodes are named {name}, each acts on every request: end one '
            'of them (one that was killed counts for 20 s more)'
        )

    def _count(self) -> int:
        """Return the publishers of nodes with this name: others may publish on the topic, too."""
        node = self._node
        names = {(node.get_name(), node.get_namespace()), UNKNOWN}
        infos = node.get_publishers_info_by_topic(self._publisher.topic_name)
        return sum((each.node_name, each.node_namespace) in names for each in infos)

    def check_alone(self) -> None:
        """Refuse work while another node with this name lives.

        Counted by messages and publishers, not by signs of life: once this process has stood still
        for longer than LEASE, Fast DDS never counts its own again, so that two look like one.

        :raises ControlError: one does, or was killed less than 20 s ago
        """
        if self._other and self._count() > 1:
            raise ControlError(self._describe_double(), fault='node_doubled')

    def tell(self, work: str, problem: Fault = NO_FAULT) -> None:
        """Publish the work of the node, and the reason if it ended early."""
        if (work, problem) != (self._message.work, self._message.problem):
            self._message.work, self._message.problem = work, problem
            self._message.fault_code = number_of(problem)
            self._publisher.publish(self._message)


class Watch:
    """Supervision of another node, from `begin` on.

    :ivar message: its last message; None: there is none yet
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
        self._unsure = False  # the process that lives may be another than that of the message
        arguments: tuple[Any, ...] = (NodePresence, self._topic, self._on_message, _qos())
        events = SubscriptionEventCallbacks(liveliness=self._on_liveliness)
        try:
            try:
                self._subscription = node.create_subscription(*arguments, event_callbacks=events)
                self._alive = 0
            except UnsupportedEventTypeError:  # the graph of nodes shows it too, but later
                self._subscription = node.create_subscription(*arguments)
        except InvalidTopicNameException as error:
            raise ConfigError(f'{name!r} is not the name of a node: {error}') from error
        self.begin()

    def begin(self) -> None:
        """Supervise from now on; earlier events do not count."""
        known = self.message is not None and self._living() > 0
        self._process = self.message.process if known and self.message else ''
        self._gone, self._lost, self._unsure = False, float('inf'), False
        self._deadline = time.monotonic() + MISSING  # DDS discovers in real time

    @property
    def seen(self) -> bool:
        """Return True if the node lives and its message was received."""
        return bool(self._process) and self._living() > 0

    def _living(self) -> int:
        if self._alive is None:
            return int(self._node.count_publishers(self._topic))
        return self._alive

    def problem(self) -> Fault:
        """Return a sentence if the node has ended or was not discovered; NO_FAULT otherwise."""
        if self._alive is None and self._process and not self._living():
            self._gone = True
        if time.monotonic() > self._lost + GRACE:  # DDS counts real time, too
            self._gone = True
        if self._gone:
            return Fault('node_missing', f'node {self.name} is gone')
        if not self._process and time.monotonic() > self._deadline:
            text = f'node {self.name} is not there after {MISSING:.0f} s: is it running?'
            return Fault('node_missing', text)
        return NO_FAULT

    def _on_liveliness(self, event: Any) -> None:
        self._alive = event.alive_count
        if self._alive:
            self._lost = float('inf')
            if not self._process and self.message is not None:  # each process sends one, once
                self._process, self._unsure = self.message.process, True
        elif event.alive_count_change < 0:
            self._lost = time.monotonic()

    def _on_message(self, message: NodePresence) -> None:
        self.message = message
        if self._unsure or not self._process:
            self._process, self._unsure = message.process, False
        elif message.process != self._process:  # it died and was started anew
            self._gone = True


class Owner:
    """Node that started some work; the work ends with it."""

    def __init__(self, node: Node) -> None:
        """Start without an owner."""
        self._node = node
        self._watches: dict[str, Watch] = {}
        self._watch: Watch | None = None

    def take(self, name: str) -> None:
        """Supervise the owner of the next work.

        :param name: full name of the node; '': a user, who is not supervised
        :raises ConfigError: no node can have this name
        """
        self._watch = None
        if name:
            if name not in self._watches:
                self._watches[name] = Watch(self._node, name)
            self._watch = self._watches[name]
            self._watch.begin()

    def problem(self) -> Fault:
        """Return a sentence if the owner has ended; NO_FAULT while it lives."""
        problem = '' if self._watch is None else self._watch.problem()
        return Fault('owner_gone', f'{problem} (it asked for this)') if problem else NO_FAULT
