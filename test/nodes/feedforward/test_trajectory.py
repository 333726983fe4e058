# SPDX-License-Identifier: Apache-2.0
"""Trajectories through the feed-forward node, a process of its own, over real DDS."""

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from feedforward_client import (
    DELAY,
    MODEL,
    NAMES,
    PERIOD,
    VALUES,
    Trajectories,
    arrays,
    message,
    ramped_out,
)
from node_process import closed, joint_state
from ros_client import details

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with closed(Trajectories(tmp_path_factory.mktemp('feedforward'), 1)) as node:
        yield node


def test_trajectory_effort_is_model_torque_three_cycles_earlier(node):
    stamp = node.process.stamp(10.0)
    out = node.sent(message(names=NAMES, stamp=stamp))
    assert (out.header.stamp.sec, out.header.stamp.nanosec) == (stamp // 10**9, stamp % 10**9)
    assert list(out.joint_names) == NAMES
    at, q, qd, qdd, effort = arrays(out)
    np.testing.assert_allclose(np.diff(at), PERIOD, atol=2e-9)
    expected = MODEL.torque(q, qd, qdd, VALUES)
    begin = round(0.1 / PERIOD) + DELAY
    end = round(1.0 / PERIOD)
    np.testing.assert_allclose(
        effort[begin + DELAY : end + DELAY], expected[begin:end], rtol=1e-9, atol=1e-9
    )
    # The end: a straight ramp from gravity and the friction of the motion to zero, at rest.
    turned = np.sign(qd[end - 1])[None]
    last = MODEL.torque(q[-1:], 1e-9 * turned, 0.0 * turned, VALUES)
    ramp = effort[end + DELAY + 1 :]
    assert len(ramp) == 50
    share = np.arange(49, -1, -1)[:, None] / 50.0
    # The acceleration ends at once with the motion, which the rate limit makes last a sample.
    np.testing.assert_allclose(ramp[2:], (last * share)[2:], rtol=1e-6)
    assert not effort[-1].any()
    assert not qd[end:].any()


def break_nan(trajectory):
    trajectory.points[7].positions[1] = float('nan')


def break_past(trajectory):
    trajectory.header.stamp = Time(sec=1000)


BROKEN = {break_nan: 'position of joint', break_past: 'before it arrived'}


def test_trajectories_without_valid_torque_are_refused_whole(node):
    node.out.clear()
    for spoil, text in BROKEN.items():
        broken = message()
        spoil(broken)
        node.trajectory.publish(broken)
        node.process.wait(lambda text=text: text in node.process.log.read_text(), text)
    status = node.process.status()
    assert details(status)['refused'] == str(len(BROKEN))
    assert status.message.startswith('trajectory refused: ')
    assert not node.out


def test_torque_state_follows_the_running_trajectory_and_disable_takes_the_torque_away(node):
    process = node.process
    stamp = node.process.stamp()
    at, q, qd, qdd, effort = arrays(node.sent(message(stamp=stamp, duration=20.0)))
    feedback = np.array([1.0, 2.0])
    joint = joint_state(NAMES, 1e-9 * stamp + 3.001, effort=feedback)
    node.joint_states.publish(joint)
    state = node.answer(lambda at: at == joint.header.stamp)
    expected = [np.interp(3.001, at, column) for column in effort.T]
    np.testing.assert_allclose(state.additive_command, expected, atol=1e-5)
    np.testing.assert_array_equal(state.feedback, feedback)
    np.testing.assert_allclose(state.error, np.array(expected) - feedback, atol=1e-5)
    requested = MODEL.torque(q[1500:1502], qd[1500:1502], qdd[1500:1502], VALUES)
    # 3.001 s is half way between two samples; a stamp of 1.8e9 s is known to 0.2 us
    np.testing.assert_allclose(state.requested, requested.mean(axis=0), rtol=1e-6)
    assert state.enabled

    node.out.clear()
    assert process.enable(False).success
    process.wait(lambda: node.out, 'the rest of the trajectory')
    out = node.out[-1]
    assert out.header.stamp.sec == stamp // 10**9
    rest, position, _, _, faded = arrays(out)
    assert 1e-9 * (process.stamp() - stamp) < rest[0] + 2.0
    row = np.searchsorted(at, rest[0] - 1e-6)
    np.testing.assert_allclose(position, q[row : row + len(position)], atol=1e-12)
    assert np.abs(np.diff(faded, axis=0)).max() < 200.0 / 50 * 1.001
    assert ramped_out(out)
    # A trajectory that comes now starts from what is left of the torque, a later one from zero.
    process.wait(lambda: 1e-9 * (process.stamp() - stamp) > rest[0] + 0.6, 'the end of the ramp')
    _, *fields = arrays(node.sent(message(stamp=node.process.stamp())))
    assert not fields[3].any()
    assert process.enable(True).success


def test_interrupt_takes_the_torque_out_of_a_running_motion(node):
    node.sent(message(stamp=node.process.stamp(), duration=20.0))
    node.process.spin(0.3)
    node.out.clear()
    assert node.process.interrupt() == 0
    node.process.wait(lambda: node.out, 'the rest of the trajectory')
    assert ramped_out(node.out[-1])
