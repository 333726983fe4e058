from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2')
from excitation_client import HOME, JOINTS, motion

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.excitation_output import STOP_SPACING, Output, to_stamp


class FakeNode:
    """Gives a publisher that keeps the messages."""

    topic_name = '/commands'

    def __init__(self):
        self.sent = []
        self.listeners = 0

    def create_publisher(self, *_):
        return self

    def publish(self, message):
        self.sent.append(message)

    def get_subscription_count(self):
        return self.listeners


@pytest.fixture
def node():
    return FakeNode()


def output(node, kind='trajectory'):
    return Output(node, SimpleNamespace(output=kind, topic='commands', spacing=0.02), JOINTS)


def test_trajectories_setpoints_and_holds(node):
    out = output(node)
    message = out.message(motion())
    out.send(message, 3_000_000_007)
    assert node.sent[0].header.stamp == to_stamp(3_000_000_007)
    assert (node.sent[0].header.stamp.sec, node.sent[0].header.stamp.nanosec) == (3, 7)
    at = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
    expected = motion().sample(np.array(at))
    np.testing.assert_allclose([p.positions for p in message.points], expected.position)
    assert np.diff(at).max() <= 0.02 + 1e-8
    assert len(out.message(motion(), stop=True).points) >= 2.5 / STOP_SPACING
    out.hold(np.array(HOME))
    assert [list(p.positions) for p in node.sent[1].points] == [HOME, HOME]
    output(node, 'stream').stream(np.array(HOME))
    assert list(node.sent[2].data) == HOME


def test_nobody_listens(node):
    out = output(node)
    with pytest.raises(ControlError, match='nobody listens to /commands'):
        out.check_heard()
    node.listeners = 1
    out.check_heard()
