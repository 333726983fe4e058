# SPDX-License-Identifier: Apache-2.0
"""Goals of FollowJointTrajectory through the Python node to the real joint_trajectory_controller.

Mock hardware. `test_follow_goals.py` tests the same promises against a controller of the tests.
"""

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_cell import JOINTS, LIMIT, RATE, ControlCell, trajectory, write_result
from control_checks import JTC, check_hardware_steps
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from node_process import EFFORT, NodeProcess
from rclpy.action import ActionClient

pytestmark = pytest.mark.ros
NUMBER = 46
PARAMETERS = {
    **EFFORT, 'autostart': 'true', 'state_timeout': 0.0, 'max_torque': f'[{LIMIT}]',
    'max_torque_rate': f'[{RATE}]', 'ramp_down_time': 0.1, 'additive_torque_delay': 2,
}  # fmt: skip
Result = FollowJointTrajectory.Result
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED


@pytest.fixture(scope='module')
def started(tmp_path_factory):
    folder = tmp_path_factory.mktemp('real_goals')
    *_, file = write_result(folder)
    with ControlCell(folder, file, number=NUMBER, way='trajectory_effort') as cell:
        node = NodeProcess(
            'feedforward', NUMBER, folder / 'node', PARAMETERS, params_file=file, simulated=False
        )
        try:
            node.wait(lambda: node.enable(True).success, 'active')
            cell.feedforward = node
            cell.goals = ActionClient(
                cell.node, FollowJointTrajectory, 'feedforward/follow_joint_trajectory'
            )
            cell.wait(cell.goals.server_is_ready, 'the action')
            cell.feedback = []
            cell.wait(lambda: not refusal(cell), 'the node to know the controller')
            yield cell
            cell.goals.destroy()
        finally:
            node.close()


@pytest.fixture
def cell(started):
    """At rest at zero, without torque, and ready for goals."""
    if started.state_of(JTC) != 'active':
        started.switch(activate=[JTC])
    started.feedback = []
    check(started, send(started, at_zero()), SUCCEEDED, 0, 'Goal successfully reached!')
    started.wait(lambda: at_rest(started) and not started.effort.any(), 'standstill')
    started.feedback.clear()
    return started


def at_zero():
    result = trajectory(1.0)
    del result.points[:-1]
    return result


def refusal(cell):
    future = send(cell, at_zero()).get_result_async()
    cell.wait(future.done, 'the result')
    return 'does not offer the action' in future.result().result.error_string


def send(cell, motion, **fields):
    """Send a goal; return its handle."""
    goal = FollowJointTrajectory.Goal(trajectory=motion, **fields)
    future = cell.goals.send_goal_async(goal, lambda each: cell.feedback.append(each.feedback))
    cell.wait(future.done, 'the answer to a goal')
    assert future.result().accepted
    return future.result()


def under_way(cell, seconds=6.0, **fields):
    """Send a goal; return its handle when it moves with torque."""
    handle = send(cell, trajectory(seconds), **fields)
    cell.wait(lambda: np.abs(cell.effort).max() > 5.0, 'torque')
    cell.wait(lambda: np.abs(cell.position).max() > 0.1, 'motion')
    return handle


def check(cell, handle, status, code, text):
    future = handle.get_result_async()
    cell.wait(future.done, 'the result', 40.0)
    result = future.result().result
    assert (future.result().status, result.error_code) == (status, code), result
    assert text in result.error_string


def at_rest(cell):
    """In 0.3 s by the stamps of its states, however late they are heard."""
    before, end = cell.position, next(reversed(cell.efforts)) + 300_000_000
    cell.wait(lambda: next(reversed(cell.efforts)) > end, 'joint states')
    return np.abs(cell.position - before).max() < 1e-6


def check_stopped(cell):
    """The robot stands away from zero, and there is no torque left."""
    cell.wait(lambda: at_rest(cell), 'standstill')
    assert np.abs(cell.position).max() > 0.05
    assert not cell.effort.any()


def tolerance(**limits):
    return [JointTolerance(name='joint2', **limits)]


def test_a_goal_succeeds_with_torque_on_the_way_and_feedback_of_the_controller(cell):
    efforts = cell.efforts
    efforts.clear()
    fields = {'goal_tolerance': tolerance(position=0.01), 'goal_time_tolerance': Duration(sec=2)}
    handle = send(cell, trajectory(3.0), **fields)
    check(cell, handle, SUCCEEDED, Result.SUCCESSFUL, 'Goal successfully reached!')
    assert len(cell.feedback) > 20
    row = cell.feedback[len(cell.feedback) // 2]
    assert list(row.joint_names) == JOINTS
    desired, actual = np.array(row.desired.positions), np.array(row.actual.positions)
    assert np.abs(desired).max() > 0.1
    np.testing.assert_allclose(actual, desired, atol=0.05)  # the mock follows some cycles later
    measured = np.array(list(efforts.values()))
    assert (np.abs(measured).max(axis=0) > 1.0).all() and np.abs(measured).max() <= LIMIT
    cell.wait(lambda: at_rest(cell), 'standstill')
    np.testing.assert_allclose(cell.position, 0.0, atol=1e-6)
    assert not cell.effort.any()


def test_a_cancel_stops_the_robot_on_its_way(cell):
    handle = under_way(cell)
    future = handle.cancel_goal_async()
    cell.wait(future.done, 'the answer to a cancel')
    assert len(future.result().goals_canceling) == 1
    check(cell, handle, CANCELED, Result.SUCCESSFUL, '')
    check_stopped(cell)


def test_a_newer_goal_preempts_the_running_one_without_a_step_of_torque(cell):
    cell.efforts.clear()
    first = under_way(cell)
    second = send(cell, trajectory(3.0))
    check(cell, first, ABORTED, Result.INVALID_GOAL, 'Current goal preempted by new incoming')
    cell.spin(0.5)
    assert np.abs(cell.effort).max() > 5.0
    check_hardware_steps(cell)
    check(cell, second, SUCCEEDED, Result.SUCCESSFUL, 'Goal successfully reached!')
