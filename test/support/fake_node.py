# SPDX-License-Identifier: Apache-2.0
"""A node without DDS: it keeps what is published, and time is what the test says."""

import time
from types import SimpleNamespace

from rclpy.qos import ReliabilityPolicy
from rclpy.task import Future

START = 10**18
"""ROS time at which the steady time is 0, in [ns]."""


class FakeNode:
    """The part of a node that the feed-forward's trajectories use.

    What is published comes back to the subscribers of its topic at once.

    :ivar published: messages by topic
    :ivar subscribers: callback by topic
    :ivar timers: callback by period
    :ivar listeners: number of subscribers of each topic
    :ivar reliability: of them
    :ivar clients: by service; `ready`, and the futures of `calls`
    :ivar said: lines of the log and of refusals
    """

    def __init__(self):
        self.published, self.subscribers, self.timers, self.said = {}, {}, {}, []
        self.clients, self.reliability, self.listeners = {}, ReliabilityPolicy.RELIABLE, 1
        self.refusals = SimpleNamespace(say=self.said.append)

    def create_publisher(self, _, topic, __):
        rows = self.published[topic] = []

        def publish(message):
            rows.append(message)
            self.deliver(topic, message)

        return SimpleNamespace(
            publish=publish,
            topic_name=f'/{topic}',
            get_subscription_count=lambda: self.listeners,
            wait_for_all_acked=lambda _: True,
        )

    def create_subscription(self, _, topic, callback, *__, **___):
        self.subscribers[topic.lstrip('/')] = callback

    def deliver(self, topic, message):
        """Let the subscriber of a topic receive a message."""
        self.subscribers.get(topic, lambda _: None)(message)

    def create_client(self, _, service):
        client = self.clients[service] = SimpleNamespace(ready=True, calls=[], srv_name=service)

        def call(_):
            client.calls.append(Future())
            return client.calls[-1]

        client.service_is_ready = lambda: client.ready
        client.call_async, client.remove_pending_request = call, lambda _: None
        return client

    def create_timer(self, period, callback, **_):
        self.timers[period] = callback
        return SimpleNamespace(cancel=lambda: None, reset=lambda: None)

    def get_subscriptions_info_by_topic(self, _):
        listener = SimpleNamespace(reliability=self.reliability)
        return [SimpleNamespace(qos_profile=listener)] * self.listeners

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=self.nanoseconds))

    @property
    def nanoseconds(self):
        return START + round(1e9 * time.monotonic())

    def get_logger(self):
        say = self.said.append
        return SimpleNamespace(error=say, warning=say, info=say)
