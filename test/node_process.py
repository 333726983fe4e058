"""One node of the suite as a process of its own, and a client that talks to it over real DDS."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.srv')
from builtin_interfaces.msg import Time  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from ros_domain import domain  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402

from robodyn_ros.identification.residual_block import residual_block  # noqa: E402
from robodyn_ros.identification.result import model_parameters  # noqa: E402
from robodyn_ros.nodes.common import MONITOR_QOS  # noqa: E402

EFFORT = {'effort.unit': 'Nm', 'effort.side': 'joint', 'effort.gravity': 'included'}
"""Declaration of what the tests' joint states hold."""


def result_file(folder: Path, model, values, residual=None) -> Path:
    """Write a model with its values, and a residual torque, as an identification does."""
    parameters = {'dynamic_model': model_parameters(model, values, np.full(len(values), 0.1))}
    if residual is not None:
        own_hash = parameters['dynamic_model']['hash']
        parameters['residual_torque'] = residual_block(residual, own_hash)
    path = folder / 'result.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}, width=10**6))
    return path


def environment(number: int) -> dict[str, str]:
    """Own domain per process under test, so that nothing of another test comes in."""
    return {
        **os.environ,
        'ROS_DOMAIN_ID': domain(17 * number),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }


class NodeProcess:
    """A node, and everything it says on some topics."""

    def __init__(
        self, name: str, number: int, log: Path, parameters, params_file=None, script=None
    ) -> None:
        """Start `robodyn_ros.nodes.<name>`, or a script, with these parameters."""
        self.name = name
        program = ['-m', f'robodyn_ros.nodes.{name}'] if script is None else [str(script)]
        command = [sys.executable, *program, '--ros-args']
        for parameter, value in parameters.items():
            command += ['-p', f'{parameter}:={value}']
        if params_file:
            command += ['--params-file', str(params_file)]
        self.log = log
        with log.open('w') as file:
            self.process = subprocess.Popen(
                command, env=environment(number), stdout=file, stderr=subprocess.STDOUT
            )
        os.environ.update(environment(number))
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('client', context=self.context)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.diagnostics = self.listen(DiagnosticArray, '/diagnostics', 10)
        atexit.register(self._kill)
        # Starting takes seconds where many processes share the cores.
        self.wait(lambda: self.diagnostics, 'a first sign of life', 60.0)

    def listen(self, kind, topic, qos=MONITOR_QOS) -> list:
        rows: list = []
        self.node.create_subscription(kind, topic, rows.append, qos)
        return rows

    def publisher(self, kind, topic, qos=10):
        publisher = self.node.create_publisher(kind, topic, qos)
        self.wait(lambda: publisher.get_subscription_count() > 0, f'a subscriber of {topic}')
        return publisher

    def exchange(self, publisher, message, condition, what):
        """Publish until the answer is there, once a second: a node that has not yet learnt of a
        new publisher does not hear its first message, though the publisher knows the node.
        """
        published = 0.0

        def answered():
            nonlocal published
            if not condition() and time.monotonic() - published > 1.0:
                publisher.publish(message)
                published = time.monotonic()
            return condition()

        self.wait(answered, what)

    def wait(self, condition, what, timeout=20.0):
        deadline = time.monotonic() + timeout
        while not condition():
            assert self.process.poll() is None or what == 'end', self.log.read_text()
            late = time.monotonic() > deadline
            assert not late, f'waited {timeout} s for {what}\n{self.log.read_text()}'
            self.executor.spin_once(timeout_sec=0.01)

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.005)

    def call(self, kind, service, request):
        client = self.node.create_client(kind, f'{self.name}/{service}')
        self.wait(client.service_is_ready, service)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}')
        return future.result()

    def reset(self):
        return self.call(Trigger, 'reset', Trigger.Request())

    def enable(self, value: bool):
        return self.call(SetBool, 'enable', SetBool.Request(data=value))

    def status(self):
        """Next diagnostic status."""
        self.diagnostics.clear()
        self.wait(lambda: self.diagnostics, 'diagnostics')
        return self.diagnostics[-1].status[0]

    def wait_for(self, text: str) -> None:
        """Wait until the diagnostics say this."""
        self.wait(
            lambda: self.diagnostics and text in self.diagnostics[-1].status[0].message, text
        )

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.wait(lambda: self.process.poll() is not None, 'end', 10.0)
        return self.process.returncode

    def _kill(self) -> None:
        """End the process, also when a fixture fails before it can close it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        atexit.unregister(self._kill)
        self._kill()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def joint_state(names, stamp: float, position=(), velocity=(), effort=()) -> JointState:
    message = JointState(name=list(names))
    nanoseconds = round(stamp * 1e9)
    message.header.stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    message.position = [float(v) for v in position]
    message.velocity = [float(v) for v in velocity]
    message.effort = [float(v) for v in effort]
    return message
