# SPDX-License-Identifier: Apache-2.0
"""A ROS node of a test that talks to nodes under test: every wait has an end and a reason."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rclpy
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from simulated_time import SimulatedTime, TestExecutor

from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.suite_node import SuiteNode

PATIENCE = 120.0
"""Longest time for what takes a moment, in [s]: a machine may have much else to do."""
DEEP = 10_000
"""Messages that are kept for a test that was held up."""
HEARD = QoSProfile(depth=DEEP, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Fits every publisher."""


class Sent(NamedTuple):
    """A message, and what its sender says of it.

    :ivar number: how many the sender had sent with it; what is missing was lost on the way
    :ivar time: when it was sent, in [s]; whoever hears it may be late
    """

    message: Any
    number: int
    time: float

    @classmethod
    def of(cls, message: Any, info: Any) -> Sent:
        number, stamp = info['publication_sequence_number'], info['source_timestamp']
        return cls(message, number, 1e-9 * stamp)


def environment(number: int) -> dict[str, str]:
    """Own domain per process under test, so that nothing of another test comes in."""
    return {**os.environ, **describe_domain(number)}


def details(status) -> dict[str, str]:
    """Return the values of a diagnostic status by their keys."""
    return {row.key: row.value for row in status.values}


def joined(surroundings: dict[str, str]) -> Any:
    """Context in the domain of this environment, which becomes that of the test's process.

    There should be one of a domain at a time: where the DDS participants of two contexts meet in
    one process, taking one of them down may never end (Fast DDS 2.14, one in fifty times), inside
    of C, where no time-out of pytest comes. The participant of a node that was destroyed is there
    until the node is collected.
    """
    gc.collect()
    os.environ.update(surroundings)
    context = rclpy.Context()
    rclpy.init(context=context)
    return context


def count_participants() -> int:
    """Return the number of DDS participants of this process: each has a thread of this name."""
    names = [file.read_text() for file in Path('/proc/self/task').glob('*/comm')]
    return sum(name.startswith('dds.ev') for name in names)


