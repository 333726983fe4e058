"""A simulated cell whose messages can be spoilt, with the real feed-forward and collision monitor.

Three processes in one ROS domain, and a client that hears what they say: the effort commands that
reach the cell, and the collision levels.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import yaml
from control_arm import small_arm
from robots import dh_urdf

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('robodyn_ros.msg')
from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from node_process import EFFORT, environment, result_file  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from robodyn_ros.msg import CollisionState, TorqueState  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from robodyn_ros.nodes.common import make_executor  # noqa: E402
from robodyn_ros.nodes.model_node import STREAM_QOS  # noqa: E402

MODEL, VALUES = small_arm()
URDF = dh_urdf([(np.pi / 2, 0.0, 0.3), (0.0, 0.4, 0.0)])
PERIOD = 0.002
LIMIT = np.array([80.0, 60.0])
STEP = LIMIT / 0.05 * PERIOD
"""Largest change of a command: without max_torque_rate it is max_torque in 50 ms."""
RAMP_DOWN = 0.1
REFERENCE_TIMEOUT = 0.15
STATE_TIMEOUT = 0.2
UNKNOWN, OK = CollisionState.UNKNOWN, CollisionState.OK
FAST = (Float64MultiArray, JointState)
"""Kinds that are kept as bytes: the client must not lose any command."""
COMMANDS = 'forward_effort_controller/commands'
REFERENCE = 'joint_trajectory_controller/reference'


class FaultyCell:
    """The processes, and everything they said that promises are about."""

    def __init__(self, folder, number: int) -> None:
        self.folder, self.environment = folder, environment(number)
        os.environ.update(self.environment)
        urdf, config = folder / 'arm.urdf', folder / 'cell.yaml'
        urdf.write_text(URDF)
        own = {'rotor_inertia': 0.5, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
        config.write_text(yaml.safe_dump({'urdf': 'arm.urdf', 'defaults': own}))
        result = result_file(folder, MODEL, VALUES)
        shared = {**EFFORT, 'autostart': 'true', 'result_file': result}
        self.parameters = {
            'cell': {'config': config, 'enforce_command_limits': 'true'},
            'feedforward': {
                **shared, 'mode': 'streaming', 'max_torque': LIMIT.tolist(),
                'ramp_down_time': RAMP_DOWN, 'reference_timeout': REFERENCE_TIMEOUT,
                'state_timeout': STATE_TIMEOUT,
            },
            'collision_monitor': {**shared, 'max_torque_error': [1e4, 1e4]},
        }  # fmt: skip
        self.processes = {}
        for name in self.parameters:
            self.start(name)
        self._listen()

    def start(self, name: str) -> None:
        command = [sys.executable, '-m', f'robodyn_ros.nodes.{name}', '--ros-args']
        for parameter, value in self.parameters[name].items():
            command += ['-p', f'{parameter}:={value}']
        if name == 'feedforward':
            command += ['-r', f'feedforward/reference:={REFERENCE}']
        with self.log(name).open('a') as file:
            self.processes[name] = subprocess.Popen(
                command, env=self.environment, stdout=file, stderr=subprocess.STDOUT
            )

    def log(self, name: str):
        return self.folder / f'{name}.log'

    def _listen(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('client', context=self.context)
        self.executor = make_executor(self.context)
        self.executor.add_node(self.node)
        self.commands, self.states, self.levels, self.diagnostics = [], [], [], {}
        for kind, topic, callback, qos in (
            (Float64MultiArray, COMMANDS, self._on_command, 1000),
            (TorqueState, 'feedforward/torque_state', self.states.append, STREAM_QOS),
            (CollisionState, 'collision_monitor/collision_state', self._on_level, STREAM_QOS),
            (JointState, REFERENCE, self._on_reference, STREAM_QOS),
            (DiagnosticArray, '/diagnostics', self._on_diagnostics, 10),
        ):
            self.node.create_subscription(kind, topic, callback, qos, raw=kind in FAST)
        self.clients = {}
        self.spoilt_until = 0.0
        self.trajectory = self.node.create_publisher(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', 10
        )

    def _on_command(self, message) -> None:
        row = np.frombuffer(message, '<f8', 2, len(message) - 16)
        self.commands.append((time.monotonic(), row))

    def _on_level(self, message) -> None:
        self.levels.append(list(message.level))

    def _on_reference(self, serialised) -> None:
        self._reference = serialised

    @property
    def reference(self):
        """What is commanded in the cell, by the last message of it."""
        return deserialize_message(self._reference, JointState) if self._reference else None

    def _on_diagnostics(self, message) -> None:
        status = message.status[0]
        self.diagnostics[status.name] = status

    def wait(self, condition, what, timeout=30.0) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            late = time.monotonic() > deadline
            logs = [self.log(name).read_text()[-1500:] for name in self.processes] if late else ''
            assert not late, f'waited {timeout} s for {what}\n{logs}\n{self.diagnostics}'
            self.executor.spin_once(timeout_sec=0.01)

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def call(self, kind, service, request):
        if service not in self.clients:
            self.clients[service] = self.node.create_client(kind, service)
        client = self.clients[service]
        self.wait(client.service_is_ready, service)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}')
        return future.result()

    def move(self, seconds: float) -> None:
        """Begin a motion there and back, again and again, until the cell moves."""
        message = JointTrajectory(joint_names=MODEL.joint_names)
        rate = 2.0 * np.pi / 2.0
        for at in np.arange(0.1, seconds, 0.1):
            point = JointTrajectoryPoint(
                positions=[0.4 * (1.0 - np.cos(rate * at)), 0.3 * (1.0 - np.cos(rate * at))],
                velocities=[0.4 * rate * np.sin(rate * at), 0.3 * rate * np.sin(rate * at)],
            )
            point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1.0 * 1e9))
            message.points.append(point)
        message.points[-1].velocities = [0.0, 0.0]
        self._reference = None
        self.wait(lambda: self._reference, 'the cell')
        self.wait(self.trajectory.get_subscription_count, 'the topic for trajectories')
        self.trajectory.publish(message)
        self.wait(lambda: self.reference and any(self.reference.velocity), 'the motion')

    def ready(self) -> None:
        """Torque flows, nothing is latched, the monitor knows what it sees."""
        self.wait(lambda: self.states, 'the feed-forward')
        self.spin(max(0.0, self.spoilt_until + 0.1 - time.monotonic()))
        if not self.states[-1].enabled:
            self.call(Trigger, 'feedforward/reset', Trigger.Request())
            assert self.call(SetBool, 'feedforward/enable', SetBool.Request(data=True)).success
        self.wait(lambda: self.states[-1].enabled and self.flows(), 'torque')
        self.wait(lambda: self.levels and self.levels[-1] == [OK, OK], 'a level that is OK')
        self.spin(0.1)
        for rows in (self.commands, self.states, self.levels):
            del rows[:-1]

    def flows(self) -> bool:
        return bool(self.commands and np.any(self.commands[-1][1]))

    def inject(self, fault: str) -> None:
        value = ParameterValue(type=4, string_value=fault)
        request = SetParameters.Request(parameters=[Parameter(name='fault', value=value)])
        result = self.call(SetParameters, 'cell/set_parameters', request).results[0]
        assert result.successful, result.reason
        self.spoilt_until = time.monotonic() + float(fault.split()[2])

    def kill(self, name: str) -> None:
        """End a process as nothing can prepare for."""
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
