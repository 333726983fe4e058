"""What the tests of the excitation node share: its motions, the process, and a client."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.action')
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from robodyn_ros.action import Excite  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from robodyn_ros.excitation.limits import JointLimits  # noqa: E402
from robodyn_ros.excitation.limits_file import load_limits  # noqa: E402
from robodyn_ros.excitation.sine import SineMotion  # noqa: E402
from robodyn_ros.models.urdf_file import read_urdf  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
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
