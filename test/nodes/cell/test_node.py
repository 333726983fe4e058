# SPDX-License-Identifier: Apache-2.0
"""The cell as a process of its own, over real DDS."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from ros_client import PATIENCE, Ear, RosClient, environment
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robodyn_ros.nodes.base.common import LATCHED_QOS, RECORDER_QOS

pytestmark = pytest.mark.ros
CONFIG = Path(__file__).resolve().parents[3] / 'config' / 'robots' / 'six_axis.yaml'
JOINTS = [f'joint{i}' for i in range(1, 7)]
JTC = 'joint_trajectory_controller'


NUMBER = 3


def start(log, *parameters):
    command = [sys.executable, '-m', 'robodyn_ros.nodes.cell.node', '--ros-args']
    for parameter in parameters:
        command += ['-p', parameter]
    return subprocess.Popen(
        command, env=environment(NUMBER), stdout=log, stderr=subprocess.STDOUT, text=True
    )


class Client(RosClient):
    """Client of the cell: the last messages of each topic, and its services."""

    def __init__(self, *, follows=True):
        super().__init__(environment(NUMBER), follows=follows)
        self._ears = rclpy.create_node('ears', context=self.context)
        self.ears = {
            topic: Ear(self._ears, JointState, topic, RECORDER_QOS, raw=True)
            for topic in ('joint_states', 'cell/plant', f'{JTC}/reference')
        }
        self.pushes = []
        self.node.create_subscription(WrenchStamped, 'cell/push', self.pushes.append, LATCHED_QOS)
        self.trajectory = self.publisher(JointTrajectory, f'{JTC}/joint_trajectory', 'cell')

    def collect(self, seconds):
        """Drop what came before, wait for this much cell time, return times and arrays."""
        for ear in self.ears.values():
            ear.forget(kept=0)
        return self.later(seconds)

    def later(self, seconds):
        """Wait for this much more cell time, return times and arrays since the last `collect`."""
        count = self.heard() + round(seconds / 0.002)
        self.wait(lambda: self.heard() >= count, f'{count} messages')
        return {topic: columns(ear.rows()) for topic, ear in self.ears.items()}

    def heard(self):
        """Messages of the topic of which the fewest have come."""
        return min(len(ear.rows()) for ear in self.ears.values())

    def reset(self):
        """Let it be at rest in the initial position."""
        answer = self.call(Trigger, 'cell/reset', Trigger.Request())
        assert answer.success and 'initial position' in answer.message
        self.settled(0.0, 0.0)

    def move(self, *points):
        """Publish points of (time, positions[, effort]) for all joints."""
        message = JointTrajectory(joint_names=JOINTS)
        for at, position, *effort in points:
            point = JointTrajectoryPoint(positions=[float(position)] * 6)
            point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1 * 1e9))
            if effort:
                point.effort = [float(effort[0])] * 6
            message.points.append(point)
        self.trajectory.publish(message)

    def push(self, text):
        """Push the robot; return why it is refused, or ''."""
        return self.set_parameter('cell', 'push', text).reason

    def reference(self):
        return deserialize_message(self.ears[f'{JTC}/reference'].last(), JointState)

    def close(self):
        self._ears.destroy_node()
        super().close()

    def settled(self, position, effort):
        """Wait until this position and effort are commanded to all joints."""

        def check():
            last = self.reference()
            return np.allclose(last.position, position) and np.allclose(last.effort, effort)

        self.wait(check, f'position {position} and effort {effort}')


def columns(rows):
    messages = [deserialize_message(row.message, JointState) for row in rows]
    stamp = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages]
    fields = (np.array([getattr(m, f) for m in messages]) for f in FIELDS)
    return (np.array(stamp), *fields)


FIELDS = ('position', 'velocity', 'effort')


@pytest.fixture(scope='module')
def log(tmp_path_factory):
    return tmp_path_factory.mktemp('cell') / 'log'


@pytest.fixture(scope='module')
def client(log):
    with log.open('w') as out:
        process = start(out, f'config:={CONFIG}', 'real_time_factor:=0.0', 'profile:=ideal')
        client = None
        try:
            client = Client()
            client.wait(client.heard, 'the first messages')
            yield client
        finally:
            if client is not None:
                client.close()
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(timeout=PATIENCE) == 0
            finally:
                process.kill()


@pytest.fixture(autouse=True)
def at_rest(request):
    if 'client' in request.fixturenames:
        request.getfixturevalue('client').reset()


def gapless(seen):
    return all(set(np.diff(stamp)) == {2_000_000} for stamp, *_ in seen.values())


def test_states_come_every_servo_period_without_gap(client):
    seen = client.collect(1.0)
    assert gapless(seen)
    for _, *fields in seen.values():
        assert all(field.shape == (500, 6) for field in (f[:500] for f in fields))
    first = deserialize_message(client.ears['joint_states'].last(), JointState)
    assert first.name == JOINTS


@pytest.mark.real_time
def test_without_a_follower_it_keeps_real_time(tmp_path):
    with (tmp_path / 'log').open('w') as out:
        process = start(out, f'config:={CONFIG}', 'real_time_factor:=0.0', 'profile:=ideal')
        client = None
        try:
            client = Client(follows=False)
            client.wait(client.heard, 'the first messages')
            client.move((0.0, 0.0), (5.0, 0.2))
            begin = time.monotonic()
            seen = client.collect(2.0)
            assert 1.6 < time.monotonic() - begin < 4.0
            assert abs(seen['joint_states'][0][-1] * 1e-9 - time.time()) < 1.0
        finally:
            if client is not None:
                client.close()
            process.kill()
            process.wait()


def test_trajectory_is_executed_with_its_effort(client):
    client.collect(0.1)
    client.move((0.0, 0.0, 0.0), (0.5, 0.2, 3.0), (1.0, 0.2, 2.0))
    client.settled(0.2, 2.0)
    seen = client.later(0.4)
    assert gapless(seen)
    stamp, position, velocity, effort = seen[f'{JTC}/reference']
    began = int(np.argmax(effort[:, 0] > 0)) - 1
    seconds = (stamp - stamp[began]) * 1e-9
    expected = np.interp(seconds, [0, 0.5, 1.0], [0, 0.2, 0.2])
    np.testing.assert_allclose(position[:, 0], expected, atol=1e-9)
    wanted = np.interp(seconds, [0, 0.5, 1.0], [0, 3, 2])
    np.testing.assert_allclose(effort[:, 5], wanted, atol=1e-9)
    assert velocity[began + 100, 0] == pytest.approx(0.4)
    plant_stamp, plant, *_ = seen['cell/plant']
    row = int(np.argmax(plant_stamp >= stamp[began + 240]))
    assert abs(plant[row, 0] - 0.4 * (240 - 3.5) * 0.002) < 0.002
    np.testing.assert_allclose(plant[-1], 0.2, atol=1e-3)


def test_effort_is_held_after_success_and_no_points_are_refused(client, log):
    client.move((0.1, 0.1, 4.0))
    client.settled(0.1, 4.0)
    client.move((0.1, 0.1, 4.0), (1.0, 0.3, 8.0))
    client.wait(lambda: client.reference().effort[0] > 4.0, 'the effort to rise')
    client.move()
    client.wait(lambda: 'Empty trajectory received' in log.read_text(), 'a refusal')
    client.settled(0.3, 8.0)


def test_push_shows_in_the_torque_from_its_stamp_on(client):
    plant = client.ears['cell/plant']
    client.collect(0.5)
    client.pushes.clear()
    assert client.push('0.3 0 150 0') == ''
    client.wait(lambda: client.pushes, 'the start of the push')
    message = client.pushes[-1]
    assert (message.header.frame_id, message.wrench.force.y) == ('', 150.0)
    begin = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    client.wait(
        lambda: columns(plant.rows()[-1:])[0][0] > begin + 600_000_000, 'the end of the push'
    )
    seen = client.later(0.0)
    assert gapless(seen)
    stamp, _, _, torque = seen['cell/plant']
    change = torque[:, 0] - torque[0, 0]
    seconds = (stamp - begin) * 1e-9
    assert np.abs(change[seconds <= 0.0]).max() < 0.5
    assert np.abs(change[(seconds > 0.0) & (seconds < 0.02)]).max() > 1.0
    assert np.abs(change[(seconds > 0.05) & (seconds < 0.3)]).max() > 80.0
    # what remains is held by static friction, 46 Nm
    assert np.abs(change[seconds > 0.5]).max() < 50.0
    client.pushes.clear()
    assert "no link 'hand'" in client.push('hand 0.1 1 0 0')
    assert 'a duration above 0 s' in client.push('0 1 0 0')
    assert 'a push is' in client.push('1 2 3')
    assert not client.pushes


def test_a_push_that_no_robot_survives_resets_the_cell(client, log):
    """MuJoCo would append a warning to a file in the current folder."""
    assert client.push('0.01 1e30 1e30 1e30') == ''
    client.wait(
        lambda: 'command refused: the simulated robot became' in log.read_text(), 'the log'
    )
    stamp, position, *_ = client.collect(0.1)['cell/plant']
    assert len(stamp) >= 50 and np.isfinite(position).all()
    assert not Path('MUJOCO_LOG.TXT').exists()
