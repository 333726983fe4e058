# SPDX-License-Identifier: Apache-2.0
"""Streaming mode and a controller that may be inactive; and a restart after kill -9."""

import numpy as np
import pytest
from feedforward_client import NAMES, Controller, Stream
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from node_process import closed, joint_state
from robodyn_ros.msg import TorqueState

pytestmark = pytest.mark.ros
CONTROLLER = 'forward_effort_controller'
NUMBER = 58


class StatedController(Controller):
    """A controller that says in which state it is, too; `questions` counts these questions."""

    def __init__(self, process, state) -> None:
        super().__init__(process, CONTROLLER, {'joints': NAMES, 'interface_name': 'effort'})
        self.state, self.questions = state, 0
        process.node.create_service(GetState, f'{CONTROLLER}/get_state', self._on_state)

    def _on_state(self, _, response):
        self.questions += 1
        response.current_state = State(label=self.state)
        return response

    def become(self, stream, state):
        """Change without a word; return when the node has asked since."""
        self.state, asked = state, self.questions
        stream.process.wait(lambda: self.questions >= asked + 2, 'two questions')
        stream.process.settle()


@pytest.fixture(scope='module')
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp('delivery')
    stream = Stream(folder, NUMBER, until='waits for controller', check_controller='true')
    stream.folder = folder
    stream.controller = StatedController(stream.process, 'inactive')
    with closed(stream):
        yield stream


def test_it_waits_for_an_inactive_controller_and_says_how_to_activate_it(stream):
    stream.process.wait_for(
        f'waits to apply torque: /{CONTROLLER} is not active (inactive), so commands reach no '
        f'drive: activate it (ros2 control switch_controllers --activate {CONTROLLER})'
    )
    assert not stream.commands
    stream.controller.state = 'active'
    stream.process.wait(lambda: stream.process.status().message == 'active', 'active')
    assert stream.process.details()['delivery'] == 'delivered'


def test_a_controller_that_becomes_inactive_takes_the_torque_away_and_is_said_in_torque_state(
    stream,
):
    stream.controller.become(stream, 'active')
    stream.ready()
    *_, torque = stream.run(60)
    assert np.abs(torque[-1]).max() > 1.0
    assert stream.states[-1].enabled and stream.states[-1].delivery == TorqueState.DELIVERED
    stream.controller.state = 'inactive'
    stream.process.wait(lambda: stream.states[-1].fault, 'the fault')
    stream.come_to_zero()
    state = stream.states[-1]
    assert f'/{CONTROLLER} is not active (inactive) with torque applied: the drives' in state.fault
    assert state.fault_code == TorqueState.FAULT_CONTROLLER_LOST
    assert not state.enabled and state.delivery == TorqueState.NOT_DELIVERED
    assert 'cleared' in stream.process.reset().message
    refused = stream.process.enable(True)
    assert not refused.success and 'is not active (inactive), so commands' in refused.message
    stream.controller.become(stream, 'active')
    assert stream.process.enable(True).success


def again(stream, **options):
    """Kill the node with torque on, and start it anew; what it says and whether it is enabled."""
    stream.controller.become(stream, 'active')
    stream.ready()
    *_, torque = stream.run(60)
    assert torque[-1].any()
    return start(stream, **options)


def start(stream, **options):
    """Start the node once more; what it says and whether it is enabled."""
    stream.process.close()
    stream.__init__(stream.folder, NUMBER, until='', check_controller='true', **options)
    stream.controller = StatedController(stream.process, 'active')

    def active():
        q, qd = stream.motion()
        stream.reference.publish(joint_state(NAMES, stream.time, q, qd))
        return stream.states

    stream.process.wait(active, 'an active node')
    return stream.process.status().message, stream.states[-1].enabled


def test_after_kill_9_the_same_start_does_not_enable_itself_unless_a_parameter_says_so(stream):
    said, enabled = again(stream)
    assert not enabled
    assert 'active, but torque is not enabled: this node was killed with torque enabled' in said
    assert 'call ~/enable' in said and 'this node was killed' in stream.process.said()
    assert not any(np.any(row.message.data) for row in stream.commands)
    assert stream.process.enable(True).success
    assert stream.process.status().message == 'active'
    _, enabled = again(stream, enable_after_kill='true')
    assert enabled


def test_after_a_clean_end_it_enables_itself(stream):
    assert stream.process.interrupt() == 0
    _, enabled = start(stream)
    assert enabled
