"""Trajectory mode without DDS: what comes while a trajectory is planned, in which order."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.msg')
from feedforward_client import MODEL, VALUES, arrays, message
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort_declaration import EffortDeclaration
from robodyn_ros.control.feedforward import FeedforwardSettings
from robodyn_ros.control.model_torque import ModelTorque
from robodyn_ros.control.state_watch import StateWatch
from robodyn_ros.nodes.feedforward_trajectory import TrajectoryMode

EFFORT = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}


class FakeNode:
    """Keeps what is published; its timers fire when the test says."""

    def __init__(self):
        self.sent = []
        self.now = 10**18

    def create_publisher(self, _, topic, __):
        return SimpleNamespace(
            publish=self.sent.append,
            topic_name=f'/{topic}',
            get_subscription_count=lambda: 0,
            wait_for_all_acked=lambda _: None,
        )

    def create_subscription(self, *_, **__):
        pass

    def create_timer(self, *_, **__):
        return SimpleNamespace(cancel=lambda: None, reset=lambda: None)

    def get_subscriptions_info_by_topic(self, _):
        listener = SimpleNamespace(reliability=ReliabilityPolicy.RELIABLE)
        return [SimpleNamespace(qos_profile=listener)]

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=self.now))

    def get_logger(self):
        return SimpleNamespace(error=lambda _: None, warning=lambda _: None)


@pytest.fixture
def node():
    return FakeNode()


@pytest.fixture
def mode(node):
    mode = TrajectoryMode(node, hold_at_end=False)
    settings = FeedforwardSettings(joints=MODEL.joint_names, max_torque=[200.0, 100.0])
    effort = EffortDeclaration.from_mapping(EFFORT).for_joints(MODEL.joints)
    states = StateWatch(width=2, timeout=0.0)
    mode.use(ModelTorque(MODEL, VALUES), settings, effort, states)
    mode.begin(True)
    return mode


def given(duration):
    return serialize_message(message(duration=duration))


def efforts(node):
    return [arrays(deserialize_message(each, JointTrajectory))[4] for each in node.sent]


def test_a_trajectory_leaves_when_all_that_came_before_it_has_been_read(mode, node):
    mode._on_trajectory(given(1.0))
    assert not node.sent
    mode._send_waiting()
    mode._send_waiting()
    assert len(node.sent) == 1 and np.abs(efforts(node)[0]).max() > 1.0 and mode.applied


def test_it_is_refused_when_the_controller_was_told_something_else_meanwhile(mode, node):
    mode._on_trajectory(given(1.0))
    mode._on_left('a goal')
    mode._send_waiting()
    assert not node.sent and not mode.applied
    assert mode.refusal == 'trajectory refused: while it was planned, a goal' and mode.refused == 1
    mode._on_left('another goal')
    assert mode.refused == 1
    mode._on_trajectory(given(1.0))
    mode._send_waiting()
    assert len(node.sent) == 1


def test_trajectories_that_come_at_once_leave_in_their_order(mode, node):
    for duration in (1.0, 2.0, 3.0):
        mode._on_trajectory(given(duration))
    mode._send_waiting()
    lengths = [len(effort) for effort in efforts(node)]
    assert len(lengths) == 3 and lengths == sorted(lengths)


@pytest.mark.parametrize('stop', ['disable', 'finish'])
def test_a_disable_that_comes_while_it_is_planned_takes_its_torque_out(mode, node, stop):
    mode._on_trajectory(given(2.0))
    getattr(mode, stop)()
    mode._send_waiting()
    whole, rest = efforts(node)
    assert whole.any() and not rest[-500:].any()
    node.now += int(0.5e9)
    assert not mode.applied
