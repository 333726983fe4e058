# SPDX-License-Identifier: Apache-2.0
"""Reactions of a real monitor: controller, a stop service that restarts, and their events."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from action_msgs.srv import CancelGoal
from collision_client import COLLISION, NAMES, STALE, UNKNOWN, Monitor, levels
from node_process import closed, joint_state
from robodyn_ros.srv import Mute
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.cli.main import main
from robodyn_ros.nodes.base.clock import to_duration
from robodyn_ros.recording.bags.topic_bag import read_topic, topic_types

pytestmark = pytest.mark.ros
CONTROLLER = 'joint_trajectory_controller'
LONG = 10.0
"""For joint states that stay away while the test waits for something else, in [s]."""


class Cell(Monitor):
    """The monitor with a controller that notes what it is asked."""

    def __init__(self, folder, number, **parameters) -> None:
        super().__init__(folder, number, **parameters)
        self.cancels = []
        cancel = f'{CONTROLLER}/follow_joint_trajectory/_action/cancel_goal'
        self.process.node.create_service(CancelGoal, cancel, self.on_cancel)
        self.motions = self.process.listen(JointTrajectory, f'{CONTROLLER}/joint_trajectory')
        # Whatever waits for discovery comes before the first sample: else states would be missing.
        self.reference = self.process.publisher(JointState, 'collision_monitor/reference')
        self.process.call(Mute, 'mute', Mute.Request(duration=to_duration(0.0)))
        self.process.reset()
        self.process.known_to('collision_monitor')
        self.time = self.process.now()  # the stamps of states go on from those without a sample
        self.run(60)

    def on_cancel(self, request, response):
        self.cancels.append(len(self.motions))
        return response


def test_reactions_reach_the_controller_and_a_restarted_stop_service(tmp_path, capsys):
    cell = Cell(
        tmp_path, 9, reaction='stop', on_unknown='stop', retry_period='0.1',
        black_box_after='0.3', black_box_directory=tmp_path / 'events',
        stale_timeout=LONG,
    )  # fmt: skip
    with closed(cell):
        process = cell.process
        process.time.fastest = 1.0  # a busy machine
        # Muted: the level says it, and nothing is called.
        assert process.call(Mute, 'mute', Mute.Request(duration=to_duration(9.0))).success
        cell.run(15, push=9.0)
        assert cell.states[-1].muted and cell.states[-1].latched
        process.settle()
        assert not (cell.motions or cell.cancels or cell.stops)
        refused = process.call(Mute, 'mute', Mute.Request(duration=to_duration(10.0)))
        assert 'a collision is not cleared yet' in refused.message
        cell.run(60)
        process.call(Mute, 'mute', Mute.Request(duration=to_duration(0.0)))
        process.wait(lambda: 'the mute has ended' in process.said(), 'the end of the mute')

        process.node.destroy_service(cell.stop_service)  # it was killed
        cell.run(30)
        cell.reference.publish(joint_state(NAMES, cell.time, *cell.sample()[:2]))
        cell.run(15, push=9.0)
        assert levels(cell.states[-1:])[0, 1] == COLLISION
        process.wait(lambda: cell.motions and cell.cancels, 'the first reactions')
        assert not cell.cancels[0], 'goals are cancelled before it brakes'
        points = cell.motions[0].points
        assert not any(points[-1].velocities), 'it ends at rest'
        moved = np.abs(np.array(points[-1].positions) - cell.sample()[0])
        assert moved.max() < 1.0, 'near the place of the contact'
        assert 'not available' in process.details()['stop_service']
        cell.offer_stop()  # and is started again
        process.wait(lambda: cell.stops, 'the call of the stop service')

        cell.run(60)
        assert process.reset().success
        process.settle()
        motions, stops = len(cell.motions), cell.stops
        cell.run(60)
        q, qd, torque = cell.sample()
        state = cell.publish(joint_state(NAMES, cell.time, q, qd, [np.nan, torque[1]]))
        assert list(state.level) == [UNKNOWN, UNKNOWN]
        process.wait(lambda: cell.stops > stops, 'the reaction to UNKNOWN while moving')
        process.wait(lambda: len(cell.motions) > motions, 'a stop')
        assert process.interrupt() == 0
    check_events(tmp_path, capsys)


VICTIM = """
import os, signal, rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node('victim')
node.create_service(Trigger, '/excitation/stop', lambda *_: os.kill(os.getpid(), signal.SIGKILL))
print('ready', flush=True)
rclpy.spin(node)
"""


def test_a_stop_service_that_is_killed_in_the_middle_of_a_call_is_called_again(tmp_path):
    cell = Monitor(tmp_path, 24, retry_period='0.1')
    with closed(cell):
        process = cell.process
        process.node.destroy_service(cell.stop_service)
        command = [sys.executable, '-c', VICTIM]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
            try:
                assert victim.stdout.readline() == 'ready\n'
                cell.run(60)
                assert levels(cell.run(15, push=9.0))[-1, 1] == COLLISION
                process.wait(lambda: victim.poll() is not None, 'the call that kills it')
                assert victim.returncode == -signal.SIGKILL
            finally:
                victim.kill()
        process.wait(lambda: 'no answer yet' in process.details()['stop_service'], 'the lost call')
        cell.offer_stop()
        process.wait(lambda: cell.stops, 'the call of its successor')
        process.wait(lambda: 'success True' in process.details()['stop_service'], 'the answer')
        assert process.interrupt() == 0


def test_after_kill_9_collision_state_is_silent_and_a_sent_trajectory_ends_at_rest(tmp_path):
    """As docs/collision.md says: only silence tells a program that it must stop the robot."""
    cell = Cell(tmp_path, 23, reaction='stop', retry_period='0.1')
    with closed(cell):
        process, states = cell.process, cell.states
        cell.run(15, push=9.0)
        process.wait(lambda: cell.motions, 'the trajectory')
        assert not any(cell.motions[0].points[-1].velocities)
        # Without joint states it goes on to publish, so that a silent topic means a dead node.
        process.drain()
        count = len(states)
        process.wait(lambda: len(states) > count + 1, 'states without joint states')
        assert list(states[-1].level) == [UNKNOWN, COLLISION]
        process.process.kill()
        assert process.end() == -signal.SIGKILL
        process.drain()
        count, stops, motions = len(states), cell.stops, len(cell.motions)
        end = process.now() + STALE
        while process.now() < end:
            cell.joint_states.publish(joint_state(NAMES, cell.time, *cell.sample(push=9.0)))
            process.spin(0.01)
        assert (len(states), cell.stops, len(cell.motions)) == (count, stops, motions)


def check_events(folder, capsys):
    """Each event is listed, and its replay by the ordinary path finds what the monitor found."""
    assert main(['collisions', str(folder / 'events')]) == 0
    listed = capsys.readouterr().out
    assert 'collision at joint2' in listed and 'UNKNOWN while' in listed
    first, *_, last = sorted((folder / 'events').iterdir())
    topics = {name.rpartition('/')[2] for name in topic_types(first)}
    assert topics == {'joint_states', 'reference', 'torque_error', 'collision_state'}
    states = read_topic(first, '/collision_monitor/collision_state', NAMES, levels_of)
    assert COLLISION in states.signals[0]
    assert main(['collisions', str(first), '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(each['level'], each['joint']) for each in found['events']} == {
        ('COLLISION', 'joint2')
    }
    assert main(['collisions', str(last)]) == 0


def levels_of(message):
    """Levels of a collision state, as signals of its joints."""
    return message.name, (message.level,)
