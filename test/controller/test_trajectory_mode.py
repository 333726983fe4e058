# SPDX-License-Identifier: Apache-2.0
"""The Python node in trajectory mode and the real joint_trajectory_controller, mock hardware."""

import numpy as np
import pytest
from control_cell import JOINTS, ControlCell, trajectory, write_result
from node_process import EFFORT, NodeProcess
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros
NUMBER = 43
JTC = 'joint_trajectory_controller'
PARAMETERS = {
    **EFFORT, 'autostart': 'true', 'state_timeout': 0.3, 'max_torque': '[400.0]',
    'ramp_down_time': 0.1, 'additive_torque_delay': 2,
}  # fmt: skip


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    folder = tmp_path_factory.mktemp('trajectory_mode')
    *_, file = write_result(folder)
    with ControlCell(folder, file, number=NUMBER, way='trajectory_effort') as cell:
        node = NodeProcess(
            'feedforward', NUMBER, folder / 'node', PARAMETERS, params_file=file, simulated=False
        )
        try:
            node.wait(lambda: node.enable(True).success, 'active')
            cell.feedforward = node
            cell.trajectory = node.publisher(JointTrajectory, 'feedforward/joint_trajectory')
            cell.past = node.publisher(JointTrajectory, f'{JTC}/joint_trajectory')
            cell.spin(2.0)  # for node and controller to find each other
            yield cell
        finally:
            node.close()


def begin(cell, seconds):
    """On its way with torque, whatever was before."""
    if cell.state_of(JTC) != 'active':
        cell.switch(activate=[JTC])
    cell.feedforward.reset()
    assert cell.feedforward.enable(True).success
    cell.trajectory.publish(trajectory(seconds))
    cell.wait(lambda: np.abs(cell.effort).max() > 5.0, 'torque')
    cell.spin(1.0)


@pytest.fixture
def moving(cell):
    begin(cell, 8.0)
    return cell


def stands(cell):
    """In 0.3 s by the stamps of its states, however late they are heard."""
    before, end = cell.position, next(reversed(cell.efforts)) + 300_000_000
    cell.wait(lambda: next(reversed(cell.efforts)) > end, 'joint states')
    return np.abs(cell.position - before).max() < 1e-6


def by_a_goal(cell):
    """Another goal, cancelled: how MoveIt stops a robot."""
    cell.start(6.0)
    cell.spin(0.2)
    cell.cancel()


def by_a_trajectory(cell):
    point = trajectory(6.0).points[0]
    point.positions = list(cell.position)
    point.velocities = point.accelerations = []
    cell.past.publish(JointTrajectory(joint_names=JOINTS, points=[point]))


def by_deactivation(cell):
    cell.switch(deactivate=[JTC])
    cell.switch(activate=[JTC])


@pytest.mark.parametrize('stop', [by_a_goal, by_a_trajectory, by_deactivation])
def test_a_robot_that_was_stopped_past_the_node_does_not_begin_to_move(moving, stop):
    stop(moving)
    moving.wait(lambda: stands(moving), 'standstill')
    at = moving.position
    moving.spin(1.0)  # the states stand still, and the reference of the old plan does not
    assert moving.feedforward.enable(False).message == 'disabled'
    moving.spin(1.0)
    np.testing.assert_allclose(moving.position, at, atol=1e-6)
    assert not moving.effort.any()
    assert 'there was no fault' in moving.feedforward.reset().message


def test_what_somebody_else_sends_while_the_node_plans_wins(cell):
    """A stop that comes past the node right after a trajectory came to it, for example."""
    begin(cell, 8.0)
    cell.trajectory.publish(trajectory(60.0))  # takes the node some tenths of a second
    by_a_trajectory(cell)
    cell.wait(lambda: 'refused: while it was planned' in cell.feedforward.said(), 'the refusal')
    cell.wait(lambda: stands(cell), 'standstill')
    at = cell.position
    assert cell.feedforward.enable(False).message == 'disabled'
    cell.spin(1.0)
    np.testing.assert_allclose(cell.position, at, atol=1e-6)
    assert not cell.effort.any()
