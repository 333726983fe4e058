# SPDX-License-Identifier: Apache-2.0
"""Order of the cancel of goals and of the trajectory that brakes, without DDS."""

from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.srv import CancelGoal
from fake_node import FakeNode

from robodyn_ros.nodes.collision_monitor.reactions import ANSWER, RobotStop


class Case:
    """A reaction `stop`, and a robot that moves."""

    def __init__(self, clock, *, ready=True):
        self.clock, self.node = clock, FakeNode()
        self.stop = RobotStop(self.node, 'jtc', 0.2)
        (self.client,) = self.node.clients.values()
        self.client.ready = ready
        state = SimpleNamespace(position=np.array([0.5]), velocity=np.array([1.0]))
        inputs = SimpleNamespace(state=state, fresh=True, at_rest=lambda _: False)
        limits = SimpleNamespace(joints=('a',), acceleration=np.array([2.0]))
        self.stop.build(inputs, limits, np.array([0.1]))
        self.stop.cancel.start()
        self.stop.start()

    @property
    def motions(self):
        return len(self.node.published['jtc/joint_trajectory'])

    def wait(self, seconds):
        self.clock[0] += seconds
        self.stop.cancel.tick()
        self.stop.tick()

    def answer(self, number):
        self.client.calls[number].set_result(CancelGoal.Response())


def test_the_robot_brakes_when_the_controller_has_cancelled_its_goals(clock):
    case = Case(clock)
    case.wait(0.5 * ANSWER)
    assert len(case.client.calls) == 1 and not case.motions
    case.answer(0)
    assert case.motions == 1
    case.wait(0.2)
    assert len(case.client.calls) == 1, 'it was acknowledged'


@pytest.mark.parametrize('number', [0, 1])
def test_an_answer_that_comes_late_is_waited_for_no_longer_and_then_it_brakes_again(clock, number):
    case = Case(clock)
    case.wait(1.1 * ANSWER)
    assert case.motions == 1
    case.wait(0.2)
    case.answer(number)
    assert case.motions == 2, 'the cancel has replaced the first one'


def test_a_controller_without_the_action_is_commanded_at_once(clock):
    case = Case(clock, ready=False)
    assert case.motions == 1
    case.client.ready = True
    case.wait(0.2)
    case.answer(0)
    assert case.motions == 2
