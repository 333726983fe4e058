# SPDX-License-Identifier: Apache-2.0
"""Goals that pass the feed-forward to a controller, over real DDS."""

import re
import subprocess
import sys

import fake_jtc
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from fake_jtc import NAME, FakeJtc, Result
from feedforward_client import NAMES, Trajectories, arrays, message
from lifecycle_msgs.msg import Transition
from node_process import closed
from rclpy.action import ActionClient
from ros_client import environment

pytestmark = pytest.mark.ros
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED
STATUS = f'/{NAME}/_action/status'


class Case(Trajectories):
    """A feed-forward between this client and this controller."""

    def __init__(self, folder, number):
        super().__init__(folder, number)
        self.node, self.wait = self.process.node, self.process.wait
        self.jtc = FakeJtc(self.node)
        self.client = ActionClient(
            self.node, FollowJointTrajectory, 'feedforward/follow_joint_trajectory'
        )
        self.wait(self.client.server_is_ready, 'the action')
        self.seen = []

    def send(self, trajectory, **fields):
        """Send a goal; return its handle."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory, **fields)
        future = self.client.send_goal_async(goal, lambda each: self.seen.append(each.feedback))
        self.wait(future.done, 'the answer to a goal')
        assert future.result().accepted
        return future.result()

    def running(self, **options):
        """Send a goal that the controller takes."""
        before = len(self.jtc.goals)
        handle = self.send(message(**options))
        self.wait(lambda: len(self.jtc.goals) > before, 'the goal at the controller')
        return handle

    def result(self, handle, future=None):
        future = future or handle.get_result_async()
        self.wait(future.done, 'the result')
        return future.result().status, future.result().result

    def check(self, handle, status, code, text, future=None):
        found, result = self.result(handle, future)
        assert (found, result.error_code) == (status, code), result
        assert text in result.error_string


@pytest.fixture(scope='module')
def case(tmp_path_factory):
    with closed(Case(tmp_path_factory.mktemp('goals'), 71)) as case:
        yield case


@pytest.fixture(autouse=True)
def ready(case):
    case.jtc.end('succeed')
    case.jtc.rejects = False
    case.wait(lambda: True, '')
    yield
    case.jtc.end('succeed')
    case.process.drain()


def test_a_goal_passes_with_torque_and_all_else_unchanged(case):
    tolerance = [JointTolerance(name=NAMES[1], position=0.02, velocity=0.3, acceleration=-1.0)]
    fields = {'path_tolerance': tolerance, 'goal_time_tolerance': Duration(sec=3, nanosec=5)}
    sent = message()
    sent.header.frame_id = 'base'
    handle = case.send(sent, goal_tolerance=tolerance, **fields)
    case.wait(lambda: case.jtc.goals, 'the goal at the controller')
    goal = case.jtc.goals[-1].request
    assert goal.path_tolerance == goal.goal_tolerance == tolerance
    assert goal.goal_time_tolerance == fields['goal_time_tolerance']
    assert goal.trajectory.header == sent.header
    passed, given = arrays(goal.trajectory), arrays(sent)
    at = np.searchsorted(passed[0], given[0] - 1e-9)
    np.testing.assert_allclose(passed[1][at], given[1], atol=1e-9)
    assert (np.abs(passed[4]).max(axis=0) > 1.0).all() and not passed[4][-1].any()
    case.jtc.feedback([0.25, -0.5])
    case.wait(lambda: case.seen, 'feedback')
    assert list(case.seen[-1].actual.positions) == [0.25, -0.5]
    case.jtc.end('succeed', 0, 'Goal successfully reached!')
    case.check(handle, SUCCEEDED, 0, 'Goal successfully reached!')


def test_an_abort_of_the_controller_passes_with_its_reason(case):
    handle = case.running()
    case.jtc.end('abort', Result.PATH_TOLERANCE_VIOLATED, 'joint2 is too far')
    case.check(handle, ABORTED, Result.PATH_TOLERANCE_VIOLATED, 'joint2 is too far')


def test_a_cancel_reaches_the_controller_and_its_answer_the_client(case):
    handle, before = case.running(), case.jtc.cancels
    future = handle.cancel_goal_async()
    case.wait(future.done, 'the answer to a cancel')
    case.check(handle, CANCELED, 0, 'cancelled')
    assert case.jtc.cancels == before + 1 and len(future.result().goals_canceling) == 1


def test_a_new_goal_takes_over_and_a_bad_or_rejected_one_does_not(case):
    first = case.running(duration=2.0)
    for trajectory, words in (
        (message(names=['a', 'b']), "moves joint 'a', which is not one of"),
        (message(points=0), 'its trajectory has no points'),
        (bad(np.nan), 'positions of joint|position of joint .* is nan'),
    ):
        status, result = case.result(case.send(trajectory))
        assert (status, result.error_code) == (ABORTED, Result.INVALID_GOAL)
        assert result.error_string.startswith('goal refused: ')
        assert re.search(words, result.error_string)
    case.jtc.rejects = True
    case.check(case.send(message()), ABORTED, Result.INVALID_GOAL, 'rejected the goal: its log')
    case.jtc.rejects = False
    assert case.jtc.goals[-1].is_active and first.status == GoalStatus.STATUS_EXECUTING
    second = case.running(duration=3.0)
    case.check(first, ABORTED, Result.INVALID_GOAL, 'preempted by new incoming action')
    case.jtc.end('succeed', 0, 'reached')
    case.check(second, SUCCEEDED, 0, 'reached')


def test_a_disable_takes_the_torque_out_of_a_goal_that_goes_on(case):
    case.process.reset()
    handle = case.running(duration=3.0)
    case.out.clear()
    assert case.process.enable(False).success
    case.wait(lambda: case.out, 'the remainder without torque')
    effort = arrays(case.out[-1])[4]
    assert not effort[-1].any() and not effort[len(effort) // 2].any()
    case.jtc.end('succeed', 0, 'reached')
    case.check(handle, SUCCEEDED, 0, 'reached')
    assert case.process.enable(True).success


def test_a_deactivated_node_cancels_its_goal_and_refuses_the_next(case):
    handle, before = case.running(), case.jtc.cancels
    assert case.process.change(Transition.TRANSITION_DEACTIVATE)
    case.check(handle, ABORTED, Result.INVALID_GOAL, 'the feed-forward was deactivated')
    case.wait(lambda: case.jtc.cancels > before, 'the cancel at the controller')
    case.check(case.send(message()), ABORTED, Result.INVALID_GOAL, 'feedforward is not active')
    assert case.process.change(Transition.TRANSITION_ACTIVATE)


def test_a_controller_that_ends_or_starts_again_leaves_no_goal_hanging(case):
    case.jtc.leave()
    case.wait(lambda: not case.node.count_publishers(STATUS), 'the end of the controller')
    with subprocess.Popen([sys.executable, fake_jtc.__file__], env=environment(71)) as other:
        try:
            case.wait(lambda: case.node.count_publishers(STATUS) == 1, 'another controller')
            future = handle = None
            while handle is None or future.done():  # until the node knows it, too
                handle = case.send(message())
                future = handle.get_result_async()
                case.process.spin(0.5)
        finally:
            other.terminate()
    case.jtc = FakeJtc(case.node)
    case.check(handle, ABORTED, Result.INVALID_GOAL, 'has ended or was started again', future)
    again = case.running()
    future = again.get_result_async()
    case.process.spin(0.3)
    assert case.process.interrupt() == 0
    case.wait(lambda: case.jtc.cancels, 'the cancel of a node that ends')
    case.check(again, ABORTED, Result.INVALID_GOAL, 'the feed-forward was deactivated', future)


def bad(value):
    trajectory = message()
    trajectory.points[3].positions[0] = value
    return trajectory
