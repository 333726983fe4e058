# SPDX-License-Identifier: Apache-2.0
"""Reactions of a real monitor: controller, feed-forward, and a stop service that restarts."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from action_msgs.srv import CancelGoal
from collision_client import COLLISION, NAMES, STALE, UNKNOWN, Monitor, levels
from node_process import closed, joint_state
from robodyn_ros.msg import CollisionState
from robodyn_ros.srv import Mute
from std_msgs.msg import Bool
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.cli.main import main
from robodyn_ros.control.collision.black_box.event_file import read_event
from robodyn_ros.nodes.base.clock import to_duration
from robodyn_ros.nodes.base.common import LATCHED_QOS

pytestmark = pytest.mark.ros
CONTROLLER = 'joint_trajectory_controller'


class Cell(Monitor):
    """The monitor with a controller and a feed-forward, which note what they are asked."""

    def __init__(self, folder, number, **parameters) -> None:
        robot_state = {
            'robot_state.topics': '[robot_stopped]', 'robot_state.types': '[std_msgs/msg/Bool]',
            'robot_state.ready': "['false']",
        }  # fmt: skip
        super().__init__(folder, number, **robot_state, **parameters)
        node = self.process.node
        self.cancels, self.enables = [], []
        cancel = f'{CONTROLLER}/follow_joint_trajectory/_action/cancel_goal'
        node.create_service(CancelGoal, cancel, self.on_cancel)
        node.create_service(SetBool, 'feedforward/enable', self.on_enable)
        self.motions = self.process.listen(JointTrajectory, f'{CONTROLLER}/joint_trajectory')
        self.stopped = self.process.publisher(Bool, 'robot_stopped', LATCHED_QOS)
        self.stopped.publish(Bool(data=False))
        self.process.known_to('collision_monitor')
        self.run(60)

    def on_cancel(self, request, response):
        self.cancels.append(request)
        return response

    def on_enable(self, request, response):
        self.enables.append(request.data)
        response.success = True
        return response

    def hit(self):
        """Push joint 2, which moves in the other direction then."""
        while np.cos(4.0 * self.time) > -0.7:
            self.run(1)
        self.run(15, push=9.0)


def test_reactions_reach_controller_feedforward_and_a_restarted_stop_service(tmp_path, capsys):
    cell = Cell(
        tmp_path, 9, reaction='[retract, drop_feedforward]', on_unknown='stop',
        retry_period='0.1', retract_distance='[0.05]', black_box_after='0.3',
        black_box_directory=tmp_path / 'events',
    )  # fmt: skip
    with closed(cell):
        process = cell.process
        # Muted: the level says it, and nothing is called.
        assert process.call(Mute, 'mute', Mute.Request(duration=to_duration(9.0))).success
        cell.hit()
        assert cell.states[-1].muted and cell.states[-1].latched
        process.settle()
        assert not (cell.motions or cell.cancels or cell.enables or cell.stops)
        cell.run(60)
        process.call(Mute, 'mute', Mute.Request(duration=to_duration(0.0)))
        process.wait(lambda: 'the mute has ended' in process.said(), 'the end of the mute')

        process.node.destroy_service(cell.stop_service)  # it was killed
        cell.run(30)
        cell.hit()
        assert levels(cell.states[-1:])[0, 1] == COLLISION
        assert list(cell.states[-1].allowed_direction) == [0, 1], 'the push is positive'
        process.wait(lambda: cell.motions and cell.enables, 'the first reactions')
        assert cell.enables == [False] and len(cell.cancels) == 1
        here, velocity, _ = cell.sample()
        points = cell.motions[0].points
        moved = np.array(points[-1].positions) - here
        assert 0.03 < np.abs(moved).max() < 0.1 and not any(points[-1].velocities)
        assert moved @ velocity < 0.0, 'it goes back'
        assert 'not available' in process.details()['stop_service']
        cell.offer_stop()  # and is started again
        process.wait(lambda: cell.stops, 'the call of the stop service')
        assert 'joint2 is still' in process.reset().message

        cell.run(60)
        assert process.reset().success
        process.settle()
        motions, stops = len(cell.motions), cell.stops
        cell.stopped.publish(Bool(data=True))
        process.known_to('collision_monitor')
        cell.run(3)
        assert levels(cell.states[-1:]).tolist() == [[UNKNOWN, UNKNOWN]]
        text = 'the robot itself stopped: data of robot_stopped'
        assert cell.states[-1].message.startswith(text)
        assert cell.states[-1].fault_code == CollisionState.FAULT_ROBOT_STOPPED
        process.wait(lambda: cell.stops > stops, 'the reaction to UNKNOWN while moving')
        process.wait(lambda: len(cell.motions) > motions, 'a stop')
        assert 'the robot still reports its stop' in process.reset().message
        assert process.interrupt() == 0
    check_events(tmp_path / 'events', capsys)


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
    cell = Cell(tmp_path, 23, reaction='[hold]', retry_period='0.1')
    with closed(cell):
        process, states = cell.process, cell.states
        cell.hit()
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
    """Every event replays, and has the reports of its time."""
    events = sorted(folder.iterdir())
    reasons = [read_event(path).reason for path in events]
    assert reasons[0] == 'collision at joint2' and reasons[-1].startswith('UNKNOWN while')
    reported = read_event(events[0]).reported
    answers: dict[str, list[str]] = {}
    for _, name, text in reported.answers:  # the last ones are empty where the reset came in time
        answers.setdefault(name, []).append(text)
    assert {'retract', 'cancel_goals', 'stop_service'} <= answers.keys()
    assert any(text.startswith('success True') for text in answers['drop_feedforward'])
    times = read_event(events[0]).rows.times
    assert times[0] < reported.start < times[-1]
    assert reported.frame and any('contact at ' in each.text for each in reported.contacts)
    assert reported.health is not None and reported.health.cause == 'UNKNOWN', 'too little motion'
    for path in events:
        assert main(['replay', str(path)]) == 0
        shown = capsys.readouterr().out
        assert 'equal in every bit' in shown and read_event(path).reason in shown
        assert 'stop_service' in (path / 'event.html').read_text()
