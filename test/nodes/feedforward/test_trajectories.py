# SPDX-License-Identifier: Apache-2.0
"""Trajectories with torque: what arrives meanwhile, and passing them on."""

from types import SimpleNamespace

import numpy as np
import pytest
from feedforward_client import LIMIT, NAMES, STEP, VALUES, arrays, message
from rclpy.qos import ReliabilityPolicy
from rclpy.serialization import serialize_message
from trajectory_case import Case
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.bounds import MIXED_POINTS, BoundError
from robodyn_ros.control.feedforward.trajectory_state import State
from robodyn_ros.errors import Fault, MotionError
from robodyn_ros.nodes.base.clock import LOOK
from robodyn_ros.nodes.feedforward.follow_goals import FollowGoals
from robodyn_ros.nodes.feedforward.trajectories import STEP as PLANNING
from robodyn_ros.nodes.robot.controller_facts import PATIENCE


def test_a_trajectory_is_sent_when_all_messages_before_it_were_read(case):
    case.arrive()
    assert not case.out and case.state is State.PLANNING
    case.plan()
    (effort,) = case.efforts
    assert np.abs(effort).max() > 1.0 and case.state is State.RUNNING
    assert (np.abs(effort) <= LIMIT).all() and not effort[-1].any()
    assert (np.abs(np.diff(effort, axis=0, prepend=[[0, 0]])) <= STEP * (1 + 1e-9)).all()
    case.wait(2.0)
    assert case.state is State.IDLE


def test_it_is_refused_when_the_controller_was_commanded_otherwise_meanwhile(case):
    case.arrive()
    case.torque._on_left('a goal')
    case.plan()
    assert not case.out and case.state is State.IDLE
    assert case.torque.refusal == 'trajectory refused: while it was planned, a goal'
    case.arrive()
    case.plan()
    assert len(case.out) == 1 and case.torque.refused == 1


def test_trajectories_that_arrive_together_are_sent_in_their_order(case):
    for duration in (1.0, 2.0, 3.0):
        case.arrive(duration)
    case.plan()
    lengths = [len(effort) for effort in case.efforts]
    assert len(lengths) == 3 and lengths == sorted(lengths)


def test_one_without_points_is_sent_now_and_those_that_wait_are_not(case):
    for duration in (600.0, 1.0):
        case.arrive(duration)
    case.node.timers[PLANNING]()
    stop = JointTrajectory(joint_names=NAMES)
    case.node.deliver('~/joint_trajectory', serialize_message(stop))
    assert case.out == [stop] and case.torque.refused == 2
    assert 'without points, which stops the robot, came after it' in case.torque.refusal
    case.plan()
    assert len(case.out) == 1 and case.state is State.IDLE


def test_changes_while_it_is_planned_count(case):
    case.arrive(8.0)
    case.plan()
    case.torque._on_left('a goal')
    case.arrive(8.0)
    case.node.timers[PLANNING]()
    case.torque.set_values(0.5 * VALUES)
    case.plan()
    full, half = (np.abs(effort).max() for effort in case.efforts)
    assert half == pytest.approx(0.5 * full, rel=0.05)


@pytest.mark.parametrize('event', ['disable', 'trip'])
def test_torque_that_is_removed_while_it_is_planned_leaves_the_motion(case, event):
    case.arrive(8.0)
    case.node.timers[PLANNING]()
    case.torque.disable() if event == 'disable' else case.torque.trip(Fault('unexpected', 'x'))
    case.plan()
    (effort,) = case.efforts
    assert not effort.any() and not case.torque.refused


def test_it_starts_from_the_torque_at_the_moment_of_sending(clock):
    step = 0.2 * STEP
    case = Case(clock, step=step)
    case.run(1.0)

    def present():
        return case.torque.machine.effort(case.node.nanoseconds, 2)[0]

    case.clock[0] += 0.25
    before = present()
    case.arrive(2.0)
    case.node.timers[PLANNING]()
    case.clock[0] += 0.25
    now = present()
    assert (np.abs(now - before) > 2.0 * step).any(), 'else it would start well anyway'
    case.plan()
    (effort,) = case.efforts
    assert (np.abs(np.diff(effort, axis=0, prepend=[now])) <= step * (1 + 1e-9)).all()
    assert (np.abs(effort) <= LIMIT).all() and not effort[-1].any()


