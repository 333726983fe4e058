# SPDX-License-Identifier: Apache-2.0
"""Streaming mode of the feed-forward node, a process of its own, over real DDS."""

import numpy as np
import pytest
from feedforward_client import (
    DELAY,
    MODEL,
    NAMES,
    PERIOD,
    TIMEOUT,
    VALUES,
    Stream,
    check_commands,
    torques,
)
from lifecycle_msgs.msg import Transition
from node_process import closed, joint_state
from residuals import proportional
from robodyn_ros.msg import TorqueState
from robodyn_ros.srv import LoadModel

pytestmark = pytest.mark.ros
SENT = ('requested', 'additive_command')


@pytest.fixture(scope='module')
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp('stream')
    stream = Stream(folder)
    stream.result = str(folder / 'result.yaml')
    with closed(stream):
        yield stream


def test_streamed_torque_is_that_of_three_references_earlier(stream):
    stream.ready()
    q, qd, torque = stream.run(120)
    qdd = np.diff(qd, axis=0, prepend=qd[:1]) / PERIOD
    expected = MODEL.torque(q, qd, qdd, VALUES)
    np.testing.assert_allclose(torque[60:], expected[60 - DELAY : -DELAY], rtol=1e-4, atol=1e-3)
    assert np.abs(torque[0]).max() < np.abs(torque[-1]).max()
    commands = check_commands(stream.commands)
    np.testing.assert_array_equal(commands[-1], torque[-1])


def refusals(stream):
    values = stream.process.details()
    return int(values['refused']), values['last_refusal']


def test_references_that_cannot_be_used_are_refused_whole_and_counted(stream):
    before, _ = refusals(stream)
    stream.ready()
    stream.run(60)
    sent = len(stream.commands)
    q, qd = stream.motion()
    for bad in (
        joint_state(NAMES, stream.time, [np.nan, 0.0], qd),
        joint_state(NAMES, stream.time, q, [0.0, np.inf]),
        joint_state(NAMES, stream.time, q, qd[:1]),
        joint_state([NAMES[0], 'elbow'], stream.time, q, qd),
        joint_state([NAMES[0]] * 2, stream.time, q, qd),
        joint_state([*NAMES, 'elbow'], stream.time, [*q, 0.0], [*qd, 0.0]),
        joint_state(NAMES, stream.time - 0.9 * PERIOD, q, qd),
        joint_state(NAMES, stream.time - PERIOD, q, qd),
    ):
        stream.reference.publish(bad)
    stream.process.settle()
    assert len(stream.commands) == sent
    stream.run(5)
    count, last = refusals(stream)
    assert count == before + 8
    assert 'its stamp is only 0 s after that of the previous sample' in last


def test_stale_reference_ramps_to_zero_and_latches_until_reset(stream):
    for left in reversed(range(3)):
        stream.ready()
        stream.run(80)
        start = len(stream.commands)
        last = stream.commands[-1]
        stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
        stream.come_to_zero()
        zero = start + int(np.argmin(torques(stream.commands[start:]).any(axis=1)))
        took = stream.commands[zero].time - last.time
        # A machine that stands still meanwhile makes it later.
        if took < TIMEOUT * 1.5 + 0.1 + 0.5 or not left:
            break
    assert TIMEOUT < took < TIMEOUT * 1.5 + 0.1 + 0.5
    ramp = check_commands(stream.commands[start - 1 :])
    np.testing.assert_allclose(
        ramp[1:51], ramp[0] * np.arange(49, -1, -1)[:, None] / 50, atol=1e-9
    )
    assert 'no usable reference' in stream.states[-1].fault
    assert stream.states[-1].fault_code == TorqueState.FAULT_REFERENCE_MISSING
    assert not stream.states[-1].enabled

    assert not stream.process.enable(True).success
    for _ in range(20):
        q, qd = stream.motion()
        stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
        stream.process.spin(0.002)
    stream.process.settle()
    assert not torques(stream.commands[start + 50 :]).any()
    assert 'cleared' in stream.process.reset().message
    check_recovery(stream)


def check_recovery(stream):
    stream.ready()
    start = len(stream.commands)
    _, _, torque = stream.run(80)
    assert torque[-1].any()
    check_commands(stream.commands[start:])


def test_neither_another_activation_nor_another_model_clears_a_fault(stream):
    stream.ready()
    stream.run(5)
    stream.process.wait(lambda: stream.states[-1].fault, 'silence')
    fault = stream.states[-1].fault
    assert stream.process.change(Transition.TRANSITION_DEACTIVATE)
    assert not stream.process.change(Transition.TRANSITION_ACTIVATE)
    request = LoadModel.Request(result_file=stream.result)
    assert stream.process.call(LoadModel, 'load_model', request).success
    assert not stream.process.change(Transition.TRANSITION_ACTIVATE)
    assert stream.process.reset().message == f'cleared: {fault}'
    assert stream.process.change(Transition.TRANSITION_ACTIVATE)
    q, qd = stream.motion()
    stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
    stream.process.wait(
        lambda: stream.states[-1].enabled and not stream.states[-1].fault, 'an enabled state'
    )


def test_deflection_of_the_gears_adds_the_residual_torque_while_it_is_measured(stream):
    stream.ready()
    stream.run(60)

    def added(count, deflection=None):
        before = len(stream.states)
        stream.run(count, deflection=deflection)
        rows = stream.states[before:]
        wanted, sent = (np.array([getattr(row, n) for row in rows]) for n in SENT)
        return sent[DELAY:] - wanted[:-DELAY]

    np.testing.assert_allclose(added(10), 0.0, atol=1e-9)
    deflection = np.array([0.005, -0.002])
    still = np.zeros((1, 2))
    expected = 0.5 * proportional(NAMES).torque(deflection[None], still, still)[0]
    assert (np.abs(expected) > 0.5).all(), 'residual_scale is 0.5 unless set'
    course = added(150, deflection)
    np.testing.assert_allclose(course[-20:], np.tile(expected, (20, 1)), rtol=1e-3)
    assert np.abs(course[0]).max() < 0.2 * np.abs(expected).max(), 'it fades in'
    course = added(80)
    np.testing.assert_allclose(course[-10:], 0.0, atol=1e-9)
    assert np.abs(np.diff(course, axis=0)).max() < 0.1 * np.abs(expected).max(), 'it fades out'
    stream.sides([np.nan, 0.0], deflection)
    stream.process.settle()
    text = stream.process.details()['residual_torque']
    assert 'is nan' in text


def test_scale_changes_while_running(stream):
    set_scale(stream, 1.0)
    stream.ready()
    begin = len(stream.commands)
    stream.run(80)
    set_scale(stream, 0.5)
    _, _, torque = stream.run(60)
    ratio = torque[-1] / np.array(stream.states[-1].requested)
    np.testing.assert_allclose(ratio, 0.5, rtol=0.1)
    check_commands(stream.commands[begin:])


def set_scale(stream, scale):
    answer = stream.process.set_parameter('feedforward', 'feedforward_scale', scale)
    assert answer.successful


def test_interrupt_ramps_down_and_ends_with_zeros(stream):
    stream.ready()
    stream.run(80)
    start = len(stream.commands)
    assert np.any(stream.commands[-1].message.data)
    assert stream.process.interrupt() == 0
    stream.process.drain()
    ramp = check_commands(stream.commands[start - 1 :])
    assert len(ramp) > 50
    assert not ramp[-5:].any()
