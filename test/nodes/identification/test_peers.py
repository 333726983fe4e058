# SPDX-License-Identifier: Apache-2.0
"""An identification whose nodes are killed: it ends, with the robot at rest and a closed bag."""

import asyncio
import os
import re
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from control_arm import write_axis
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.srv import StopRecording
from ros_client import PATIENCE, environment
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState

from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.errors import IdentificationError
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.base.presence import Watch
from robodyn_ros.nodes.identification import peers
from robodyn_ros.recording.readers import read_recording

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]
ACTION = 'identification/run_identification'
PHASE = RunIdentification.Feedback
DURATION = 120.0
"""The motion lasts so long, in [s]: what is at rest before was stopped."""
START = 90.0
"""Longest time until a node is there, in [s], on a busy machine."""
REST = 0.02
SPAN = 0.5
"""At rest is who does not move for so long, in [s]; the motion has a period of 2 s."""
EXCITATION = {
    'motion.kind': 'sine', 'motion.joints': ['joint1'], 'motion.start': [0.05],
    'motion.target': [0.25], 'motion.frequency': [0.5], 'motion.duration': DURATION,
    'pause': 0.1, 'start_delay': 0.2,
}  # fmt: skip


class Cell:
    """Cell, recorder, excitation and identification, each of which may be killed."""

    def __init__(self, folder, nodes, client):
        self.folder, self._nodes, self._client = folder, nodes, client
        self._robot = {'robot': write_axis(folder, 0.004)}
        self._count = 0
        self.wait = client.wait
        self._rows = []
        client.node.create_subscription(JointState, 'joint_states', self._on_state, MONITOR_QOS)
        self._action = ActionClient(client.node, RunIdentification, ACTION)
        nodes.start('cell', {**self._robot, 'real_time_factor': 3.0})
        names = ('recorder', 'excitation', 'identification')
        self._watches = {name: Watch(client.node, name) for name in names}
        for name in names:
            self.start(name)
        for watch in self._watches.values():
            self.wait(lambda watch=watch: watch.seen, START, watch.name)

    def start(self, name):
        parameters = {
            'recorder': {},
            'excitation': {'allow_unchecked': True, **EXCITATION},
            'identification': {'output_directory': str(self.folder / 'out'), 'speeds': [1.0]},
        }
        self._nodes.start(name, {**self._robot, 'use_sim_time': True, **parameters[name]})

    def kill(self, name):
        process = self._nodes._running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def start_anew(self, name):
        watch = self._watches[name]
        before = watch.message.process
        self.start(name)
        self.wait(lambda: watch.message.process != before, START, f'a new {name}')

    def _on_state(self, message):
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self._rows.append((stamp, message.position[0]))

    @property
    def swing(self):
        """Distance that the robot moved within the last SPAN, in [m]; None: it is not known."""
        if not self._rows or self._rows[-1][0] - self._rows[0][0] < SPAN:
            return None
        last = [value for stamp, value in self._rows if stamp >= self._rows[-1][0] - SPAN]
        return np.ptp(last) if len(last) > 20 else None

    def moves(self):
        self._rows.clear()
        self.wait(lambda: (self.swing or 0.0) > 0.02, PATIENCE, 'a robot that moves')

    def rests(self):
        self._rows.clear()
        resting = lambda: self.swing is not None and self.swing < REST * SPAN  # noqa: E731
        self.wait(resting, PATIENCE, 'a robot at rest')

    def run(self):
        """Begin an identification; return its folder, a function for its result, and feedback."""
        self._count += 1
        folder = self.folder / f'run{self._count}'
        goal, seen = RunIdentification.Goal(output_directory=str(folder)), []
        self.wait(self._action.server_is_ready, PATIENCE, 'the action')
        sent = self._action.send_goal_async(
            goal, feedback_callback=lambda message: seen.append(message.feedback)
        )
        self.wait(sent.done, PATIENCE, 'acceptance')
        assert sent.result().accepted
        end = sent.result().get_result_async()

        def result():
            self.wait(end.done, PATIENCE, 'the end of the identification')
            return end.result().result

        return SimpleNamespace(folder=folder, result=result, seen=seen, end=end)

    def exciting(self):
        """Begin an identification and wait until the robot moves; killed nodes start anew."""
        for name in self._watches:
            if name not in self._nodes._running:
                self.start_anew(name)
        run = self.run()
        self.wait(
            lambda: run.end.done() or any(row.phase == PHASE.EXCITING for row in run.seen),
            PATIENCE, 'the excitation',
        )  # fmt: skip
        assert not run.end.done(), run.result().message
        self.moves()
        return run

    def set_free_space(self, megabytes):
        value = Parameter('min_free_space', value=megabytes).to_parameter_msg()
        setter = self._client.node.create_client(SetParameters, 'recorder/set_parameters')
        self.wait(setter.service_is_ready, PATIENCE, 'the parameters of the recorder')
        done = setter.call_async(SetParameters.Request(parameters=[value]))
        self.wait(done.done, PATIENCE, 'an answer')
        assert done.result().results[0].successful

    def not_recording(self):
        stop = self._client.node.create_client(StopRecording, 'recorder/stop')
        self.wait(stop.service_is_ready, PATIENCE, 'the recorder')
        done = stop.call_async(StopRecording.Request())
        self.wait(done.done, PATIENCE, 'an answer')
        return done.result().message


