# SPDX-License-Identifier: Apache-2.0
"""The real ros2_control with mock hardware and the plugin, driven and listened to by a test.

A test module that imports this is skipped where there is no ros2_control.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rclpy
import yaml
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from controller_manager_msgs.srv import (
    CleanupController,
    ConfigureController,
    ListControllers,
    LoadController,
    SwitchController,
    UnloadController,
)
from diagnostic_msgs.msg import DiagnosticArray
from node_process import environment
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from robodyn_ros.msg import TorqueState
from robots import SIX_AXIS
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from update_probe import UpdateProbe
from writers import result_file

from robodyn_ros.models.catalog import robot_model
from robodyn_ros.nodes.launching.mock_hardware import with_mock_hardware

JOINTS = [f'joint{k}' for k in range(1, 7)]
PERIOD = 0.002
DELAY = 3
WINDOW = 0.01
LIMIT = 400.0
RATE = 4000.0  # the least with which LIMIT falls to zero within ramp_down_time
PLUGIN = 'feedforward_torque_controller'
PARAMETERS = {
    'joints': JOINTS, 'additive_torque_delay': DELAY, 'max_torque': [LIMIT],
    'max_torque_rate': [RATE], 'velocity_window': [WINDOW], 'feedforward_scale': 1.0,
    'effort.unit': 'SI', 'effort.side': 'joint', 'effort.gravity': ['included'],
}  # fmt: skip


class Cycle(NamedTuple):
    """Report of the plugin on one of its cycles."""

    stamp: int
    requested: np.ndarray
    applied: np.ndarray
    enabled: bool
    fault: str
    delay: int


def write_result(folder: Path, residual=None):
    """Model of the six-axis robot with friction and rotors, its values, and its result file.

    :param residual: torque of gear deflection of the result; None: none
    """
    model = robot_model(SIX_AXIS)
    drives = {'rotor_inertia': 0.5, 'viscous_friction': 2.0, 'coulomb_friction': 3.0}
    values = np.nan_to_num(model.prior())
    for index, parameter in enumerate(model.parameters):
        values[index] = drives.get(parameter.name.rsplit('.', 1)[1], values[index])
    return model, values, result_file(folder, model, values, residual=residual)


def nanoseconds(stamp) -> int:
    return stamp.sec * 10**9 + stamp.nanosec


class ControlCell:
    """`ros2 launch robodyn_ros mock_control.launch.py` and a client of it."""

    def __init__(
        self, folder: Path, result: Path, *, number=40, way='plugin', effort=None, namespace='',
        parameters=None, preload=None, command='', motors=False, **manager,
    ) -> None:  # fmt: skip
        """Start it all.

        :param way: how the torque comes in; without the plugin there are no cycles to listen to
        :param effort: limit of the effort commands in the URDF; None: as it is there
        :param parameters: of the plugin, other than PARAMETERS
        :param preload: variables of the manager's process in place of those of the probe
        :param command: a command interface that the mock hardware has in addition; '': none
        :param motors: the hardware has a position of the motor of each joint, which is commanded
            by `NAME_motor/position`, and not known before that
        :param manager: parameters of the controller manager
        """
        self.folder, self.result, self.way = folder, result, way
        self.urdf = with_mock_hardware(SIX_AXIS)
        if effort is not None:
            self.urdf = re.sub(r'effort="[^"]+"', f'effort="{effort}"', self.urdf)
        if command:
            effort_tag = '<command_interface name="effort" />'
            added = effort_tag + effort_tag.replace('effort', command)
            self.urdf = self.urdf.replace(effort_tag, added)
        if motors:
            tags = '<command_interface name="position"/><state_interface name="position"/>'
            gpios = ''.join(f'<gpio name="{joint}_motor">{tags}</gpio>' for joint in JOINTS)
            self.urdf = self.urdf.replace('</ros2_control>', f'{gpios}</ros2_control>')
        file = folder / 'nodes.yaml'
        nodes = {PLUGIN: {**PARAMETERS, **(parameters or {})}, 'controller_manager': manager}
        nodes = {f'/**/{name}': {'ros__parameters': each} for name, each in nodes.items() if each}
        file.write_text(yaml.safe_dump(nodes))
        self._log = folder / 'log'
        surroundings = environment(number)
        os.environ.update(surroundings)
        command = [
            'ros2', 'launch', 'robodyn_ros', 'mock_control.launch.py', f'result_file:={result}',
            f'params_file:={file}', 'robot_state_publisher:=false', f'way:={way}',
            *([f'namespace:={namespace}'] if namespace else []),
        ]  # fmt: skip
        self.probe = UpdateProbe(folder / 'updates')
        env = {**surroundings, **(preload or self.probe.environment())}
        with self._log.open('w') as out:
            self.process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT)
        self.references, self.cycles, self.efforts, self.diagnoses = {}, {}, {}, []
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('test_client', namespace=namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, 'robot_description', latched)
        self.description.publish(String(data=self.urdf))
        self.node.create_subscription(JointState, 'joint_states', self._on_joint_state, 1000)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 1000)
        self._heard: list = []
        self.action = None
        self.listen_to(PLUGIN, 'joint_trajectory_controller', JOINTS)

    def listen_to(self, plugin: str, jtc: str, joints: list[str]) -> None:
        """Take cycles and references from these, and send motions of these joints."""
        if self.action is not None:
            self.action.destroy()
        for before in self._heard:
            self.node.destroy_subscription(before)
        self.joints = joints
        name = f'{jtc}/follow_joint_trajectory'
        self.action = ActionClient(self.node, FollowJointTrajectory, name)
        listen = self.node.create_subscription
        state = JointTrajectoryControllerState
        self._heard = [
            listen(state, f'{jtc}/controller_state', self._on_reference, 1000),
            listen(TorqueState, f'{plugin}/torque_state', self._on_state, 1000),
        ]
        self.clear()

    def __enter__(self):
        try:
            self.wait(lambda: self.references, 'the controllers', 60.0)
            self.wait(lambda: self.cycles or self.way != 'plugin', 'the plugin', 60.0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(15.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.action.destroy()  # else the node's participant is there until it is collected
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def _on_reference(self, message) -> None:
        point = message.output  # what it commands in this cycle
        rows = (point.positions, point.velocities, point.accelerations)
        rows = [row for row in rows if len(row)]  # the effort way commands positions only
        self.references[nanoseconds(message.header.stamp)] = np.array(rows)

    def _on_state(self, message) -> None:
        self.cycles[message.cycle] = self.last = Cycle(
            nanoseconds(message.header.stamp), np.array(message.requested),
            np.array(message.additive_command), message.enabled, message.fault,
            message.additive_torque_delay,
        )  # fmt: skip

    def _on_diagnostics(self, message) -> None:
        self.diagnoses += [item for item in message.status if PLUGIN in item.name]

    def _on_joint_state(self, message) -> None:
        order = [message.name.index(name) for name in JOINTS]
        self.position = np.array(message.position)[order]
        self.effort = np.array(message.effort)[order]
        self.efforts[nanoseconds(message.header.stamp)] = self.effort

    def clear(self) -> None:
        for kept in (self.references, self.cycles, self.efforts):
            kept.clear()

    def heard(self) -> float:
        """Share of the plugin's cycles whose message was not lost."""
        return len(self.cycles) / (max(self.cycles) - min(self.cycles) + 1)

    def come_to_zero(self) -> None:
        """Wait for the hardware's effort to be zero, and that it stays so."""
        self.wait(lambda: not np.any(self.effort), 'zero effort')
        self.spin(0.2)
        assert not np.any(self.effort)

    def wait(self, condition, what, timeout=20.0) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, f'waited for {what}\n{self.log()}'
            self.executor.spin_once(timeout_sec=0.01)

    def go_on(self, seconds: float) -> None:
        """Until the plugin has told of a cycle this much later than now."""
        end = time.time_ns() + seconds * 1e9
        self.wait(lambda: self.last.stamp >= end, f'{seconds} s of cycles', seconds + 30.0)

    def enable(self, on: bool):
        return self.call(SetBool, f'{PLUGIN}/enable', SetBool.Request(data=on))

    def reset(self):
        return self.call(Trigger, f'{PLUGIN}/reset', Trigger.Request())

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def spin_until_it_ends(self) -> float:
        """Listen to the very end of the processes; how long it took, in [s]."""
        begin = time.monotonic()
        while self.process.poll() is None and time.monotonic() - begin < 20.0:
            self.executor.spin_once(timeout_sec=0.01)
        took = time.monotonic() - begin
        self.spin(0.5)
        return took

    def log(self) -> str:
        return self._log.read_text()

    def call(self, kind, service, request):
        client = self.node.create_client(kind, service)
        self.wait(client.service_is_ready, service)
        future = client.call_async(request)
        self.wait(future.done, f'the answer of {service}')
        self.node.destroy_client(client)  # each one makes every spin slower
        return future.result()

    def start(self, seconds: float) -> None:
        """Begin a motion there and back."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory(seconds, self.joints))
        self.wait(self.action.server_is_ready, 'the action')
        sent = self.action.send_goal_async(goal)
        self.wait(sent.done, 'the goal')
        self.goal = sent.result()
        assert self.goal.accepted

    def cancel(self) -> None:
        cancelled = self.goal.cancel_goal_async()
        self.wait(cancelled.done, 'the cancel')

    def move(self, seconds: float) -> None:
        self.start(seconds)
        result = self.goal.get_result_async()
        self.wait(result.done, 'the end of the motion', seconds + 20.0)

    def switch(self, activate=(), deactivate=(), *, check=True, asap=False) -> bool:
        """Switch controllers, all or none; `asap`: inside the real-time loop."""
        request = SwitchController.Request(
            activate_controllers=list(activate), deactivate_controllers=list(deactivate),
            strictness=SwitchController.Request.STRICT, activate_asap=asap,
        )  # fmt: skip
        request.timeout = Duration(sec=5)
        answer = self.call(SwitchController, 'controller_manager/switch_controller', request)
        assert answer.ok or not check, self.log()
        return answer.ok

    def state_of(self, name: str) -> str:
        request = ListControllers.Request()
        answer = self.call(ListControllers, 'controller_manager/list_controllers', request)
        return next(item.state for item in answer.controller if item.name == name)

    def load(self, name: str, change, kind='robodyn_ros/FeedforwardTorqueController') -> bool:
        """Load a controller: the plugin once more, with changed parameters, or another one."""
        plugin = kind.startswith('robodyn_ros')
        parameters = {**PARAMETERS, 'result_file': str(self.result)} if plugin else {}
        file = self.folder / f'{name}.yaml'
        content = {key: value for key, value in {**parameters, **change}.items() if value != []}
        file.write_text(yaml.safe_dump({name: {'ros__parameters': content}}))
        rows = [
            Parameter(f'{name}.{key}', value=value).to_parameter_msg()
            for key, value in (('type', kind), ('params_file', [str(file)]))
        ]
        request = SetParameters.Request(parameters=rows)
        answer = self.call(SetParameters, 'controller_manager/set_parameters', request)
        assert all(item.successful for item in answer.results), answer.results
        return self._managed(LoadController, 'load_controller', name)

    def configure(self, name: str) -> bool:
        return self._managed(ConfigureController, 'configure_controller', name)

    def clean_up(self, name: str) -> bool:
        return self._managed(CleanupController, 'cleanup_controller', name)

    def unload(self, name: str) -> bool:
        return self._managed(UnloadController, 'unload_controller', name)

    def _managed(self, kind, service: str, name: str) -> bool:
        return self.call(kind, f'controller_manager/{service}', kind.Request(name=name)).ok


def trajectory(seconds: float, joints=JOINTS) -> JointTrajectory:
    """From where the robot starts there and back, never at rest between."""
    result = JointTrajectory(joint_names=joints)
    size = np.array([0.6, 0.4, 0.5, 0.7, 0.6, 0.8])[: len(joints)]
    rate = 2.0 * np.pi / seconds
    for at in np.linspace(0.0, seconds, 41)[1:]:
        still = at == seconds
        point = JointTrajectoryPoint(
            positions=(size * (1.0 - np.cos(rate * at))).tolist(),
            velocities=(0.0 * size if still else size * rate * np.sin(rate * at)).tolist(),
            accelerations=(size * rate**2 * np.cos(rate * at)).tolist(),
        )
        point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1.0 * 1e9))
        result.points.append(point)
    return result
