# SPDX-License-Identifier: Apache-2.0
"""The recorder as a process of its own, over real DDS."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from node_process import NodeProcess
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robodyn_ros.msg import FaultCode
from robodyn_ros.srv import StartRecording, StopRecording
from ros_client import PATIENCE, details
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from small_disk import small_disk

from robodyn_ros.control.effort.recorded import bag_declaration, in_si_units
from robodyn_ros.nodes.base.clock import seconds_of
from robodyn_ros.nodes.base.presence import Presence
from robodyn_ros.nodes.recorder import node as recorder
from robodyn_ros.recording.bags.commands import references
from robodyn_ros.recording.readers import read_recording

pytestmark = pytest.mark.ros
RELIABLE = QoSProfile(depth=1000)
BEST_EFFORT = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)


NUMBER = 31


class Robot(NodeProcess):
    """A recorder process, and a node that publishes joint states and calls its services."""

    def __init__(self, folder, parameters=None, qos=RELIABLE, remap=None):
        given = {'output_directory': folder, **(parameters or {})}
        super().__init__('recorder', NUMBER, folder / 'recorder.log', given, remap=remap)
        self.joint_states = self.node.create_publisher(JointState, 'joint_states', qos)
        self.count = 0

    @property
    def statuses(self):
        return [status for message in self.diagnostics for status in message.status]

    def connect(self):
        """Wait until the recorder hears every message from now on."""
        self.wait(self.joint_states.get_subscription_count, 'the recorder')
        self.known_to('recorder')

    def call(self, kind, name, **request):
        return super().call(kind, name, kind.Request(**request))

    def written(self, count):
        """Wait until the diagnostics tell of so many messages."""
        self.wait(lambda: self.told('messages') == str(count), f'{count} messages')

    def told(self, key):
        """Return the newest value of a key of the diagnostics."""
        return next((d[key] for s in self.statuses[::-1] if key in (d := details(s))), None)

    def publish(self, count, skip=()):
        for index in range(self.count, self.count + count):
            if index in skip:
                continue
            message = JointState(name=['a', 'b'])
            message.header.stamp.sec, nanoseconds = 100 + index // 500, index % 500 * 2_000_000
            message.header.stamp.nanosec = nanoseconds
            message.position = [float(index), -float(index)]
            message.velocity = [1.0, 2.0]
            message.effort = [0.5 * index, 3.0 + index % 7]
            self.joint_states.publish(message)
            if index % 20 == 0:
                self.executor.spin_once(timeout_sec=0.002)
        self.count += count


@pytest.fixture
def robot(tmp_path):
    robots = []

    def create(*arguments, **options):
        robots.append(Robot(tmp_path, *arguments, **options))
        return robots[-1]

    yield create
    for entry in robots:
        entry.close()


def test_from_start_to_stop(robot, tmp_path):
    cell = robot({'min_free_space': 1e9})
    idle = cell.call(StopRecording, 'stop')
    assert (idle.success, idle.message) == (False, 'nothing is being recorded')
    assert idle.fault_code == FaultCode.FAULT_NO_RECORDING
    full = cell.call(StartRecording, 'start', recording='bag')
    assert not full.success and not (tmp_path / 'bag').exists()
    assert 'MB are free on its disk, minimum 1000000000 MB' in full.message
    assert full.fault_code == FaultCode.FAULT_DISK_FULL
    assert cell.set_parameter('recorder', 'min_free_space', 0.0).successful
    cell.publish(20)  # before the start: not in the bag
    started = cell.call(StartRecording, 'start', recording='first')
    assert (started.success, started.recording) == (True, str(tmp_path / 'first'))
    refused = cell.call(StartRecording, 'start', recording='second')
    assert not refused.success and 'already recording' in refused.message
    cell.connect()
    cell.publish(1000, skip=range(520, 525))
    cell.written(995)
    stopped = cell.call(StopRecording, 'stop')
    assert stopped.success, stopped.message
    assert stopped.fault_code == FaultCode.FAULT_NONE
    assert (stopped.messages, stopped.dropped) == (995, 5)
    assert seconds_of(stopped.largest_gap) == pytest.approx(0.012)
    assert seconds_of(stopped.duration) == pytest.approx(999 * 0.002)
    recording = read_recording(stopped.recording)
    expected = [float(index) for index in range(20, 1020) if not 520 <= index < 525]
    np.testing.assert_array_equal(recording.position[:, 0], expected)
    assert recording.origin == 100_040_000_000
    assert bag_declaration(stopped.recording) is None
    text = 'first is not declared: declare its meaning in section effort of the robot file'
    cell.wait(lambda: text in ' '.join(cell.said().split()), 'the warning')
    again = cell.call(StartRecording, 'start', recording='first')
    assert not again.success and 'exists already' in again.message
    assert again.fault_code == FaultCode.FAULT_RECORDING_FAILED
    unnamed = cell.call(StartRecording, 'start')
    assert unnamed.success and 'recording_2' in unnamed.recording
    empty = cell.call(StopRecording, 'stop')
    cell.wait(
        lambda: not cell.joint_states.get_subscription_count(), 'the end of the subscription'
    )
    assert not empty.success and 'no message came on /joint_states' in empty.message
    assert empty.fault_code == FaultCode.FAULT_NO_MESSAGES
    assert cell.interrupt() == 0


def test_commanded_positions_and_the_meaning_of_efforts_are_in_the_bag(robot):
    drives = {
        'effort.joints': '[b, a]', 'effort.unit': 'A', 'effort.side': 'motor',
        'effort.gravity': 'included', 'effort.torque_constant': '[0.5, 0.25]',
        'effort.gear_ratio': 10,
    }  # fmt: skip
    cell = robot(drives, remap='~/reference:=/controller/commanded')
    cell.call(StartRecording, 'start', recording='first')
    commanded = cell.node.create_publisher(JointState, 'controller/commanded', RELIABLE)
    cell.wait(commanded.get_subscription_count, 'the recorder')
    cell.connect()
    for position in (0.25, 0.5):
        commanded.publish(
            JointState(name=['a', 'b'], position=[position, 1.0], velocity=[9.0] * 2)
        )
        cell.publish(50)
    commanded.publish(JointState(name=['a', 'b']))  # commands no position
    cell.written(100)
    cell.wait(lambda: cell.told('commanded positions') == '2', 'the commanded positions')
    stopped = cell.call(StopRecording, 'stop')
    assert stopped.message == '100 messages, 0 dropped, 2 commanded positions'
    recorded = read_recording(stopped.recording)
    assert len(recorded.time) == 100
    converted = in_si_units(recorded, stopped.recording, [])
    np.testing.assert_allclose(converted.torque, recorded.torque * [2.5, 5.0])
    assert 'not declared' not in cell.said()
    found = references(stopped.recording, '/recorder/reference', ('b', 'a'), 0)
    assert [positions for _, positions in found] == [[1.0, 0.25], [1.0, 0.5]]
    cell.wait(lambda: not commanded.get_subscription_count(), 'the end of the subscription')


def test_the_owner_may_ask_again_and_its_end_closes_the_bag(robot, tmp_path):
    cell = robot()
    owner = rclpy.create_node('owner', context=cell.context)
    presence = Presence(owner)
    for name in ('bag', 'bag'):  # as where the first answer was lost
        started = cell.call(StartRecording, 'start', recording=name, owner='/owner')
        assert started.success and started.recording == str(tmp_path / 'bag')
    refused = cell.call(StartRecording, 'start', recording='bag')
    assert not refused.success and 'already recording' in refused.message
    cell.connect()
    cell.publish(100)
    cell.written(100)
    assert presence is not None and not (tmp_path / 'bag' / 'metadata.yaml').exists()
    owner.destroy_node()
    cell.wait((tmp_path / 'bag' / 'metadata.yaml').exists, 'the end of the bag')
    stopped = cell.call(StopRecording, 'stop')
    assert not stopped.success and stopped.messages == 100
    assert 'recording ended: node owner is gone (it asked for this)' in stopped.message
    assert stopped.fault_code == FaultCode.FAULT_OWNER_GONE
    assert cell.call(StartRecording, 'start', recording='next').success
    assert cell.interrupt() == 0


def test_sigint_finishes_the_bag(robot, tmp_path):
    cell = robot({'autostart': 'true', 'best_effort': 'true'}, qos=BEST_EFFORT)
    cell.connect()

    def written():
        cell.publish(10)
        return int(cell.told('messages') or 0) > 200

    cell.wait(written, '200 messages in the diagnostics')
    assert cell.interrupt() == 0
    (bag,) = tmp_path.glob('recording_*')
    with Reader(bag) as reader:  # index and metadata.yaml are there
        assert 200 < reader.message_count <= cell.count
    assert 'Traceback' not in cell.said()


def test_a_full_disk_is_told_and_leaves_a_whole_bag(robot, tmp_path):
    with small_disk(tmp_path / 'disk', 2**20) as disk:
        cell = robot({'min_free_space': 0.0})
        assert cell.call(StartRecording, 'start', recording='disk/bag').success
        cell.connect()
        deadline = time.monotonic() + PATIENCE
        while not any(s.level == DiagnosticStatus.ERROR for s in cell.statuses):
            assert time.monotonic() < deadline
            cell.publish(500)
            cell.spin(0.5)  # the node writes every second
        ended = [each for each in cell.statuses if each.level == DiagnosticStatus.ERROR]
        assert 'recording ended, No space left on device' in ended[-1].message
        stopped = cell.call(StopRecording, 'stop')
        assert not stopped.success
        assert 'recording ended, No space left on device' in stopped.message
        assert stopped.fault_code == FaultCode.FAULT_RECORDING_FAILED
        assert stopped.messages > 1000
        with Reader(disk / 'bag') as reader:
            assert reader.message_count == stopped.messages
        assert cell.call(StartRecording, 'start', recording='next').success
        assert cell.interrupt() == 0


def test_no_node_takes_events_of_lost_messages():
    """Taking them deadlocks: found by an hour of faults; rmw_fastrtps, pull request 890."""
    package = Path(recorder.__file__).parents[1]
    users = [
        path.name for path in package.rglob('*.py')
        if re.search(r'message_lost *=', path.read_text(encoding='utf-8'))
    ]  # fmt: skip
    assert users == []
