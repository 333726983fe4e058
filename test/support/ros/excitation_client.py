# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of the excitation node: its motions, the process, and a client."""

import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import rclpy
import yaml
from fake_robot import FakeRobot
from rclpy.action import ActionClient
from robodyn_ros.action import Excite
from ros_client import PATIENCE, RosClient, environment, joined
from std_srvs.srv import Trigger

from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.models.serial.urdf_file import read_urdf

ROOT = Path(__file__).resolve().parents[3]
JOINTS = [f'joint{i}' for i in range(1, 7)]
HOME = [0.05, -0.1, 0.0, 0.1, 0.0, 0.0]
PHASE = Excite.Feedback
STATES = 0.5
"""Joint states may stay away for so long, in [s]."""
NOT_YET = (
    'there are no joint states yet', 'has no subscriber', 'it is not known yet', 'the robot moves',
    'a motion is running already',
)  # fmt: skip
"""Says a node that has only just come, or of what was before: a jump looks like a motion."""
NOWHERE = str(Path(tempfile.gettempdir()) / 'there_is_no_such_file.yaml')


def robot_limits(robot='six_axis'):
    base = JointLimits.from_urdf(read_urdf(ROOT / 'urdf' / f'{robot}.urdf'))
    return load_limits(ROOT / 'config' / 'robots' / f'{robot}.yaml', base)


def motion(**changes):
    values = {
        'joints': JOINTS,
        'start': [0.0] * 6,
        'target': [0.3, 0.2, -0.2, 0.4, 0.4, 0.6],
        'frequency': [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        'duration': 2.5,
    }
    return SineMotion(**{**values, **changes})


def start(folder, name, number, **parameters):
    """Start an excitation node under this name, in the domain of this number."""
    values = {
        'urdf': str(ROOT / 'urdf' / 'six_axis.urdf'),
        'joint_limits': str(ROOT / 'config' / 'robots' / 'six_axis.yaml'),
        'pause': 0.1,
        'goal_time': 2.0,
        'state_timeout': STATES,
        'start_delay': 0.2,
        'allow_unchecked': True,
        'use_sim_time': True,
        **parameters,
    }
    file = folder / f'{name}.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}))
    command = [sys.executable, '-m', 'robodyn_ros.nodes.excitation.node', '--ros-args']
    command += ['-r', f'__node:={name}', '--params-file', str(file)]
    log = (folder / f'{name}.log').open('w')
    return subprocess.Popen(
        command, env=environment(number), stdout=log, stderr=subprocess.STDOUT, text=True
    )


def end(process):
    """Interrupt a process, and return its exit code."""
    process.send_signal(signal.SIGINT)
    return process.wait(timeout=PATIENCE)


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


@contextmanager
def robot_and_clients(number, processes):
    """Give a fake robot and a client of each excitation node, and end them and the processes.

    :param processes: by the name of the node, in the domain of this number
    """
    context = joined(environment(number))
    clients, robot = {}, FakeRobot(JOINTS, HOME, context)
    try:
        for name in processes:
            clients[name] = Client(name, context, robot.time)
        yield robot, clients
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
        for client in clients.values():
            client.close()
        robot.close()
        rclpy.shutdown(context=context)


class Client(RosClient):
    """Calls one excitation node."""

    def __init__(self, name, context, time):
        super().__init__({}, context, simulated=time)
        self.name = name
        self.action = ActionClient(self.node, Excite, f'{name}/excite')
        self.feedback = []
        self.wait(self.action.server_is_ready, 'the action')

    def close(self):
        self.action.destroy()  # else the node's participant is there until it is collected
        super().close()

    def answer(self, future, what='an answer'):
        self.wait(future.done, what)
        return future.result()

    def call(self, word):
        return super().call(Trigger, f'{self.name}/{word}', Trigger.Request())

    def start(self):
        """Call ~/start, once the robot and the node have come to rest from what was before."""
        deadline = time.monotonic() + PATIENCE
        while (answer := self.call('start')).message.startswith(NOT_YET):
            assert time.monotonic() < deadline, answer.message
        return answer

    def refusal(self):
        """Return the refusal of a motion now; the last one names the missing file."""
        self._send(NOWHERE)
        return self.answer(self._result, 'the refusal').result.message

    def send(self, file=''):
        """Send a goal: again while robot and node have not come to rest from what was before."""
        deadline = time.monotonic() + PATIENCE
        while True:
            handle = self._send(file)
            self.wait(lambda: self.feedback or self._result.done(), 'feedback or the end')
            late = time.monotonic() > deadline
            if late or not self._result.done() or not self.ended().startswith(NOT_YET):
                return handle

    def _send(self, file):
        self.feedback.clear()
        goal = Excite.Goal(motion_file=str(file))
        handle = self.answer(
            self.action.send_goal_async(goal, feedback_callback=self._on_feedback)
        )
        self._result = handle.get_result_async()
        return handle

    def _on_feedback(self, message):
        self.feedback.append(message.feedback)

    def ended(self):
        """The sentence of the result, '' while there is none."""
        return self._result.result().result.message if self._result.done() else ''

    def result(self):
        """Of the goal sent last."""
        return self.answer(self._result, 'the result')

    def excite(self, file=''):
        self.send(file)
        return self.result().result

    def until(self, phase, progress=0.0):
        """Wait until the motion is so far."""

        def far():
            return any(item.phase == phase and item.progress > progress for item in self.feedback)

        self.wait(lambda: far() or self._result.done(), f'phase {phase}')
        assert far(), self.ended()
