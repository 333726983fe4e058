# SPDX-License-Identifier: Apache-2.0
"""A node without DDS: it keeps what is published, and time is what the test says."""

from types import SimpleNamespace

from rclpy.qos import ReliabilityPolicy


class FakeNode:
    """The part of a node that both modes of the feed-forward use.

    :ivar published: messages by topic
    :ivar told: lines of the log
    :ivar publishers: number of publishers of any topic
    """

    def __init__(self):
        self.published, self.told, self.timer_clocks = {}, [], []
        self.publishers = 1

    def create_publisher(self, _, topic, __):
        rows = self.published[topic] = []
        return SimpleNamespace(
            publish=rows.append,
            topic_name=f'/{topic}',
            get_subscription_count=lambda: 1,
            wait_for_all_acked=lambda _: True,
        )

    def create_subscription(self, *_, **__):
        pass

    def create_timer(self, *_, clock=None):
        self.timer_clocks.append(clock and clock.clock_type)
        return SimpleNamespace(cancel=lambda: None, reset=lambda: None)

    def count_publishers(self, _):
        return self.publishers

    def get_subscriptions_info_by_topic(self, _):
        listener = SimpleNamespace(reliability=ReliabilityPolicy.RELIABLE)
        return [SimpleNamespace(qos_profile=listener)]

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=10**18))

    refusals = SimpleNamespace(say=lambda _: None)

    def get_logger(self):
        told = self.told.append
        return SimpleNamespace(error=told, warning=told, info=told)
