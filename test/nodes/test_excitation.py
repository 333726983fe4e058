"""The excitation node as a process of its own, over real DDS, with a fake robot."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.action')
from action_msgs.msg import GoalStatus  # noqa: E402
from excitation_client import (  # noqa: E402
    HOME,
    JOINTS,
    PHASE,
    ROOT,
    Client,
    motion,
    robot_limits,
    start,
)
from ros_domain import domain  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from robodyn_ros.excitation.catalog import write_motion  # noqa: E402
from robodyn_ros.excitation.limits import check_motion  # noqa: E402
from robodyn_ros.excitation.robot_frame import frame_in_urdf  # noqa: E402
from robodyn_ros.excitation.spline import SplineTrajectory  # noqa: E402
from robodyn_ros.models.urdf_file import read_urdf  # noqa: E402
from robodyn_ros.nodes.common import LATCHED_QOS  # noqa: E402

pytestmark = pytest.mark.ros


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, a node that sends trajectories and one that streams."""
    os.environ['ROS_DOMAIN_ID'] = domain(43)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    from fake_robot import FakeRobot

    folder = tmp_path_factory.mktemp('excitation')
    file = folder / 'motion.yaml'
    write_motion(motion(), file)
    stream = {'output': 'stream', 'rate': 250.0}
    processes = {
        'planner': start(folder, 'planner', motion_file=str(file)),
        'streamer': start(folder, 'streamer', motion_file=str(file), **stream),
        'ending': start(folder, 'ending', **stream),
    }
    robot = FakeRobot(JOINTS, HOME)
    context = rclpy.Context()
    rclpy.init(context=context)
    clients = []
    try:
        clients += [Client(name, context) for name in ('planner', 'streamer')]
        deadline = time.monotonic() + 40.0
        while robot.node.count_subscribers('joint_states') < len(processes):
            assert time.monotonic() < deadline, 'the nodes do not see the robot'
            time.sleep(0.05)
        yield SimpleNamespace(
            robot=robot, folder=folder, file=file, planner=clients[0], streamer=clients[1],
            processes=processes,
        )  # fmt: skip
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        codes = {name: process.wait(timeout=15) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
        for client in clients:
            client.node.destroy_node()
        rclpy.shutdown(context=context)
        robot.close()
    assert set(codes.values()) == {0}, [path.read_text() for path in folder.glob('*.log')]


@pytest.fixture
def robot(cell):
    """Return the robot, at home and at rest for long enough that the nodes know it."""
    cell.robot.reset(HOME)
    time.sleep(0.3)
    return cell.robot


def written(cell, **changes):
    file = cell.folder / 'other.yaml'
    write_motion(motion(**changes), file)
    return file


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def test_trajectory_is_move_and_motion_within_limits_and_known_in_time(cell, robot):
    handle = cell.planner.send()
    answer = cell.planner.result(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED and answer.result.success
    received, zero, points = robot.trajectories[0]
    assert len(robot.trajectories) == 1 and zero > received
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
        assert progress == sorted(progress) and progress[-1] > 0.7
    remaining = [item.remaining for item in cell.planner.feedback]
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
    (_, first_zero, first), (received, zero, second) = robot.trajectories
    full, stop = SplineTrajectory(points=first), SplineTrajectory(points=second)
    offset = 1e-9 * (zero - first_zero)
    assert 0.0 <= offset < full.duration and stop.duration < longest
    # it must arrive while both still say the same
    assert 1e-9 * (received - zero) < 0.15
    time_axis = np.linspace(0.0, 0.14, 50)
    follow, running = stop.sample(time_axis), full.sample(time_axis + offset)
    np.testing.assert_allclose(follow.position, running.position, atol=1e-6)
    np.testing.assert_allclose(follow.velocity, running.velocity, atol=1e-4)
    limits = robot_limits()
    grid = stop.grid(5e-4)
    assert (np.abs(grid.acceleration) <= limits.acceleration).all()
    assert (np.abs(grid.velocity) <= limits.velocity).all()
    assert np.abs(grid.velocity[-1]).max() < 1e-3
    return stop


def test_stop_service_brakes_within_the_limits(cell, robot):
    handle = cell.planner.send()
    cell.planner.until(PHASE.EXCITING)
    cell.planner.wait(lambda: cell.planner.feedback[-1].progress > 0.3, 'some motion')
    assert cell.planner.call('stop').success
    answer = cell.planner.result(handle)
    assert answer.status == GoalStatus.STATUS_ABORTED and not answer.result.success
    assert 'stopped after' in answer.result.message and '~/stop' in answer.result.message
    stop = check_braking(robot, longest=1.0)
    assert seconds(answer.result.finished) > seconds(answer.result.started) > 0.0
    np.testing.assert_allclose(robot.position, stop.points.position[-1], atol=1e-3)
    assert cell.planner.feedback[-1].phase in (PHASE.STOPPING, PHASE.EXCITING)
    assert not cell.planner.call('stop').success


def test_cancel_while_moving_to_the_start(cell, robot):
    handle = cell.planner.send(written(cell, start=[0.8] * 6, target=[1.0] * 6))
    cell.planner.until(PHASE.MOVING_TO_START)
    time.sleep(0.3)
    cell.planner.answer(handle.cancel_goal_async())
    answer = cell.planner.result(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert 'the goal was cancelled' in answer.result.message
    assert seconds(answer.result.started) == 0.0
    check_braking(robot, longest=1.5)


def test_what_must_not_be_run_is_refused_with_a_sentence(cell, robot):
    excite = cell.planner.excite
    fast = excite(written(cell, frequency=[3.0] + [0.5] * 5))
    assert "the motion breaks a limit: joint 'joint1' reaches the" in fast.message
    assert 'cannot be read' in excite(cell.folder / 'none.yaml').message
    partial = written(cell, joints=JOINTS[:5], start=[0] * 5, target=[0] * 5, frequency=1.0)
    assert "says nothing about joint 'joint6'" in excite(partial).message
    robot.drift = 0.1
    time.sleep(0.3)
    assert "the robot moves: joint 'joint" in excite().message
    robot.drift = 0.0
    robot.position[1] = 2.35
    time.sleep(0.5)
    assert "outside the limits: joint 'joint2' is at 2.35 rad" in excite().message
    robot.silent = True
    time.sleep(0.7)
    assert 'there are no joint states for 0.' in excite().message
    assert not robot.trajectories and not fast.success


def test_second_start_is_refused_and_a_silent_robot_stopped(cell, robot):
    first = cell.planner.call('start')
    assert first.success and 'the motion runs for' in first.message
    second = cell.planner.call('start')
    assert not second.success and second.message == 'a motion is running already'
    time.sleep(0.6)
    robot.silent = True
    cell.planner.wait(lambda: len(robot.trajectories) == 2, 'the stop')
    check_braking(robot, longest=1.0)
    robot.silent = False
    log = cell.folder / 'planner.log'
    cell.planner.wait(lambda: 'there are no joint states for 0.' in log.read_text(), 'the log')


def test_robot_that_does_not_follow(cell, robot):
    robot.frozen = True
    small = cell.planner.excite(written(cell, target=[0.0] * 6, duration=2.0))
    assert not small.success
    assert "joint 'joint2' is 0.1 rad from the end of the motion" in small.message
    wide = cell.planner.excite(written(cell, target=[1.2, 0, 0, 0, 0, 0], frequency=0.3))
    assert not wide.success and "joint 'joint1' does not follow: it is 0." in wide.message
    # a braking trajectory would make a robot jump that is not on its motion: hold instead
    assert 'holding where it is' in wide.message
    cell.planner.wait(lambda: len(robot.trajectories[-1][2].time) == 2, 'the hold')
    *_, hold = robot.trajectories[-1]
    np.testing.assert_allclose(hold.position, [robot.position] * 2, atol=1e-9)
    assert not hold.velocity.any()


def test_stream_runs_the_motion_smoothly(cell, robot):
    answer = cell.streamer.excite()
    assert answer.success, answer.message
    setpoints = np.array([row for _, row in robot.setpoints])
    np.testing.assert_allclose(setpoints[0], HOME, atol=1e-3)
    np.testing.assert_allclose(setpoints[-1], motion().grid(0.1).position[-1], atol=1e-4)
    # no setpoint further from the one before than three periods at the highest speed
    steps = np.abs(np.diff(setpoints, axis=0))
    assert (steps <= 3 / 250.0 * robot_limits().velocity).all()
    ran = seconds(answer.finished) - seconds(answer.started)
    assert ran >= 2.5 - 0.02


def test_sigint_while_streaming_brakes_to_rest(cell, robot):
    process = cell.processes['ending']
    client = Client('ending', cell.planner.node.context)
    answer = client.call('start')
    assert answer.message.startswith('no motion is configured: set the parameter motion.kind')
    handle = client.send(written(cell, target=[0.6, 0.2, -0.2, 0.4, 0.4, 0.6], duration=8.0))
    client.until(PHASE.EXCITING)
    time.sleep(1.5)
    before = len(robot.setpoints)
    process.send_signal(signal.SIGINT)
    answer = client.result(handle)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the node was asked to end' in answer.result.message
    assert process.wait(timeout=10) == 0
    client.node.destroy_node()
    time.sleep(0.1)
    last = np.array([row for _, row in robot.setpoints[before - 20 :]])
    steps = np.abs(np.diff(last, axis=0)).max(axis=1)
    assert len(last) > 40 and steps[:20].max() > 1e-3
    assert steps[-1] < 2e-4, 'it must be at rest at the end'
    # braking from about 2 rad/s takes a good part of a second, not one step
    assert (np.abs(np.diff(last, n=2, axis=0)) < 0.02).all()
