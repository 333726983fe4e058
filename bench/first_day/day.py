# SPDX-License-Identifier: Apache-2.0
"""One first day: identification, monitoring and, where the driver allows it, feed-forward."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.msg import CollisionState, TorqueState
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from bench.first_day.kinds import Kind
from robodyn_ros.cell.push import Push
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.monitoring import Alarms
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.pushing import Pushing
from robodyn_ros.nodes.base.common import LATCHED_QOS, MONITOR_QOS

LONGEST = 400.0
"""Longest time of an action, in [s]."""
SHIFTS = np.arange(0.0, 12.0, 0.25)
"""Cycles by which the robot may follow the reference."""


@dataclass
class Outcome:
    """Figures of a day; NaN: not possible with this driver.

    :param validation: ||tau - tau_hat|| / ||tau|| on the last part of the recording
    :param false_alarms: in a motion without contact
    :param latency: time from a push to its alarm, in [s]
    :param without: largest RMS tracking error of a joint without torque, in [rad]
    :param torque: the same with torque
    """

    validation: float = np.nan
    false_alarms: int = -1
    latency: float = np.nan
    without: float = np.nan
    torque: float = np.nan


ZERO = time.time_ns()


class Day:
    """The nodes of a day, started with the robot file of the user."""

    def __init__(self, kind: Kind, folder: Path, nodes: NodeProcesses, client: Client) -> None:
        """Start the fake driver, and publish the description of its robot."""
        self._kind, self._folder, self._nodes, self._client = kind, folder, nodes, client
        self._file = kind.file(folder)
        self._result = ''
        self.outcome = Outcome()
        urdf, cell = kind.plant(folder)
        self._description = client.node.create_publisher(
            String, f'{kind.namespace}/robot_description', LATCHED_QOS
        )
        self._description.publish(String(data=urdf.read_text()))
        config = {'config': str(cell), 'urdf': str(urdf), 'position_only': not kind.additive}
        self._start('cell', config, robot=False)

    def _start(
        self,
        node: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        name: str = '',
        robot: bool = True,
    ) -> None:
        given = {'robot': self._file} if robot else {}
        remapped = {'joint_states': self._kind.joint_states}
        if self._kind.namespace:
            remapped['__ns'] = self._kind.namespace
        self._nodes.start(node, {**given, **(parameters or {})}, name=name, remappings=remapped)

    def _named(self, name: str) -> str:
        return f'{self._kind.namespace}/{name}'.lstrip('/')

    def identify(self, *, rehearse: bool = False) -> None:
        """Run the action of the identification.

        :param rehearse: run the motion at 10 and 50 % of its speed first, as without `speeds`
        :raises RobodynError: it failed
        """
        self._start('recorder')
        self._start('excitation', {'allow_unchecked': True})
        out: dict[str, Any] = {'output_directory': str(self._folder)}
        out |= {} if rehearse else {'speeds': [1.0]}
        self._start('identification', out)
        goal = RunIdentification.Goal(output_directory=str(self._folder))
        name = self._named('identification/run_identification')
        report = self._client.run_action(RunIdentification, name, goal, LONGEST).report
        self._result = report.result_file
        self.outcome.validation = report.validation_relative_residual

    def monitor(self) -> None:
        """Move without contact, then push the robot, which must be stopped.

        :raises RobodynError: no alarm
        """
        given = {'result_file': self._result, 'autostart': True}
        self._start('collision_monitor', given)
        pushing = Pushing(self._client, self._named('cell'))
        alarms = Alarms()
        topic = self._named('collision_monitor/collision_state')
        node = self._client.node
        node.create_subscription(CollisionState, f'/{topic}', alarms.take, MONITOR_QOS)
        monitored = lambda: alarms.samples - alarms.unknown > 10  # noqa: E731
        self._client.wait(monitored, 30.0, 'the collision monitor')
        self._excite('excitation')
        self.outcome.false_alarms = alarms.collisions
        name = self._named('excitation/excite')
        moving: list[float] = []

        def progress(feedback: Any) -> None:
            if feedback.phase == Excite.Feedback.EXCITING:
                moving.append(time.monotonic())

        motion = self._client.begin_action(Excite, name, Excite.Goal(), progress)
        self._client.wait(lambda: bool(moving), 30.0, 'the motion to push in')
        self._client.spin(2.5)
        alarms.collisions = alarms.first_collision = 0
        start = pushing.push(Push('', 0.5, (0.0, 0.0, -150.0), (30.0, 30.0, 30.0)))
        self._client.wait(lambda: alarms.collisions > 0, 5.0, 'an alarm after the push')
        self.outcome.latency = 1e-9 * (alarms.first_collision - start)
        self._client.end_action(motion, name, 30.0)
        self._nodes.stop('collision_monitor')

    def feed_forward(self) -> None:
        """Compare the tracking of a motion without and with torque."""
        self.outcome.without = self._tracking('excitation')
        given = {'result_file': self._result, 'autostart': True, 'enable_after_kill': True}
        given['feedforward_scale'] = 1.0  # a user begins with 0.2 and raises it in steps
        self._start('feedforward', given)
        states: list[TorqueState] = []
        topic = f'/{self._named("feedforward/torque_state")}'
        self._client.node.create_subscription(TorqueState, topic, states.append, MONITOR_QOS)
        self._client.wait(lambda: bool(states), 60.0, 'the feed-forward to be active')
        given = {'command_topic': 'feedforward/joint_trajectory', 'allow_unchecked': True}
        self._start('excitation', given, name='excitation_with_torque')
        self.outcome.torque = self._tracking('excitation_with_torque')

    def _excite(self, node: str) -> None:
        name = self._named(f'{node}/excite')
        self._client.run_action(Excite, name, Excite.Goal(), LONGEST)

    def _tracking(self, node: str) -> float:
        """Run a motion; return the largest RMS tracking error of a joint, in [rad].

        The reference is shifted by the cycles with the smallest error.
        """
        self._client.prepare(Excite, self._named(f'{node}/excite'))
        rows: dict[str, dict[int, Any]] = {'reference': {}, 'plant': {}}
        topics = {'reference': f'{self._kind.controller}/reference', 'plant': 'cell/plant'}
        subscriptions = [
            self._client.node.create_subscription(
                JointState, f'/{self._named(topic)}', _into(rows[key]), 1000
            )
            for key, topic in topics.items()
        ]
        self._excite(node)
        for subscription in subscriptions:
            self._client.node.destroy_subscription(subscription)
        (at, wanted), (times, found) = (_sorted(row) for row in rows.values())
        return min(
            _largest(found, wanted, times - shift * self._kind.period, at) for shift in SHIFTS
        )


def _sorted(rows: dict[int, Any]) -> tuple[Any, Any]:
    """Return times, shape (N,), in [s], and positions, shape (N, n)."""
    stamps = sorted(rows)
    return 1e-9 * (np.array(stamps) - ZERO), np.array([rows[stamp] for stamp in stamps])


def _largest(found: Any, wanted: Any, times: Any, at: Any) -> float:
    """Return the largest RMS difference of a joint from positions at other times."""
    inside = (times > at[0]) & (times < at[-1])
    columns = [np.interp(times[inside], at, column) for column in wanted.T]
    error = found[inside] - np.array(columns).T
    return float(np.sqrt(np.mean(error**2, axis=0)).max())


def _into(rows: dict[int, Any]) -> Any:
    def take(message: JointState) -> None:
        stamp = message.header.stamp
        rows[stamp.sec * 10**9 + stamp.nanosec] = list(message.position)

    return take


def run(kind: Kind, folder: Path, *, rehearse: bool = False) -> Outcome:
    """Live through a first day with one kind of driver.

    :param rehearse: see `Day.identify`
    :raises RobodynError: a step failed
    """
    with NodeProcesses(folder / 'log') as nodes, Client(nodes.check, simulated=False) as client:
        day = Day(kind, folder, nodes, client)
        day.identify(rehearse=rehearse)
        day.monitor()
        if kind.additive:
            day.feed_forward()
        return day.outcome