class RosClient:
    """The node; `lost` says why waiting has become pointless, '' while it has not.

    :ivar time: the simulated time; None: real time
    """

    def __init__(
        self,
        surroundings: dict[str, str],
        context: Any = None,
        *,
        simulated: bool | SimulatedTime = False,
        follows: bool = False,
    ) -> None:
        """Join the domain of this environment, which becomes that of the test's process.

        :param context: of others in this process and domain, see `joined`
        :param simulated: waiting advances a time of its own, or this one
        :param follows: a simulation waits for this client, see `Followers`
        """
        self._own = context is None
        self.context = context or joined(surroundings)
        given = [Parameter('use_sim_time', value=follows)]
        self.node = SuiteNode(  # few parts, because the executor looks at all of them each time
            'client', context=self.context, parameter_overrides=given,
            start_parameter_services=False, enable_rosout=False,
        )  # fmt: skip
        self._follows = follows
        self.time = SimulatedTime(self.context) if simulated is True else simulated or None
        self._own_time = simulated is True
        self.executor = TestExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self._taken = 0

    def lost(self) -> str:
        return ''

    def said(self) -> str:
        """Return details for the message of a wait in vain."""
        return ''

    def stamp(self, later: float = 0.0) -> int:
        """Return the time of the nodes in [ns], or that after some seconds."""
        now = time.time_ns() if self.time is None else self.time.nanoseconds
        return now + round(1e9 * later)

    def check(self) -> None:
        """Go on only if that makes sense."""
        assert not (problem := self.lost()), problem

    def wait(self, condition, what, timeout=PATIENCE, *, still=False) -> None:
        """Wait until something is so.

        :param still: stop the simulated time meanwhile. DDS discovers in real time; a node under
            test that went on would miss messages of this client
        """
        deadline = time.monotonic() + timeout
        while not condition():
            self.check()
            late = time.monotonic() > deadline
            assert not late, f'waited {timeout} s for {what}\n{self.said()}'
            if still:
                self.executor.take(0.001)
            else:
                self._go_on()

    def _go_on(self) -> None:
        """Call back once; when nothing is ready, advance the time."""
        if self.time is None:
            self.executor.take(0.01)
        elif not self.executor.take(0.0) and not self.time.step():
            self.executor.take(0.001)

    def now(self) -> float:
        """Return the time of the nodes, in [s]."""
        if self._follows:
            return now(self.node)
        return time.time() if self.time is None else self.time.seconds

    def answer(self, publisher, message, received) -> Any:
        """Publish a message; return what is received with its stamp."""
        before = len(received)
        publisher.publish(message)

        def found():
            new = received[before:]
            return [each for each in new if each.header.stamp == message.header.stamp]

        self.wait(found, 'the answer to a message')
        return found()[0]

    def drain(self) -> None:
        """Take what has come; by trips, not by time: this process may stand still, too."""
        idle, deadline = 0, time.monotonic() + PATIENCE
        while idle < 20 and time.monotonic() < deadline:
            before = self._taken
            self.executor.take(0.002)
            idle = idle + 1 if self._taken == before else 0

    def spin(self, seconds: float) -> None:
        """Let this time pass."""
        end = self.now() + seconds
        self.wait(lambda: self.now() >= end, f'{seconds} s')

    def listen(self, kind, topic, qos=HEARD) -> list:
        rows: list = []

        def take(message):
            rows.append(message)
            self._taken += 1

        self.node.create_subscription(kind, topic, take, qos)
        return rows

    def publisher(self, kind, topic, name, qos=10):
        """A publisher that this node, and at least one subscriber, know."""
        publisher = self.node.create_publisher(kind, topic, qos)
        heard = publisher.get_subscription_count
        self.wait(lambda: heard() > 0, f'a subscriber of {topic}', still=True)
        self.known_to(name)
        return publisher

    def known_to(self, name: str) -> None:
        """Wait until a node has heard of every publisher and subscription made here so far.

        That a publisher knows the node does not say it: what best effort sends is lost until the
        node knows the publisher, too. DDS announces what a process makes in that order, and who
        answers a client has heard of it: so the answer to a new one says it of all before.
        """
        service = f'{name}/get_parameters'
        client = self.node.create_client(GetParameters, service)
        self._answer(client, GetParameters.Request(), service, still=True)
        self.node.destroy_client(client)

    def call(self, kind, service, request, *, still=False):
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        return self._answer(self._clients[service], request, service, still=still)

    def set_parameter(self, node: str, name: str, value) -> SetParametersResult:
        """Set a parameter of a node; return its answer."""
        parameter = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[parameter])
        return RosClient.call(self, SetParameters, f'{node}/set_parameters', request).results[0]

    def _answer(self, client, request, service, *, still=False):
        self.wait(client.service_is_ready, service, still=still)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}', still=still)
        return future.result()

    def close(self) -> None:
        if self._own_time:
            self.time.close()
        self.executor.shutdown()
        self.node.destroy_node()
        if self._own:
            rclpy.shutdown(context=self.context)


class Ear:
    """A topic of hundreds of messages a second, taken when somebody looks.

    An executor makes a trip for each of them, and falls behind.
    """

    def __init__(self, node, kind, topic, qos=HEARD, *, read=lambda message: message, **options):
        """Begin to listen.

        :param node: one that no executor has
        :param read: what is kept of a message
        """
        self._subscription = node.create_subscription(kind, topic, read, qos, **options)
        self._read = read
        self._rows: list[Sent] = []

    def rows(self) -> list[Sent]:
        """All that came since it was told to forget."""
        handle, kind = self._subscription.handle, self._subscription.msg_type
        with handle:
            while taken := handle.take_message(kind, self._subscription.raw):
                row = Sent.of(*taken)
                self._rows.append(row._replace(message=self._read(row.message)))
        return self._rows

    def last(self) -> Any:
        """The last message; None: there is none yet."""
        rows = self.rows()
        return rows[-1].message if rows else None

    def forget(self, *, kept: int = 1) -> None:
        """All but the last."""
        rows = self.rows()
        del rows[: len(rows) - kept]


def steps(rows: list[Sent], values) -> tuple[np.ndarray, np.ndarray]:
    """Change from each message to the next, and how many sendings lie between: shape (N - 1, n).

    :param values: what is looked at of a message, a row of n numbers
    """
    data = np.array([values(row.message) for row in rows])
    between = np.diff([row.number for row in rows])
    return np.diff(data, axis=0), between[:, None]
