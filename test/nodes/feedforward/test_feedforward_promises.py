# SPDX-License-Identifier: Apache-2.0
"""Promises of the feed-forward node over real DDS; each row of docs/feedforward.md has its test.

Units of drives, hash and limits are in test_feedforward_units.py; staleness, stamps, frozen
values and kills in test_faults.py; messages without DDS in test_feedforward_fuzz.py.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from feedforward_client import (
    NAMES,
    STEP,
    Controller,
    Stream,
    Trajectories,
    arrays,
    check_commands,
    message,
    ramped_out,
    torques,
)
from lifecycle_msgs.msg import Transition
from node_process import closed, joint_state
from ros_client import details

pytestmark = pytest.mark.ros
SCRIPT = Path(__file__).parents[2] / 'support' / 'ros' / 'raising_feedforward.py'
CHECKED = {'check_controller': 'true'}
STATES = 2.0
"""Joint states may stay away for so long, in [s]."""
COARSE = 0.01
"""Period of long trajectories, in [s]: while a test takes one in, no joint states are sent."""


@pytest.fixture(scope='module')
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp('promises')
    stream = Stream(folder, 51, script=SCRIPT, until='waits for controller', **CHECKED)
    stream.folder = folder
    with closed(stream):
        yield stream


def test_activation_is_refused_unless_the_controllers_interface_and_joints_match(stream):
    process = stream.process
    assert not process.change(Transition.TRANSITION_ACTIVATE), 'it has not answered'
    facts = {'joints': NAMES[::-1], 'interface_name': 'effort'}
    controller = Controller(process, 'forward_effort_controller', facts)
    process.wait_for("takes the joints ['joint2', 'joint1'], the model has ['joint1', 'joint2']")
    assert not process.change(Transition.TRANSITION_ACTIVATE)
    assert process.change(Transition.TRANSITION_CLEANUP)
    controller.facts = {'joints': NAMES, 'interface_name': 'position'}
    asked = controller.asked
    process.wait(lambda: controller.asked >= asked + 2, 'the answer of before and its effect')
    process.settle()  # a node that was cleaned up starts itself no more
    assert process.change(Transition.TRANSITION_CONFIGURE)
    assert not process.change(Transition.TRANSITION_ACTIVATE)
    process.wait_for('torque would be taken for that: set its interface_name to effort')
    assert not stream.commands
    controller.facts = {'joints': NAMES, 'interface_name': 'effort'}
    process.wait(lambda: process.change(Transition.TRANSITION_ACTIVATE), 'the answer')
    process.wait_for('active')
    process.settle()
    assert not torques(stream.commands).any()


def test_it_starts_from_zero_and_publishes_requested_and_applied_torque(stream):
    stream.ready()
    stream.process.settle()
    stream.commands.clear()
    _, _, torque = stream.run(100)
    commands = check_commands(stream.commands)
    assert (np.abs(commands[0]) <= STEP).all() and np.abs(torque[-1]).max() > 1.0
    state = stream.states[-1]
    np.testing.assert_array_equal(state.additive_command, torque[-1])
    assert np.isfinite(state.requested).all() and len(state.requested) == 2


def test_deactivation_ramps_down_then_zero_and_activation_starts_from_zero(stream):
    stream.ready()
    stream.run(80)
    begin = len(stream.commands)
    assert np.any(stream.commands[-1].message.data)
    assert stream.process.change(Transition.TRANSITION_DEACTIVATE)
    stream.process.wait(lambda: len(stream.commands) >= begin + 60, 'the ramp and zeros')
    stream.process.settle()
    ramp = check_commands(stream.commands[begin - 1 :])
    share = np.arange(50, -1, -1)[:, None] / 50
    np.testing.assert_allclose(ramp[:51], ramp[0] * share, atol=1e-9)
    assert len(ramp) >= 60 and not ramp[51:].any(), 'zero is repeated'
    assert stream.process.change(Transition.TRANSITION_ACTIVATE)
    stream.run(80)
    assert np.abs(check_commands(stream.commands[begin - 1 :])[-1]).max() > 1.0


def test_an_exception_ramps_down_then_zero_and_the_node_stays(stream):
    stream.ready()
    stream.run(80)
    begin = len(stream.commands)
    assert np.any(stream.commands[-1].message.data)
    stream.process.steady(False)
    (stream.folder / 'raise').touch()
    sentence = 'unexpected RuntimeError: injected by a test'
    while sentence not in stream.process.said():
        q, qd = stream.motion()
        stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
        stream.process.spin(0.01)
    stream.process.settle()
    stream.come_to_zero()
    assert not (answer := stream.process.enable(True)).success
    assert sentence in answer.message
    (stream.folder / 'raise').unlink()
    stream.process.wait_for(f'torque is zero: timer of 1 s: {sentence}')
    status = stream.process.status()
    assert details(status)['unexpected_errors'] != '0'
    ramp = check_commands(stream.commands[begin - 1 :])
    assert not ramp[-5:].any()


@pytest.fixture(scope='module')
def trajectories(tmp_path_factory):
    folder = tmp_path_factory.mktemp('trajectories')
    given = {**CHECKED, 'state_timeout': STATES, 'period': COARSE}
    with closed(Trajectories(folder, 52, until='waits for controller', **given)) as node:
        yield node


def test_a_position_only_controller_gets_no_effort_and_the_sentence_says_what_to_change(
    trajectories,
):
    process = trajectories.process
    facts = {'joints': NAMES, 'command_interfaces': ['position']}
    controller = Controller(process, 'joint_trajectory_controller', facts)
    process.wait_for('set its command_interfaces to [position, effort]')
    assert not process.change(Transition.TRANSITION_ACTIVATE)
    wanted = message()
    assert trajectories.sent(wanted) == wanted, 'trajectories pass, without effort'
    controller.facts = {'joints': NAMES, 'command_interfaces': ['position', 'effort']}
    process.wait_for('active')
    effort = arrays(trajectories.sent(wanted))[4]
    assert effort.any() and not effort[-1].any(), 'it ends at zero'


class Robot:
    """On its way along a plan, until its joint states fail in one of three ways."""

    def __init__(self, kind, begin, plan) -> None:
        self.kind, self.begin = kind, begin
        self.time, self.way = plan[:2]
        self.stopped = None

    def state(self, fails):
        """Its joint state of now, or None."""
        now = time.time()
        if fails and self.stopped is None:
            self.stopped = now
        if fails and self.kind == 'silent':
            return None
        seen = self.stopped if fails and self.kind == 'frozen' else now
        position = [np.interp(seen - self.begin, self.time, column) for column in self.way.T]
        stamp = now - (5.0 if fails and self.kind == 'back' else 0.0)
        return joint_state(NAMES, stamp, position, velocity=[0.2, -0.3])


FAILURES = {
    'silent': 'no usable new joint state for',
    'frozen': 'the positions in joint states do not change although',
    'back': 'the stamp of the joint states went back by',
}


@pytest.mark.parametrize('kind', FAILURES)
def test_a_state_that_fails_takes_the_torque_out_of_a_running_trajectory(trajectories, kind):
    process, text = trajectories.process, FAILURES[kind]
    trajectories.ready()
    begin = time.time_ns()
    plan = arrays(trajectories.sent(message(stamp=begin, duration=12.0)))
    robot = Robot(kind, 1e-9 * begin, plan)
    count = 0
    while count < 20 or time.time() < robot.begin + 0.4:  # it takes 0.1 s to see that it moves
        state = robot.state(False)
        trajectories.joint_states.publish(state)
        trajectories.answer(lambda stamp, own=state.header.stamp: stamp == own)
        count += 1
    trajectories.out.clear()
    if kind == 'silent':
        process.steady(False)
    deadline = time.monotonic() + 10.0
    while not trajectories.out and time.monotonic() < deadline:
        if state := robot.state(True):
            trajectories.joint_states.publish(state)
        process.spin(0.01)
        process.check()
    assert trajectories.out, process.said()
    rest, *_ = arrays(trajectories.out[-1])
    assert ramped_out(trajectories.out[-1])
    assert len(rest) > 100 and rest[-1] >= plan[0][-1] - 0.2, 'the motion goes on'
    process.wait_for(text)
    refused = process.enable(True)
    assert not refused.success and 'held at zero by a fault' in refused.message
    assert text in process.reset().message
