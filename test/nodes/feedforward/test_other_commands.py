# SPDX-License-Identifier: Apache-2.0
"""Trajectories with torque beside other commands for the controller."""

from functools import partial

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from feedforward_client import message
from lifecycle_msgs.msg import State as Lifecycle
from lifecycle_msgs.msg import TransitionEvent
from rclpy.serialization import serialize_message
from trajectory_case import JTC, check_stop

from robodyn_ros.control.feedforward.trajectory_state import State


def other_trajectory(case):
    case.node.deliver(f'{JTC}/joint_trajectory', serialize_message(message(duration=2.0)))


def publish_goals(case, *numbers, status=GoalStatus.STATUS_EXECUTING):
    array = GoalStatusArray()
    for number in numbers:
        item = GoalStatus(status=status)
        item.goal_info.goal_id.uuid = np.full(16, number, np.uint8)
        array.status_list.append(item)
    case.node.deliver(f'{JTC}/follow_joint_trajectory/_action/status', array)


def transition(goal, case, start=Lifecycle.PRIMARY_STATE_ACTIVE):
    event = TransitionEvent(start_state=Lifecycle(id=start), goal_state=Lifecycle(id=goal))
    case.node.deliver(f'{JTC}/transition_event', event)


OTHERS = {
    'a trajectory came from another node': other_trajectory,
    'has a goal': lambda case: publish_goals(case, 1, 2),
    'was stopped': lambda case: publish_goals(case, 1, status=GoalStatus.STATUS_CANCELING),
    'was deactivated': partial(transition, Lifecycle.PRIMARY_STATE_INACTIVE),
}


@pytest.mark.parametrize('text', OTHERS)
def test_a_controller_that_was_commanded_otherwise_is_not_sent_the_remainder(case, text):
    publish_goals(case, 1)  # from before: it goes on, beside our trajectory
    case.run()
    case.follow(0.3)
    OTHERS[text](case)
    assert case.state is State.IDLE and not case.torque.remaining > 0.0, case.torque.machine.fault
    assert any(text in line for line in case.node.said)
    case.follow(1.0, position=lambda _: np.array([0.3, -0.4]))
    case.torque.disable()
    assert not case.out, 'a robot that was stopped must not start to move'


def test_goals_of_before_and_goals_that_end_leave_the_trajectory_alone(case):
    publish_goals(case, 5, 6)
    case.run()
    publish_goals(case, 6)
    publish_goals(case, 6, status=GoalStatus.STATUS_SUCCEEDED)
    case.follow(0.3)
    case.torque.disable()
    check_stop(case)


@pytest.mark.parametrize(
    ('start', 'goal', 'left'),
    [
        (Lifecycle.PRIMARY_STATE_ACTIVE, Lifecycle.TRANSITION_STATE_ERRORPROCESSING, True),
        (Lifecycle.TRANSITION_STATE_CONFIGURING, Lifecycle.PRIMARY_STATE_INACTIVE, False),
        (Lifecycle.PRIMARY_STATE_INACTIVE, Lifecycle.TRANSITION_STATE_ACTIVATING, False),
    ],
)
def test_a_controller_that_is_being_activated_has_not_left_anything(case, start, goal, left):
    case.arrive()
    transition(goal, case, start)
    assert case.torque.refused == left


def test_a_message_that_is_read_before_the_own_one_came_back_is_older(case):
    echo = case.node.subscribers.pop(f'{JTC}/joint_trajectory')
    case.run()
    echo(serialize_message(message(duration=2.0)))
    assert case.state is State.RUNNING
    case.follow(0.6)  # it was lost
    echo(serialize_message(message(duration=2.0)))
    assert case.state is State.IDLE