@pytest.fixture(scope='module')
def cell(tmp_path_factory):
    folder = tmp_path_factory.mktemp('peers')
    before = dict(os.environ)
    os.environ.update(environment(47))
    with NodeProcesses(folder / 'nodes') as nodes, Client(nodes.check) as client:
        yield Cell(folder, nodes, client)
    os.environ.clear()
    os.environ.update(before)


def check_bag(folder, closed=True):
    """The bag holds the motion, and is closed."""
    if closed:
        with Reader(folder / 'excitation') as reader:
            assert reader.message_count > 200
    recording = read_recording(folder / 'excitation')
    assert all(finding.severity != 'error' for finding in recording.findings)
    assert np.ptp(recording.position) > 0.02
    assert not list(folder.rglob('.*'))


def test_a_recorder_that_dies_ends_the_motion(cell):
    run = cell.exciting()
    cell.kill('recorder')
    result = run.result()
    assert not result.success
    assert 'the recording ended early: node recorder is gone' in result.message
    assert 'stopped after' in result.message and 'what was recorded before is in' in result.message
    cell.rests()
    check_bag(run.folder, closed=False)


def test_an_excitation_that_dies_leaves_a_robot_at_rest_and_a_closed_bag(cell):
    run = cell.exciting()
    cell.kill('excitation')
    result = run.result()
    assert not result.success
    # DDS counts real time: where the simulation is faster, the silence is noticed first.
    signs = 'is gone|gives no feedback any more'
    assert re.match(f'the excitation did not finish: node excitation ({signs});', result.message)
    topic = '/joint_trajectory_controller/joint_trajectory'
    assert f'the robot was stopped through {topic}' in result.message
    cell.rests()
    assert cell.not_recording() == 'nothing is being recorded'
    check_bag(run.folder)


def test_an_identification_that_dies_ends_motion_and_recording(cell):
    run = cell.exciting()
    cell.kill('identification')
    cell.rests()
    closed = run.folder / 'excitation' / 'metadata.yaml'
    cell.wait(closed.exists, PATIENCE, 'a closed bag')
    check_bag(run.folder)
    text = 'recording ended: node identification is gone (it asked for this)'
    assert text in cell.not_recording()


def test_a_disk_that_fills_up_ends_the_motion_and_a_full_one_begins_none(cell):
    run = cell.exciting()
    cell.set_free_space(1e9)
    result = run.result()
    assert not result.success
    assert 'the recording ended early' in result.message
    assert 'MB are free on its disk, minimum 1000000000 MB' in result.message
    cell.rests()
    check_bag(run.folder)
    run = cell.run()
    message = run.result().message
    assert 'the recorder did not start' in message and 'MB are free' in message
    assert not run.seen and not run.folder.exists()
    cell.set_free_space(0.0)


def test_a_goal_without_an_answer_is_stopped(monkeypatch):
    called = []

    def service(kind, name, **options):
        return SimpleNamespace(call_async=lambda request: called.append(name))

    async def stopped(*arguments):
        return 'the robot was stopped'

    action = SimpleNamespace(
        server_is_ready=lambda: True, send_goal_async=lambda *_, **__: SimpleNamespace(done=bool)
    )
    watch = SimpleNamespace(begin=bool, seen=True, problem=str, message='its last words')
    monkeypatch.setattr(peers, 'ActionClient', lambda *_, **__: action)
    monkeypatch.setattr(peers, 'Watch', lambda *_: watch)
    monkeypatch.setattr(peers, 'stop_robot', stopped)
    monkeypatch.setattr(peers, 'ANSWER_TIMEOUT', 0.0)
    node = SimpleNamespace(create_client=service, get_fully_qualified_name=lambda: '/asking')
    background = SimpleNamespace(group=None, tick=lambda: asyncio.sleep(0.0), now=time.monotonic)
    client = peers.ExcitationClient(node, background)
    with pytest.raises(IdentificationError, match=r'did not come within .*the robot was stopped'):
        asyncio.run(client.run(Excite.Goal(), print, lambda: None))
    assert called == ['excitation/stop']
