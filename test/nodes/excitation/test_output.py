# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace

import numpy as np
import pytest
from excitation_client import HOME, JOINTS, motion
from fake_node import FakeNode
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.nodes.base.best_effort import LARGEST
from robodyn_ros.nodes.excitation.output import STOP_SPACING, Output
from robodyn_ros.wire.trajectory import read_trajectory


@pytest.fixture
def node():
    """A node whose topics have no subscriber yet."""
    node = FakeNode()
    node.listeners, node.reliability = 0, ReliabilityPolicy.BEST_EFFORT
    return node


def output(node, kind='trajectory'):
    return Output(node, SimpleNamespace(output=kind, topic='commands', point_spacing=0.02), JOINTS)


def test_trajectories_setpoints_and_holds(node):
    out = output(node)
    sent = node.published['commands']
    out.send(out.message(motion()), 3_000_000_007)
    message = deserialize_message(sent[0], JointTrajectory)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (3, 7)
    at = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
    expected = motion().sample(np.array(at))
    for point, position, velocity, acceleration in zip(
        message.points, expected.position, expected.velocity, expected.acceleration, strict=True
    ):
        np.testing.assert_allclose(point.positions, position)
        np.testing.assert_allclose(point.velocities, velocity, atol=1e-9)
        np.testing.assert_allclose(point.accelerations, acceleration, atol=1e-9)
        assert not point.effort
    assert np.diff(at).max() <= 0.02 + 1e-8
    stop = read_trajectory(out.message(motion(), stop=True))
    assert len(stop.time) >= 2.5 / STOP_SPACING
    out.hold(np.array(HOME))
    held = deserialize_message(sent[1], JointTrajectory)
    assert (held.joint_names, held.header.stamp.sec) == (list(JOINTS), 0)
    assert [list(p.positions) for p in held.points] == [HOME, HOME]
    assert [list(p.velocities) for p in held.points] == [[0.0] * len(HOME)] * 2
    assert [p.time_from_start.nanosec for p in held.points] == [0, 10**8]
    output(node, 'stream').stream(np.array(HOME))
    assert list(node.published['commands'][0].data) == HOME


def test_nobody_listens(node):
    out = output(node)
    with pytest.raises(ControlError, match='/commands has no subscriber'):
        out.check_heard()
    node.listeners = 1
    out.check_heard()


def test_a_long_motion_to_a_best_effort_controller_has_fewer_points(node):
    out = output(node)
    assert out.spacing(600.0) == 0.02
    node.listeners = 1
    assert out.spacing(2.5) == 0.02
    long, fast = (
        SineMotion(
            joints=JOINTS, start=HOME, target=[0.2] * len(JOINTS), frequency=frequency,
            duration=200.0,
        )
        for frequency in (0.3, 8.0)
    )  # fmt: skip
    size = len(out.message(long))
    with pytest.raises(ControlError, match=r'200 s is too long .* off its way'):
        out.message(fast)
    assert len(read_trajectory(out.message(fast, stop=True)).time)
    assert 0.5 * LARGEST < size <= LARGEST
    assert output(node, 'stream').spacing(600.0) == 0.02
