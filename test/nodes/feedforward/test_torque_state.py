# SPDX-License-Identifier: Apache-2.0
"""Old or unusable torque feedback must not look like a measurement."""

from types import SimpleNamespace

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.msg import TorqueState
from sensor_msgs.msg import JointState

from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.nodes.feedforward import torque_state


class FakeNode:
    """Gives a publisher that keeps the messages."""

    def __init__(self):
        self.sent = []
        self.additive = []
        self.listeners = 1

    def create_publisher(self, kind, *_):
        take = self.take if kind is TorqueState else self.additive.append
        return SimpleNamespace(
            get_subscription_count=lambda: self.listeners,
            publish=lambda message: take(deserialize_message(message, kind)),
        )

    def take(self, message):
        self.sent.append((np.array(message.feedback), np.array(message.error)))


def test_feedback_is_nan_before_the_first_and_after_the_last_sample(clock):
    node = FakeNode()
    out = torque_state.TorqueStateOut(node)
    out.prepare(['a', 'b'])
    applied = np.array([1.0, 2.0])

    def publish():
        out.publish((0, 0), applied, applied, True, '')
        return node.sent[-1]

    assert np.isnan(publish()[0]).all()
    message = JointState(name=['b', 'a'], effort=[5.0, 3.0])
    out.read(serialize_message(message), clock[0])
    feedback, error = publish()
    assert feedback.tolist() == [3.0, 5.0]
    assert error.tolist() == [-2.0, -3.0]
    clock[0] += 2.0 * torque_state.STALE
    out.read(b'no message', clock[0])
    feedback, error = publish()
    assert np.isnan(feedback).all()
    assert np.isnan(error).all()
    out.read(serialize_message(message), clock[0])
    assert publish()[0].tolist() == [3.0, 5.0]
    out.read(serialize_message(JointState(name=['b', 'a'], effort=[np.nan, 3.0])), clock[0])
    assert np.isnan(publish()[0]).all()


def test_other_senders_do_not_wipe_the_feedback(clock):
    """A gripper, half of a split arm or a sender of positions alone on the same topic."""
    node = FakeNode()
    out = torque_state.TorqueStateOut(node)
    out.prepare(['a', 'b'])
    own = serialize_message(JointState(name=['a', 'b'], position=[0.0, 1.0], effort=[3.0, 5.0]))
    others = [
        JointState(name=['finger'], position=[0.1], effort=[0.2]),
        JointState(name=['a'], position=[0.1], effort=[np.nan]),
        JointState(name=['a', 'b'], position=[0.1, 0.2]),
    ]
    for other in [serialize_message(message) for message in others] * 2 + [b'no message']:
        assert out.read(own, clock[0])
        assert not out.read(other, clock[0])
        out.publish((0, 0), np.zeros(2), np.zeros(2), True, '')
        assert node.sent[-1][0].tolist() == [3.0, 5.0]
    for _ in range(3):  # they do not keep it alive either
        clock[0] += 0.5 * torque_state.STALE
        out.read(serialize_message(others[0]), clock[0])
        out.publish((0, 0), np.zeros(2), np.zeros(2), True, '')
    assert np.isnan(node.sent[-1][0]).all()
    out.read(own, clock[0])
    out.read(serialize_message(JointState(name=['b', 'a'], effort=[np.inf, 3.0])), clock[0])
    out.publish((0, 0), np.zeros(2), np.zeros(2), True, '')
    assert np.isnan(node.sent[-1][0]).all()


def test_the_applied_torque_is_a_joint_state_too():
    node = FakeNode()
    out = torque_state.TorqueStateOut(node)
    out.prepare(['a', 'b'])
    out.publish((7, 8), np.zeros(2), np.array([1.0, -2.0]), True, '')
    (message,) = node.additive
    assert (message.name, list(message.effort)) == (['a', 'b'], [1.0, -2.0])
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (7, 8)
    assert not message.position and not message.velocity


def test_at_a_low_rate_each_change_is_published_and_the_last_message_tells_of_zero():
    node = FakeNode()
    states = []
    node.take = lambda message: states.append((message.enabled, message.fault, any(
        message.additive_command
    )))  # fmt: skip
    out = torque_state.TorqueStateOut(node, 0.001)
    out.prepare(['a'], delay=7)
    one, zero = np.ones(1), np.zeros(1)
    fault = Fault('torque_threshold', 'too much')
    for applied, enabled, why in (
        (one, True, NO_FAULT), (one, True, NO_FAULT), (one, True, fault), (one, False, fault),
        (0.5 * one, False, fault), (zero, False, fault), (zero, False, fault),
    ):  # fmt: skip
        out.publish((0, 0), one, applied, enabled, why)
    assert states == [
        (True, '', True), (True, 'too much', True), (False, 'too much', True),
        (False, 'too much', False),
    ]  # fmt: skip
