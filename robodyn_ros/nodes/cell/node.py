# SPDX-License-Identifier: Apache-2.0
"""Node `cell`: the simulated robot cell, with the interfaces of a robot under ros2_control."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.controllers import Controllers
from robodyn_ros.cell.faults import KINDS, FaultyStream, InjectedFault, StreamSample
from robodyn_ros.cell.profiles import DEFAULT, profiles
from robodyn_ros.cell.push import FORM, Push
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.errors import RobodynError, UnstableError
from robodyn_ros.nodes.base.clock import start_real_timer, to_stamp
from robodyn_ros.nodes.base.common import (
    LATCHED_QOS,
    Diagnostics,
    check_when_set,
    declare,
    realtime_priority,
)
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.cell.followers import REPEAT, Followers
from robodyn_ros.nodes.cell.pace import CyclePace
from robodyn_ros.nodes.robot.controller_facts import offer_parameters
from robodyn_ros.nodes.robot.joint_state_topic import JointStateTopic
from robodyn_ros.nodes.robot.trajectory_message import read_trajectory
from robodyn_ros.paths import resource
from robodyn_ros.wire.cursor import NANOSECONDS
from robodyn_ros.wire.joint_state import FIELDS
from robodyn_ros.xacro_file import expand_xacro, is_xacro, locate_file

Array = NDArray[np.float64]
MOST = 5
"""Largest number of cycles between two looks for messages."""


class JointStateOut:
    """Publisher of one JointState per cycle."""

    def __init__(self, node: Node, topic: str, joints: Sequence[str], period: float) -> None:
        """Create the publisher; `period` in [s]."""
        # 1000 messages are kept for slow reliable subscribers: 2 s at 500 Hz
        self._topic = JointStateTopic(node, topic, FIELDS, 1000)
        self._topic.prepare(joints)
        self.faults = FaultyStream(period)

    def publish(self, stamp: int, position: Array, velocity: Array, effort: Array) -> None:
        """Publish if there is a subscriber.

        :param stamp: in [ns]
        :param position: shape (n,), in [rad] or [m], the others in [rad/s], [Nm] or [m/s], [N]
        """
        if not self._topic.heard:
            return
        if not self.faults.active:
            self._topic.publish(*divmod(stamp, NANOSECONDS), position, velocity, effort)
            return
        sample = StreamSample(stamp, np.stack([position, velocity, effort]))
        for at, values in self.faults.through(sample):
            self._topic.publish(*divmod(at, NANOSECONDS), *values)


class CellNode(SuiteNode):
    """Cell that publishes /clock, and runs as fast as the nodes that follow it.

    The stamp of cycle k is epoch + k * servo period, plus the jitter of the profile. A cycle
    publishes the state and the commands of that time, then /clock; then the cell advances by one
    period. At rest, and while no node follows, it runs in real time.
    """

    follows_clock = False

    def __init__(self) -> None:
        """Declare parameters, load the robot, offer topics and services, start."""
        super().__init__('cell')
        self.cell = RobotCell(self._configuration())
        self._position_only = declare(
            self, 'position_only', False,
            'the joint_trajectory_controller has no effort interface and refuses effort',
            read_only=True,
        )  # fmt: skip
        self._controllers = Controllers(
            joints=self.cell.joints,
            position=self.cell.plant.initial,
            position_only=self._position_only,
        )
        self._state = self.cell.state
        self._period = round(self.cell.period * 1e9)
        self._cycle = 0
        self._epoch = time.time_ns()
        self._pace = CyclePace(self.cell.period)
        self._factor = declare(
            self, 'real_time_factor', 1.0,
            'largest speed while the robot moves, relative to real time; 0: as fast as the nodes '
            'with use_sim_time follow',
            read_only=True, minimum=0.0,
        )  # fmt: skip
        self._reported = (time.monotonic(), 0)
        self._durations: list[float] = []
        self._open_topics()
        self._followers = Followers(self, self._go_on)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self._diagnostics = Diagnostics(self, 'simulated robot cell')
        start_real_timer(self, 1.0, self._diagnose)
        start_real_timer(self, self.cell.period, self._go_on)
        start_real_timer(self, REPEAT, self._followers.repeat)
        realtime_priority(self, 50)
        self.get_logger().info(
            f'{len(self.cell.joints)} joints at {1.0 / self.cell.period:.0f} Hz, '
            f'{self.cell.config.profile} drives: '
            f'{", ".join(self.cell.joints)}'
        )

    def _configuration(self) -> CellConfig:
        path = declare(
            self, 'config', '', 'robot file with a section cell, or a YAML file of the cell alone',
            read_only=True,
        )  # fmt: skip
        text = declare(
            self, 'robot_description', '', 'URDF text, in place of the one in the YAML file',
            read_only=True,
        )  # fmt: skip
        urdf = declare(
            self, 'urdf', '', 'URDF file, in place of the one in the YAML file', read_only=True
        )
        profile = declare(
            self, 'profile', '',
            f'drives: one of {", ".join(profiles())}; empty: as in section cell, else {DEFAULT}',
            read_only=True,
        )  # fmt: skip
        if is_xacro(urdf) and not text:
            text = expand_xacro(locate_file(urdf, resource))
        if path:
            return CellConfig.from_yaml(path, urdf=text or urdf or None, profile=profile or None)
        return CellConfig.from_mapping(
            {'urdf': text or urdf, 'profile': profile or DEFAULT},
            source='parameter config, urdf or robot_description',
        )

    def _open_topics(self) -> None:
        joints = self.cell.joints
        name = self.cell.config.driver.controller
        trajectory = name('joint_trajectory_controller')
        topics = ('joint_states', '~/plant', f'{trajectory}/reference')
        self._joint_states, self._plant, self._reference = (
            JointStateOut(self, topic, joints, self.cell.period) for topic in topics
        )
        self._streams = {'joint_states': self._joint_states, 'reference': self._reference}
        text = (
            f"fault to inject: 'STREAM KIND DURATION [SIZE]', STREAM is one of "
            f'{", ".join(self._streams)}, KIND one of {", ".join(KINDS)}, DURATION in seconds'
        )
        declare(self, 'fault', '', text)
        declare(self, 'push', '', f'push of the robot that begins when this is set: {FORM}')
        self._pushed = self.create_publisher(WrenchStamped, '~/push', LATCHED_QOS)
        check_when_set(self, self._on_set)
        topic = f'{name("forward_position_controller")}/commands'
        self.create_subscription(Float64MultiArray, topic, self._on_position, 10)
        interfaces = ('position',) if self._position_only else ('position', 'effort')
        facts = {'joints': joints, 'command_interfaces': interfaces}
        offer_parameters(self, trajectory, facts)
        topic = f'{trajectory}/joint_trajectory'
        self.create_subscription(JointTrajectory, topic, self._on_points, 10, raw=True)

    def _stamp(self) -> int:
        return self._epoch + self._cycle * self._period

    def _go_on(self) -> None:
        """Run the cycles that are due, a few at once, so that messages are read between them."""
        for _ in range(MOST):
            now = time.monotonic()
            if not self._pace.due(now) or not self._followers.ready(self._stamp()):
                return
            fast = self._followers and self._controllers.moving
            skipped = self._pace.advance(now, self._factor if fast else 1.0)
            if not self._followers:  # stamps stay close to the time of this machine
                self._epoch += round(1e9 * skipped)
            self._run_cycle()

    def _run_cycle(self) -> None:
        begin = time.perf_counter()
        state, stamp = self._state, self._stamp() + round(1e9 * self.cell.late)
        reference = self._controllers.update(self._cycle * self.cell.period)
        self._joint_states.publish(stamp, state.position, state.velocity, state.torque)
        self._plant.publish(stamp, state.plant_position, state.plant_velocity, state.plant_torque)
        self._reference.publish(stamp, reference.position, reference.velocity, reference.effort)
        self._followers.publish(self._stamp())
        try:
            self._state = self.cell.step(reference.position, reference.effort)
        except UnstableError as error:
            self.refusals.refuse('command', error)
            self._reset()
        self._cycle += 1
        self._durations.append(time.perf_counter() - begin)

    def _on_points(self, serialised: bytes) -> None:
        at, points = read_trajectory(serialised)
        self._controllers.accept_trajectory(
            points,
            now=self._cycle * self.cell.period,
            stamp=1e-9 * (at - self._epoch) if at else None,
        )

    def _on_position(self, message: Float64MultiArray) -> None:
        try:
            self._controllers.accept_position(message.data)
        except RobodynError as error:
            self.refusals.refuse('command', error)

    def _on_set(self, new: Mapping[str, Any]) -> None:
        if new.get('fault'):
            fault = InjectedFault.parse(new['fault'], tuple(self._streams))
            self._streams[fault.stream].faults.inject(fault)
        if new.get('push'):
            self._push(Push.parse(new['push']))

    def _push(self, push: Push) -> None:
        """Push the robot from the next cycle on, and publish the push with its stamp."""
        self.cell.push(push.link, push.force, push.torque, push.duration)
        message = WrenchStamped()
        message.header.stamp, message.header.frame_id = to_stamp(self._stamp()), push.link
        for vector, values in (
            (message.wrench.force, push.force), (message.wrench.torque, push.torque)
        ):  # fmt: skip
            vector.x, vector.y, vector.z = values
        self._pushed.publish(message)

    def _reset(self) -> None:
        """Put the robot to rest in its initial position, and let the controllers hold it."""
        self._state = self.cell.reset()
        self._controllers.reset(self.cell.plant.initial)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._reset()
        response.success = True
        response.message = 'at rest in the initial position'
        return response

    def _diagnose(self) -> None:
        durations = sorted(self._durations)
        self._durations.clear()
        if not durations:
            return
        last, (begin, cycle) = len(durations) - 1, self._reported
        self._reported = (time.monotonic(), self._cycle)
        speed = (self._cycle - cycle) * self.cell.period / (self._reported[0] - begin)
        values = {
            'cycles': self._cycle,
            'cycle time p50 [ms]': f'{1e3 * durations[last // 2]:.3f}',
            'cycle time p99 [ms]': f'{1e3 * durations[round(0.99 * last)]:.3f}',
            'cycle time max [ms]': f'{1e3 * durations[last]:.3f}',
            'speed relative to real time': f'{speed:.3g}',
        }
        slow = not self._followers and speed < 0.95
        level = DiagnosticStatus.WARN if slow else DiagnosticStatus.OK
        message = 'the machine is too slow for the servo period' if slow else 'running'
        self._diagnostics.publish(level, message, values)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(CellNode, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
