# SPDX-License-Identifier: Apache-2.0
"""The excitation node as a process of its own, over real DDS, with a fake robot."""

from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from excitation_client import (
    HOME,
    JOINTS,
    PHASE,
    ROOT,
    end,
    motion,
    robot_and_clients,
    robot_limits,
    seconds,
    start,
)
from robodyn_ros.msg import FaultCode
from visualization_msgs.msg import Marker

from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.motions.spline import SplineTrajectory
from robodyn_ros.excitation.robot_frame import frame_in_urdf
from robodyn_ros.models.serial.urdf_file import read_urdf
from robodyn_ros.nodes.base.clock import seconds_of
from robodyn_ros.nodes.base.common import LATCHED_QOS

pytestmark = pytest.mark.ros


NUMBER = 43
LONG = 8.0
"""Duration of a motion that is to be stopped, in [s]."""


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, and a node that sends trajectories."""
    folder = tmp_path_factory.mktemp('excitation')
    file, long = folder / 'motion.yaml', folder / 'long.yaml'
    write_motion(motion(), file)
    write_motion(motion(duration=LONG), long)
    processes = {'planner': start(folder, 'planner', NUMBER, motion_file=str(long))}
    with robot_and_clients(NUMBER, processes) as (robot, clients):
        yield SimpleNamespace(robot=robot, folder=folder, file=file, **clients)
        assert end(processes['planner']) == 0, (folder / 'planner.log').read_text()


@pytest.fixture
def robot(cell):
    """Return the robot, at home and at rest."""
    cell.robot.reset(HOME)
    return cell.robot


def written(cell, **changes):
    file = cell.folder / 'other.yaml'
    write_motion(motion(**changes), file)
    return file


def test_trajectory_is_move_and_motion_within_limits_and_known_in_time(cell, robot):
    robot.reset(HOME)
    cell.planner.send(cell.file)
    answer = cell.planner.result()
    assert answer.status == GoalStatus.STATUS_SUCCEEDED and answer.result.success
    ((sent, zero, points),) = robot.trajectories
    assert zero > sent
    sent = SplineTrajectory(points=points)
    check_motion(sent, robot_limits())
    np.testing.assert_allclose(points.position[0], HOME, atol=1e-9)
    assert np.abs(points.velocity[[0, -1]]).max() < 1e-9
    begin = seconds(answer.result.started) - 1e-9 * zero
    time_axis = np.linspace(0.0, 2.5, 300)
    got, expected = sent.sample(begin + time_axis), motion().sample(time_axis)
    # 1e-6 of the stamps' time is what the clock resolves after the division
    np.testing.assert_allclose(got.position, expected.position, atol=1e-5)
    np.testing.assert_allclose(got.acceleration, expected.acceleration, atol=5e-3)
    ran = seconds(answer.result.finished) - seconds(answer.result.started)
    assert ran == pytest.approx(2.5, abs=1e-4)
    phases = [item.phase for item in cell.planner.feedback]
    assert set(phases) == {PHASE.MOVING_TO_START, PHASE.EXCITING} and phases == sorted(phases)
    for phase in set(phases):
        progress = [item.progress for item in cell.planner.feedback if item.phase == phase]
        assert progress == sorted(progress)
    remaining = [seconds_of(item.remaining) for item in cell.planner.feedback]
    assert remaining == sorted(remaining, reverse=True)
    check_path_marker(cell.planner)


def check_path_marker(client):
    """Check that who looks later still gets the path of the last motion."""
    received = []
    path = client.node.create_subscription(Marker, 'planner/path', received.append, LATCHED_QOS)
    client.wait(lambda: received, 'the path')
    client.node.destroy_subscription(path)
    urdf = read_urdf(ROOT / 'urdf' / 'six_axis.urdf')
    assert len(received) == 1 and received[0].header.frame_id == urdf.root
    places = frame_in_urdf(urdf, JOINTS)(motion().grid(0.01).position)[:, 0]
    drawn = np.array([[point.x, point.y, point.z] for point in received[0].points])
    np.testing.assert_allclose(drawn, places, atol=1e-9)


def check_braking(robot, longest):
    """Check that the second trajectory takes the first one over and brakes within the limits."""
    (_, first_zero, first), (sent, zero, second) = robot.trajectories
    full, stop = SplineTrajectory(points=first), SplineTrajectory(points=second)
    offset = 1e-9 * (zero - first_zero)
    assert 0.0 <= offset < full.duration
    time_axis = np.linspace(0.0, stop.duration, 2000)
    follow, running = stop.sample(time_axis), full.sample(time_axis + offset)
    apart = (np.abs(follow.position - running.position) > 1e-6).any(axis=1)
    follows = time_axis[np.argmax(apart)] if apart.any() else stop.duration
    # The node takes longer than this where the machine stands still while it computes.
    assert follows >= 0.14 and stop.duration - follows < longest - 0.15
    # it must be there while both still say the same
    assert 1e-9 * (sent - zero) < follows
    same = time_axis <= 0.14
    np.testing.assert_allclose(follow.velocity[same], running.velocity[same], atol=1e-4)
    limits = robot_limits()
    grid = stop.grid(5e-4)
    assert (np.abs(grid.acceleration) <= limits.acceleration).all()
    assert (np.abs(grid.velocity) <= limits.velocity).all()
    assert np.abs(grid.velocity[-1]).max() < 1e-3
    return stop


def test_stop_service_brakes_within_the_limits(cell, robot):
    robot.reset(HOME)
    cell.planner.send()
    cell.planner.until(PHASE.EXCITING, progress=0.05)
    stopped = cell.planner.call('stop')
    answer = cell.planner.result()
    assert stopped.success
    assert answer.status == GoalStatus.STATUS_ABORTED and not answer.result.success
    assert 'stopped after' in answer.result.message and '~/stop' in answer.result.message
    assert answer.result.fault_code == FaultCode.FAULT_STOP_REQUESTED
    stop = check_braking(robot, longest=1.0)
    assert seconds(answer.result.finished) > seconds(answer.result.started) > 0.0
    np.testing.assert_allclose(robot.position, stop.points.position[-1], atol=1e-3)
    assert cell.planner.feedback[-1].phase in (PHASE.STOPPING, PHASE.EXCITING)
    assert not cell.planner.call('stop').success


def test_cancel_while_moving_to_the_start(cell, robot):
    robot.reset(HOME)
    far = np.array([2.7, 2.1, -2.6, 2.7, 1.9, 2.7])
    handle = cell.planner.send(written(cell, start=far, target=far - 0.2))
    cell.planner.until(PHASE.MOVING_TO_START, progress=0.1)
    cell.planner.answer(handle.cancel_goal_async())
    answer = cell.planner.result()
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert 'the goal was cancelled' in answer.result.message
    assert answer.result.fault_code == FaultCode.FAULT_CANCELLED
    assert seconds(answer.result.started) == 0.0
    check_braking(robot, longest=1.5)


def test_what_must_not_be_run_is_refused_with_a_sentence(cell, robot):
    excite = cell.planner.excite
    fast = excite(written(cell, frequency=[3.0] + [0.5] * 5))
    assert "the motion breaks a limit: joint 'joint1' reaches the" in fast.message
    assert fast.fault_code == FaultCode.FAULT_INVALID_MOTION
    assert 'cannot be read' in excite(cell.folder / 'none.yaml').message
    partial = written(cell, joints=JOINTS[:5], start=[0] * 5, target=[0] * 5, frequency=1.0)
    assert "does not move joint 'joint6'" in excite(partial).message
    planner = cell.planner
    robot.drift = 0.1
    planner.wait(lambda: "the robot moves: joint 'joint" in planner.refusal(), 'the motion')
    robot.drift = 0.0
    robot.put(1, 2.35)
    outside = "outside the limits: joint 'joint2' is at 2.35 rad"
    planner.wait(lambda: outside in planner.refusal(), outside)
    assert outside in excite().message
    robot.silent = True
    silence = 'there are no joint states for '
    planner.wait(lambda: silence in planner.refusal(), silence)
    assert silence in excite().message
    assert not robot.trajectories and not fast.success


def test_second_start_is_refused_and_a_silent_robot_stopped(cell, robot):
    first = cell.planner.start()
    assert first.success and 'the motion runs for' in first.message
    second = cell.planner.call('start')
    assert not second.success and second.message == 'a motion is running already'
    cell.planner.spin(0.6)
    robot.silent = True
    cell.planner.wait(lambda: len(robot.trajectories) == 2, 'the stop')
    check_braking(robot, longest=1.0)
    robot.silent = False
    log = cell.folder / 'planner.log'
    cell.planner.wait(lambda: 'there are no joint states for ' in log.read_text(), 'the log')


def test_a_simulation_that_dies_stops_the_robot(cell, robot):
    log = cell.folder / 'planner.log'
    said = len(log.read_text())
    cell.planner.send()
    cell.planner.until(PHASE.EXCITING)
    robot.time.dead = True
    try:
        cell.planner.wait(cell.planner.ended, 'the stop')
    finally:
        robot.time.dead = False
    assert 'there are no joint states for ' in cell.planner.ended()
    assert '/clock has been silent for' in log.read_text()[said:]
    robot.settle()
    assert len(robot.trajectories) == 2


def test_robot_that_does_not_follow(cell, robot):
    robot.frozen = True
    small = cell.planner.excite(written(cell, target=[0.0] * 6, duration=2.0))
    assert not small.success
    assert "joint 'joint2' is 0.1 rad from the end of the motion" in small.message
    assert small.fault_code == FaultCode.FAULT_NOT_AT_GOAL
    wide = cell.planner.excite(written(cell, target=[1.2, 0, 0, 0, 0, 0], frequency=0.3))
    assert not wide.success and "joint 'joint1' does not follow: it is 0." in wide.message
    assert wide.fault_code == FaultCode.FAULT_NOT_FOLLOWING
    # a braking trajectory would make a robot jump that is not on its motion: hold instead
    assert 'holding where it is' in wide.message
    cell.planner.wait(lambda: len(robot.trajectories[-1][2].time) == 2, 'the hold')
    *_, hold = robot.trajectories[-1]
    np.testing.assert_allclose(hold.position, [robot.position] * 2, atol=1e-9)
    assert not hold.velocity.any()


def test_a_motion_is_over_only_when_the_robot_is_at_rest(cell, robot):
    cell.planner.send(written(cell, duration=1.2, lead_in=0.5, lead_out=0.5))
    cell.planner.until(PHASE.EXCITING)
    robot.swing = 0.01  # half of goal_tolerance
    answer = cell.planner.result()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.message.startswith("the robot moves: joint 'joint1' at 0.")
    assert answer.result.fault_code == FaultCode.FAULT_ROBOT_MOVES
    robot.swing = 0.0
    cell.planner.send(written(cell, duration=1.2, lead_in=0.5, lead_out=0.5))
    answer = cell.planner.result()
    assert answer.result.success, answer.result.message
