# SPDX-License-Identifier: Apache-2.0
"""Changes of the state are published at once, all else with the rate."""

from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time

from robodyn_ros.errors import Fault
from robodyn_ros.nodes.collision_monitor.state_topic import StateTopic

CHANGES = {
    'level': ('detector', np.array([1, 3], dtype=np.uint8)),
    'latched': ('detector', True),
    'message': ('detector', Fault('state_frozen', 'frozen')),
    'muted': ('node', True),
}


class Monitor:
    """A monitor of two joints without ROS, at a time that tests set."""

    def __init__(self, clock, rate, stale_timeout=1e9):
        self.clock, self.sent = clock, []
        self.node = SimpleNamespace(
            state_rate=rate, muted=False, events=SimpleNamespace(used=False),
            create_lifecycle_publisher=lambda *_: SimpleNamespace(publish=self.note),
        )  # fmt: skip
        self.detector = SimpleNamespace(
            level=np.ones(2, dtype=np.uint8), torque_error=np.zeros(2), threshold=np.ones(2),
            latched=False, message='ok', settings=SimpleNamespace(stale_timeout=stale_timeout),
        )  # fmt: skip
        self.inputs = SimpleNamespace(
            fresh=True, state=SimpleNamespace(position=np.array([0.5, -0.5]))
        )
        self.topic = StateTopic(self.node)
        self.topic.build(SimpleNamespace(joints=('a', 'b')), None, self.detector)

    def note(self, message):
        self.sent.append((self.clock[0], list(message.position)))

    def run(self, seconds):
        for _ in range(round(seconds / 0.002)):
            self.clock[0] += 0.002
            self.topic.publish(self.detector, self.inputs, Time())


@pytest.mark.parametrize('what', CHANGES)
def test_each_change_is_published_at_once(clock, what):
    monitor = Monitor(clock, rate=0.001)
    monitor.run(0.1)
    owner, value = CHANGES[what]
    setattr(getattr(monitor, owner), what, value)
    monitor.run(0.1)
    assert [round(time - clock[0] + 0.1, 3) for time, _ in monitor.sent[1:]] == [0.002]


def test_the_topic_is_never_silent_for_longer_than_stale_timeout(clock):
    monitor = Monitor(clock, rate=1.0, stale_timeout=0.05)
    monitor.run(1.0)
    assert np.diff([time for time, _ in monitor.sent]).max() < 0.03


def test_positions_are_nan_as_soon_as_they_are_old(clock):
    monitor = Monitor(clock, rate=0.0, stale_timeout=0.05)
    monitor.run(0.002)
    monitor.inputs.fresh = False
    monitor.run(0.002)
    (_, known), (_, unknown) = monitor.sent
    assert known == [0.5, -0.5] and np.isnan(unknown).all()
