# SPDX-License-Identifier: Apache-2.0
"""A simulated cell whose messages can be spoilt, with the real feed-forward and collision monitor.

Three processes in one ROS domain, and a client that receives what they publish: the efforts that
the controller of the cell commands, and the collision levels.
"""

import signal
import subprocess
import sys
from typing import ClassVar

import numpy as np
import rclpy
import yaml
from builtin_interfaces.msg import Duration
from control_arm import small_arm
from diagnostic_msgs.msg import DiagnosticArray
from node_process import EFFORT
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from robodyn_ros.msg import CollisionState, TorqueState
from robots import dh_urdf
from ros_client import DEEP, Ear, RosClient, environment
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from writers import result_file

from robodyn_ros.node_parameters.names import parameter_names

MODEL, VALUES = small_arm()
URDF = dh_urdf([(np.pi / 2, 0.0, 0.3), (0.0, 0.4, 0.0)])
PERIOD = 0.004
LIMIT = np.array([80.0, 60.0])
STEP = LIMIT / 0.05 * PERIOD
"""Largest change of a command: without max_torque_rate it is max_torque in 50 ms."""
RAMP_DOWN = 0.1
TIMEOUT = 0.2
"""Of joint states, in [s]."""
UNKNOWN, OK = CollisionState.UNKNOWN, CollisionState.OK
REFERENCE = 'joint_trajectory_controller/reference'
APPROACH = 1.0
"""Time of the way to the start of a motion, from wherever the robot is, in [s]."""


