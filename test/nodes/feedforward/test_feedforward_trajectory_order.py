# SPDX-License-Identifier: Apache-2.0
"""Trajectory mode without DDS: what comes while a trajectory is planned, in which order."""

from concurrent.futures import wait

import numpy as np
import pytest
from fake_node import FakeNode
from feedforward_client import MODEL, VALUES, arrays, message
from lifecycle_msgs.msg import State, TransitionEvent
from rclpy.serialization import deserialize_message, serialize_message
from robodyn_ros.nodes.feedforward.trajectory import TrajectoryMode
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.nodes.feedforward import follow_goals

EFFORT = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}


@pytest.fixture
def node():
    return FakeNode()


@pytest.fixture
def mode(node, monkeypatch):
    monkeypatch.setattr(follow_goals, 'FollowJointTrajectory', None)  # as where it is missing
    mode = TrajectoryMode(node, hold_at_end=False)
    node.sent = node.published['joint_trajectory_controller/joint_trajectory']
    (line,) = node.told
    assert 'follow_joint_trajectory is not offered: the package control_msgs' in line
    settings = FeedforwardSettings(joints=MODEL.joint_names, max_torque=[200.0, 100.0])
    effort = EffortDeclaration.from_mapping(EFFORT).for_joints(MODEL.joints)
    states = StateWatch(width=2, timeout=0.0)
    mode.use(ModelTorque(MODEL, VALUES), settings, effort, states)
    mode.begin(True)
    return mode


def given(duration):
    return serialize_message(message(duration=duration))


def settle(mode):
    for _ in range(20):
        if (work := mode._outbox._work) is not None:
            wait([work], 60.0)
        mode._outbox.tick()


def efforts(node):
    return [arrays(deserialize_message(each, JointTrajectory))[4] for each in node.sent]


def test_a_trajectory_leaves_when_all_that_came_before_it_has_been_read(mode, node):
    mode._on_trajectory(given(1.0))
    assert not node.sent
    settle(mode)
    assert len(node.sent) == 1 and np.abs(efforts(node)[0]).max() > 1.0 and mode.applied


def test_it_is_refused_when_the_controller_was_told_something_else_meanwhile(mode, node):
    mode._on_trajectory(given(1.0))
    mode._on_left('a goal')
    settle(mode)
    assert not node.sent and not mode.applied
    assert mode.refusal == 'trajectory refused: while it was planned, a goal' and mode.refused == 1
    mode._on_left('another goal')
    assert mode.refused == 1
    mode._on_trajectory(given(1.0))
    settle(mode)
    assert len(node.sent) == 1


def test_trajectories_that_come_at_once_leave_in_their_order(mode, node):
    for duration in (1.0, 2.0, 3.0):
        mode._on_trajectory(given(duration))
    settle(mode)
    lengths = [len(effort) for effort in efforts(node)]
    assert len(lengths) == 3 and lengths == sorted(lengths)


def test_one_without_points_is_sent_now_and_those_that_wait_are_not(mode, node):
    """The plan of the first would take seconds; a stop must not wait for it."""
    for duration in (600.0, 1.0):
        mode._on_trajectory(given(duration))
    stop = serialize_message(JointTrajectory(joint_names=MODEL.joint_names))
    mode._on_trajectory(stop)
    assert node.sent == [stop] and mode.refused == 2
    assert 'without points, which stops the robot, came after it' in mode.refusal
    settle(mode)
    assert node.sent == [stop] and not mode.applied
    mode._on_trajectory(given(1.0))
    settle(mode)
    assert len(node.sent) == 2 and mode.applied


@pytest.mark.parametrize(
    'change',
    [
        lambda mode: mode.set_values(0.5 * VALUES),
        lambda mode: mode.set_scale(0.5),
    ],
)
def test_what_changes_while_it_is_planned_counts(mode, node, change):
    mode._on_trajectory(given(1.0))
    settle(mode)
    mode._plan = None  # as before the first
    mode._on_trajectory(given(1.0))
    change(mode)
    settle(mode)
    full, half = (np.abs(effort).max() for effort in efforts(node))
    assert half == pytest.approx(0.5 * full, rel=0.05)


def test_a_disable_that_comes_while_it_is_planned_leaves_the_motion_without_torque(mode, node):
    mode._on_trajectory(given(2.0))
    mode.disable()
    assert not node.sent
    settle(mode)
    (effort,) = efforts(node)
    assert not effort.any() and not mode.applied and not mode.refused


def test_an_end_of_the_node_that_comes_while_it_is_planned_refuses_it(mode, node):
    mode._on_trajectory(given(2.0))
    mode.finish()
    settle(mode)
    assert not node.sent and mode.refusal == 'trajectory refused: the node stops'


@pytest.mark.parametrize('first', ['disable', 'another trajectory'])
def test_a_stop_that_comes_after_something_else_while_it_is_planned_still_wins(mode, node, first):
    mode._on_trajectory(given(2.0))
    mode.disable() if first == 'disable' else mode._on_trajectory(given(1.0))
    mode._on_left('a trajectory came from somebody else')
    settle(mode)
    assert not node.sent and mode.refused == (1 if first == 'disable' else 2)


@pytest.mark.parametrize(
    ('start', 'goal', 'refused'),
    [
        (State.PRIMARY_STATE_ACTIVE, State.TRANSITION_STATE_DEACTIVATING, True),
        (State.TRANSITION_STATE_DEACTIVATING, State.PRIMARY_STATE_INACTIVE, True),
        (State.PRIMARY_STATE_ACTIVE, State.TRANSITION_STATE_ERRORPROCESSING, True),
        (State.PRIMARY_STATE_UNCONFIGURED, State.TRANSITION_STATE_CONFIGURING, False),
        (State.TRANSITION_STATE_CONFIGURING, State.PRIMARY_STATE_INACTIVE, False),
        (State.PRIMARY_STATE_INACTIVE, State.TRANSITION_STATE_ACTIVATING, False),
        (State.TRANSITION_STATE_ACTIVATING, State.PRIMARY_STATE_ACTIVE, False),
    ],
)
def test_a_controller_that_is_being_activated_has_not_left_anything(mode, start, goal, refused):
    mode._on_trajectory(given(2.0))
    event = TransitionEvent(start_state=State(id=start), goal_state=State(id=goal))
    mode._controller._on_transition(event)
    assert mode.refused == refused