def test_a_rejected_goal_brings_no_motion_back_that_the_controller_has_left(case):
    case.run()
    case.run()
    case.torque._on_left('a goal')
    case.torque.restore()
    assert case.state is State.IDLE and not case.torque.remaining > 0.0


def test_a_node_that_ends_refuses_what_is_planned(case):
    case.arrive()
    case.torque.finish()
    case.plan()
    assert not case.out and case.torque.refusal == 'trajectory refused: the node stops'


def test_an_error_of_the_model_ends_this_trajectory_alone(case, monkeypatch):
    case.arrive()
    model = case.torque._law.planner.torque
    with monkeypatch.context() as patch:
        patch.setattr(model, 'body', lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):  # the node takes the torque away: on_unexpected
            case.plan()
    case.plan()
    assert not case.out and case.state is State.IDLE
    case.arrive()
    case.plan()
    assert len(case.out) == 1


def test_inactive_it_passes_trajectories_without_effort(case):
    """The one that is lost could be the one that stops the robot."""
    case.torque.finish()
    wanted = message()
    given = message()
    for point in given.points:
        point.effort = [30.0, float('nan')]
    mixed = message()
    mixed.points[3].effort = [1.0, 2.0]
    for trajectory in (wanted, given, mixed):
        case.node.deliver('~/joint_trajectory', serialize_message(trajectory))
    empty = JointTrajectory(joint_names=NAMES)
    empty.header.stamp.sec = -1  # ends the process of a joint_trajectory_controller
    case.node.deliver('~/joint_trajectory', serialize_message(empty))
    assert case.out == [wanted] * 3 + [JointTrajectory(joint_names=NAMES)]


def test_inactive_it_refuses_what_no_controller_can_read(case):
    case.torque.finish()
    mixed, wrong = message(points=MIXED_POINTS.most + 1, duration=10.0), message()
    mixed.points[3].effort = [1.0, 2.0]
    wrong.header.stamp.sec = -1
    for bad, error in ((mixed, BoundError), (wrong, MotionError)):
        with pytest.raises(error):
            case.node.deliver('~/joint_trajectory', serialize_message(bad))
    with pytest.raises(MotionError):
        case.node.deliver('~/joint_trajectory', serialize_message(wrong)[:50])
    assert not case.out


def test_a_controller_that_listens_best_effort_gets_points_that_arrive(case):
    """As the joint_trajectory_controller does; a message of more than 0.5 MB may not arrive."""
    for case.node.reliability in (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT):
        case.arrive(20.0)
        case.plan()
        case.torque._on_left('a goal')
    whole, few = case.out
    assert len(serialize_message(whole)) > 1e6 and 0.3e6 < len(serialize_message(few)) < 0.5e6
    at, q, *_ = arrays(few)
    np.testing.assert_allclose(np.diff(at), 3 * 0.002, rtol=1e-6)
    np.testing.assert_allclose(q, arrays(whole)[1][::3][: len(q)], atol=1e-12)
    assert any('one every 6 ms is sent' in line for line in case.node.said)


@pytest.mark.parametrize('paused', [False, True])
def test_goals_of_a_node_that_stops_are_cancelled_after_the_ramp_of_the_torque(case, paused):
    """The action itself needs control_msgs: test_follow_goals.py."""
    events = []
    if paused:
        case.node.simulated_clock = SimpleNamespace(elapsed=0.0)
    goal = SimpleNamespace(cancel=lambda: events.append('cancel'), fail=events.append)
    goals = object.__new__(FollowGoals)
    goals.node, goals.goals = case.node, [goal]
    goals.stop(0.12)
    for wait in (0.1, PATIENCE if paused else 0.05):
        assert not events
        case.clock[0] += wait
        case.node.timers[LOOK]()
    assert events == ['cancel', 'the feed-forward was deactivated, so the goal was cancelled']