LAST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class FaultyCell(RosClient):
    """The processes, and everything they said that promises are about.

    :cvar remapped: names of nodes and topics of a process
    """

    remapped: ClassVar[dict[str, dict[str, str]]] = {}

    def __init__(self, folder, number: int, others=None, period: float = PERIOD) -> None:
        """Start the processes, and others with these parameters.

        :param period: of the servo cycle, in [s]
        """
        super().__init__(environment(number), follows=True)
        self.folder = folder
        own = {'ROS_HOME': str(folder / 'ros'), 'PYTHONFAULTHANDLER': '1'}
        self.environment = {**environment(number), **own}
        urdf, config = folder / 'arm.urdf', folder / 'cell.yaml'
        urdf.write_text(URDF)
        own = {'rotor_inertia': 0.5, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
        config.write_text(yaml.safe_dump({
            'urdf': 'arm.urdf', 'defaults': own, 'servo_period': period,
        }))  # fmt: skip
        result = result_file(folder, MODEL, VALUES)
        shared = {**EFFORT, 'autostart': 'true', 'result_file': result, 'period': period}
        self.parameters = {
            'cell': {
                'config': config, 'real_time_factor': 0.0,
            },
            'feedforward': {
                **shared, 'max_torque': LIMIT.tolist(), 'ramp_down_time': RAMP_DOWN,
                'state_timeout': TIMEOUT, 'torque_state_rate': 0.0,
            },
            'collision_monitor': {
                **shared, 'max_torque_error': [99.0, 99.0], 'collision_state_rate': 0.0,
            },
            **(others or {}),
        }  # fmt: skip
        self.processes = {}
        for name in self.parameters:
            self.start(name)
        self._listen()

    def start(self, name: str) -> None:
        module = {'guard': 'collision_monitor'}.get(name, name)
        command = [sys.executable, '-m', f'robodyn_ros.nodes.{module}.node', '--ros-args']
        given = {'use_sim_time': str(name != 'cell').lower(), **self.parameters[name]}
        for parameter in given.keys() & parameter_names()[module]:
            command += ['-p', f'{parameter}:={given[parameter]}']
        for topic, other in self.remapped.get(name, {}).items():
            command += ['-r', f'{topic}:={other}']
        with self.log(name).open('a') as file:
            self.processes[name] = subprocess.Popen(
                command, env=self.environment, stdout=file, stderr=subprocess.STDOUT
            )

    def log(self, name: str):
        return self.folder / f'{name}.log'

    def _listen(self) -> None:
        self._ears = rclpy.create_node('ears', context=self.context)
        self._commands = Ear(
            self._ears, JointState, REFERENCE, DEEP, raw=True,
            read=lambda data: np.frombuffer(data, '<f8', 2, len(data) - 16),  # the effort
        )  # fmt: skip
        self._states = Ear(self._ears, TorqueState, 'feedforward/torque_state')
        self._levels = Ear(
            self._ears, CollisionState, 'collision_monitor/collision_state',
            read=lambda message: list(message.level),
        )  # fmt: skip
        self._reference = Ear(self._ears, JointState, REFERENCE, LAST, raw=True)
        self.diagnostics = {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self.spoilt_until = 0.0
        self.trajectory = self.node.create_publisher(
            JointTrajectory, 'feedforward/joint_trajectory', 10
        )

    @property
    def commands(self):
        """Efforts of the controller, shape (2,) each, with number and time."""
        return self._commands.rows()

    @property
    def states(self):
        """Torque states."""
        return [row.message for row in self._states.rows()]

    @property
    def state(self):
        """The last torque state; None: there is none yet."""
        return self._states.last()

    @property
    def levels(self):
        """Collision levels of the joints."""
        return [row.message for row in self._levels.rows()]

    @property
    def level(self):
        """Last collision levels; None: there are none yet."""
        return self._levels.last()

    @property
    def reference(self):
        """Return the command in the cell by its last message; None: there is none yet."""
        self._reference.forget()
        last = self._reference.last()
        return deserialize_message(last, JointState) if last else None

    def _on_diagnostics(self, message) -> None:
        status = message.status[0]
        self.diagnostics[status.name] = status

    def said(self) -> str:
        logs = [self.log(name).read_text()[-1500:] for name in self.processes]
        return f'{logs}\n{self.diagnostics}'

    def move(self, seconds: float) -> None:
        """Send a motion there and back, again and again, and wait until it is executed."""
        message = JointTrajectory(joint_names=MODEL.joint_names)
        rate = 2.0 * np.pi / 2.0
        for at in np.arange(0.0, seconds, 0.1):
            point = JointTrajectoryPoint(
                positions=[0.4 * (1.0 - np.cos(rate * at)), 0.3 * (1.0 - np.cos(rate * at))],
                velocities=[0.4 * rate * np.sin(rate * at), 0.3 * rate * np.sin(rate * at)],
            )
            at += APPROACH
            point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1.0 * 1e9))
            message.points.append(point)
        message.points[-1].velocities = [0.0, 0.0]
        sent = -np.inf

        def moves():
            nonlocal sent
            reference = self.reference
            # DDS knows a killed process for a while: a subscriber need not be the cell
            if reference and self.now() > sent + 5.0:
                self.trajectory.publish(message)
                sent = self.now()
            late = self.now() > sent + APPROACH
            return reference and late and max(map(abs, reference.velocity)) > 0.5

        self._reference.forget(kept=0)
        self.known_to('feedforward')
        self.wait(moves, 'the motion')

    def ready(self) -> None:
        """A new motion runs with torque, no fault is latched, and no collision."""
        self._states.forget(kept=0)
        self.wait(lambda: self.state, 'joint states at the feed-forward')
        self.spin(max(0.0, self.spoilt_until + 0.1 - self.now()))
        self.call(Trigger, 'feedforward/reset', Trigger.Request())
        self.call(Trigger, 'collision_monitor/reset', Trigger.Request())
        answer = self.call(SetBool, 'feedforward/enable', SetBool.Request(data=True))
        assert answer.success, answer.message
        self.move(20.0)
        self.wait(self._enabled, 'torque')
        self.wait(lambda: self.level == [OK, OK], 'a level that is OK')
        for ear in (self._commands, self._states, self._levels):
            ear.forget()

    def _enabled(self) -> bool:
        return self.state.enabled and self.flows()

    def lost(self) -> str:
        for name, process in self.processes.items():
            if process.poll() is not None and process.returncode != -signal.SIGKILL:
                return f'{name} ended\n{self.said()}'
        return ''

    def flows(self) -> bool:
        return bool(self.commands and np.any(self.commands[-1].message))

    def inject(self, fault: str) -> None:
        result = self.set_parameter('cell', 'fault', fault)
        assert result.successful, result.reason
        self.spoilt_until = self.now() + float(fault.split()[2])

    def kill(self, name: str) -> None:
        """End a process as nothing can prepare for."""
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        self._ears.destroy_node()
        super().close()
