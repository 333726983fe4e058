"""The excitation node as a process of its own, over real DDS, with a fake robot."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.action')
from action_msgs.msg import GoalStatus  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from robodyn_ros.action import Excite  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from robodyn_ros.errors import MotionError, RobodynError  # noqa: E402
from robodyn_ros.excitation.catalog import write_motion  # noqa: E402
from robodyn_ros.excitation.limits import JointLimits, check_motion  # noqa: E402
from robodyn_ros.excitation.limits_file import load_limits  # noqa: E402
from robodyn_ros.excitation.sine import SineMotion  # noqa: E402
from robodyn_ros.excitation.spline import SplineTrajectory  # noqa: E402
from robodyn_ros.models.urdf_file import read_urdf  # noqa: E402
from robodyn_ros.nodes.excitation_parameters import (  # noqa: E402
    declare_limits,
    declare_settings,
    read_motion,
)

pytestmark = pytest.mark.ros
ROOT = Path(__file__).resolve().parents[2]
JOINTS = [f'joint{i}' for i in range(1, 7)]
HOME = [0.05, -0.1, 0.0, 0.1, 0.0, 0.0]
PHASE = Excite.Feedback


def robot_limits(robot='six_axis'):
    base = JointLimits.from_urdf(read_urdf(ROOT / 'urdf' / f'{robot}.urdf'))
    return load_limits(ROOT / 'config' / f'joint_limits_{robot}.yaml', base)


def motion(**changes):
    values = {
        'joints': JOINTS,
        'start': [0.0] * 6,
        'target': [0.3, 0.2, -0.2, 0.4, 0.4, 0.6],
        'frequency': [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        'duration': 2.5,
    }
    return SineMotion(**{**values, **changes})


def start(folder, name, **parameters):
    values = {
        'urdf': str(ROOT / 'urdf' / 'six_axis.urdf'),
        'joint_limits': str(ROOT / 'config' / 'joint_limits_six_axis.yaml'),
        'pause': 0.1,
        'goal_time': 0.5,
        'state_timeout': 0.5,
        'start_delay': 0.2,
        **parameters,
    }
    file = folder / f'{name}.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}))
    command = [sys.executable, '-m', 'robodyn_ros.nodes.excitation', '--ros-args']
    command += ['-r', f'__node:={name}', '--params-file', str(file)]
    log = (folder / f'{name}.log').open('w')
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True)


class Client:
    """Calls one excitation node."""

    def __init__(self, name, context):
        self.node = rclpy.create_node(f'client_of_{name}', context=context)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self.action = ActionClient(self.node, Excite, f'{name}/excite')
        self.services = {
            word: self.node.create_client(Trigger, f'{name}/{word}') for word in ('start', 'stop')
        }
        self.feedback = []
        self.wait(self.action.server_is_ready, 'the action')
        for service in self.services.values():
            self.wait(service.service_is_ready, 'the services')

    def wait(self, condition, what, timeout=40.0):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f'waited {timeout} s for {what}'
            self.executor.spin_once(timeout_sec=0.02)

    def answer(self, future, what='an answer', timeout=40.0):
        self.wait(future.done, what, timeout)
        return future.result()

    def call(self, word):
        return self.answer(self.services[word].call_async(Trigger.Request()))

    def send(self, file=''):
        self.feedback.clear()
        goal = Excite.Goal(motion_file=str(file))
        future = self.action.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        return self.answer(future)

    def result(self, handle):
        return self.answer(handle.get_result_async(), 'the result')

    def excite(self, file=''):
        return self.result(self.send(file)).result

    def until(self, phase):
        self.wait(lambda: any(item.phase == phase for item in self.feedback), f'phase {phase}')


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    """Fake robot, a node that sends trajectories and one that streams."""
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
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


@pytest.mark.parametrize(
    ('values', 'sentence'),
    [
        ({'output': 'smoke'}, r"'output' must be one of \['trajectory', 'stream'\], got 'smoke'"),
        ({'rate': 5.0}, "parameter 'rate'"),
        ({'urdf': ''}, "node 'n' needs the robot"),
        ({'velocity_scaling': 1.5}, r'velocity scaling factor must be in \(0, 1\], got 1.5'),
        ({'joints': ['joint9']}, "has no moving joint 'joint9'"),
        ({'joint_limits': 'none.yaml'}, 'joint limits file none.yaml cannot be read'),
    ],
)
def test_parameters_that_cannot_be_used(cell, values, sentence):
    values = {'urdf': str(ROOT / 'urdf' / 'six_axis.urdf'), **values}
    overrides = [rclpy.parameter.Parameter(name, value=value) for name, value in values.items()]
    context = cell.planner.node.context
    node = rclpy.create_node('n', context=context, parameter_overrides=overrides)
    try:
        with pytest.raises(RobodynError, match=sentence):
            declare_settings(node)
            declare_limits(node)
    finally:
        node.destroy_node()


class Parameters:
    """Stands for a node with these parameters."""

    def __init__(self, values):
        self.values = {f'motion.{name}': value for name, value in values.items()}

    def get_parameter_or(self, name, alternative):
        return SimpleNamespace(value=self.values[name]) if name in self.values else alternative

    def get_parameter(self, name):
        return SimpleNamespace(value=self.values.get(name, ''))


@pytest.mark.parametrize(
    'robot', ['six_axis', 'ur10', 'lwr4', 'single_axis', 'single_rotary_axis']
)
def test_motions_of_our_own_robots_keep_their_limits(robot):
    document = yaml.safe_load((ROOT / 'config' / f'excitation_{robot}.yaml').read_text())
    values = document['/**/excitation']['ros__parameters']
    assert values['joint_limits'].endswith(f'/config/joint_limits_{robot}.yaml')
    bounds = robot_limits(robot)
    found = read_motion(Parameters(values['motion']), '', bounds)
    check_motion(found, bounds)
    assert (found.frequency * (found.duration - 2.0) >= 2.0).all()


def test_flat_coefficients_become_rows():
    bounds = robot_limits('single_rotary_axis')
    values = {'kind': 'fourier', 'center': [0.0], 'base_frequency': 0.1, 'harmonics': 2}
    found = read_motion(Parameters({**values, 'a': [0.1, -0.1], 'b': [0.2, -0.1]}), '', bounds)
    assert found.a.shape == (1, 2) and found.joints == ('joint1',)
    with pytest.raises(MotionError, match=r'motion\.a must have 2 value.* got 3'):
        read_motion(Parameters({**values, 'a': [0.1] * 3, 'b': [0.2, -0.1]}), '', bounds)
