# SPDX-License-Identifier: Apache-2.0
"""Start of the feed-forward node: its model, its controller, and a process that was killed."""

from types import SimpleNamespace

import pytest
from feedforward_client import (
    COMMON,
    MODEL,
    NAMES,
    VALUES,
    Trajectories,
    arrays,
    message,
)
from lifecycle_msgs.msg import Transition
from node_process import NodeProcess, closed
from robodyn_ros.srv import LoadModel
from writers import result_file

from robodyn_ros.control.feedforward.trajectory_state import State
from robodyn_ros.nodes.feedforward.node import Feedforward
from robodyn_ros.nodes.robot.controller_facts import offer_parameters

pytestmark = pytest.mark.ros


def test_without_a_model_it_stays_unconfigured_and_a_possible_one_can_be_loaded(tmp_path):
    with closed(NodeProcess('feedforward', 3, tmp_path / 'log', COMMON)) as process:
        process.wait_for('give the parameter result_file')
        for name, value in (('parameter_values', VALUES.tolist()), ('hash', 'another')):
            set_one = process.set_parameter('feedforward', f'dynamic_model.{name}', value)
            assert not set_one.successful and 'read-only' in set_one.reason.replace('_', '-')
        for factor in (-1.0, 1e12):
            path = result_file(tmp_path, MODEL, factor * VALUES)
            request = LoadModel.Request(result_file=str(path))
            answer = process.call(LoadModel, 'load_model', request)
            assert not answer.success and 'no robot has these parameters' in answer.message
        path = result_file(tmp_path, MODEL, VALUES)
        answer = process.call(LoadModel, 'load_model', LoadModel.Request(result_file=str(path)))
        assert answer.success, answer.message
        process.wait_for('active')
        again = process.call(LoadModel, 'load_model', LoadModel.Request(result_file=str(path)))
        assert not again.success and 'the node is active: deactivate it' in again.message
        assert process.interrupt() == 0


@pytest.mark.parametrize(('enabled', 'level'), [(True, b'\x00'), (False, b'\x01')])
def test_diagnostics_warn_while_no_torque_is_applied(enabled, level):
    node = object.__new__(Feedforward)
    node._killed = ''
    node._trajectories = SimpleNamespace(
        machine=SimpleNamespace(fault='', enabled=enabled), state=State.IDLE, refused=0, refusal=''
    )
    found, text, details = node.report()
    assert found == level and details['enabled'] is enabled and details['state'] == 'idle'
    assert ('not enabled: call ~/enable' in text) is not enabled


def test_a_position_only_controller_gets_no_effort_and_the_sentence_says_what_to_change(tmp_path):
    with closed(
        Trajectories(tmp_path, 52, until='waits for controller', check_controller='true')
    ) as node:
        process = node.process
        assert not process.change(Transition.TRANSITION_ACTIVATE), 'it has not answered'
        facts = {'joints': NAMES, 'command_interfaces': ['position']}
        offer_parameters(process.node, 'joint_trajectory_controller', facts)
        process.wait_for('set its command_interfaces to [position, effort]')
        assert not process.change(Transition.TRANSITION_ACTIVATE)
        wanted = message()
        assert node.sent(wanted) == wanted, 'trajectories pass, without effort'
        facts['command_interfaces'] = ['position', 'effort']
        process.wait_for('active')
        effort = arrays(node.sent(wanted))[4]
        assert effort.any() and not effort[-1].any(), 'it ends at zero'


def test_after_kill_9_a_start_does_not_enable_itself_unless_a_parameter_says_so(tmp_path):
    def start(text, **options):
        node = Trajectories(tmp_path, 59, until='', **options)
        node.process.wait(lambda: text in node.process.status().message, text)
        return node

    killed = 'torque is not enabled: this node was killed with torque enabled'
    start('active').process.close()
    node = start(killed)
    assert 'call ~/enable' in node.process.status().message and killed in node.process.said()
    assert not arrays(node.sent(message()))[4].any()
    assert node.process.enable(True).success
    node.process.wait_for('active')
    node.process.close()
    node = start('active', enable_after_kill='true')
    assert arrays(node.sent(message()))[4].any()
    assert node.process.interrupt() == 0
    node.process.close()
    with closed(start('active')) as node:
        assert arrays(node.sent(message()))[4].any(), 'after a clean end it enables itself'
