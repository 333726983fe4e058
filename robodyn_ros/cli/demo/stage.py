# SPDX-License-Identifier: Apache-2.0
"""Stage of the demonstration: the simulated cell and the nodes of the suite."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from std_srvs.srv import Trigger

from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.push import Push
from robodyn_ros.cli.demo.analysis import PLANT, REFERENCE, Span
from robodyn_ros.cli.demo.client import START_TIMEOUT, Client
from robodyn_ros.cli.demo.facts import PushFacts, read_facts
from robodyn_ros.cli.demo.length import Length
from robodyn_ros.cli.demo.monitoring import Alarms, thresholds
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.pushing import Pushing
from robodyn_ros.cli.output import progress_bar
from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.long_work import Show, progress
from robodyn_ros.msg import CollisionState, IdentificationReport, TorqueState
from robodyn_ros.nodes.base.clock import nanoseconds_of
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.robot.phases import phase_name
from robodyn_ros.robot_file import load_robot
from robodyn_ros.srv import StartRecording, StopRecording

RECORDERS = {
    '': ('recorder', 'joint_states'),
    '_plant': ('plant_recorder', PLANT),
    '_reference': ('reference_recorder', REFERENCE),
}
"""Suffix of the recording -> recorder node and its topic."""

MOTION_TIMEOUT = 180.0
"""Longest time of a motion or an identification of the demonstration, in [s]."""
STOPPED = '~/stop was called'
"""Part of the result of a motion that the collision monitor stopped."""


class Stage:
    """Running nodes, and the operations on them."""

    def __init__(
        self, *, robot: str, folder: Path, nodes: NodeProcesses, client: Client, length: Length
    ) -> None:
        """Start cell, recorders, excitation and identification."""
        self._robot = load_robot(robot)
        self.folder, self._length = folder, length
        self._nodes, self._client = nodes, client
        self.facts = length.of(read_facts(self._robot))
        drives = {'profile': length.profile} if length.profile else {}
        config = CellConfig.from_yaml(self._robot.reference, **drives)
        # The interpolator of the drive centres command k on cycle k + delay, half a cycle later.
        self.setpoint_delay = (config.command_delay + 0.5) * config.servo_period
        self.tracking: dict[str, Span] = {}
        self.result_file = folder / 'result.yaml'
        self.report_file = ''
        self._start('cell', drives)
        for name, topic in RECORDERS.values():
            self._start('recorder', name=name, remappings={'joint_states': topic})
        self._start_excitation('excitation')
        # at full speed at once: the cell is simulated
        self._start('identification', {'output_directory': str(folder), 'speeds': [1.0]})
        self._pushing = Pushing(client)
        client.prepare(Excite, 'excitation/excite')  # the identification does not wait for starts
        for name, _ in RECORDERS.values():
            client.prepare(StartRecording, f'{name}/start')
            client.prepare(StopRecording, f'{name}/stop')

    def _start(
        self,
        node: str,
        parameters: Mapping[str, object] | None = None,
        *,
        name: str = '',
        remappings: Mapping[str, str] | None = None,
    ) -> None:
        """Start a node with the robot file; `parameters` have priority."""
        clock: dict[str, object] = {}
        if self._client.simulated:
            clock = {'real_time_factor': 0.0} if node == 'cell' else {'use_sim_time': True}
        given = {'robot': self._robot.reference, **clock, **(parameters or {})}
        self._nodes.start(node, given, name=name, remappings=remappings)

    @cached_property
    def identified(self) -> IdentifiedModel:
        """Identified model."""
        return load_identified_model(self.result_file)

    def print_heading(self, text: str) -> None:
        """Print a heading."""
        print(f'\n{text}', flush=True)

    # ---- identification -------------------------------------------------------------------

    def run_identification(self) -> IdentificationReport:
        """Run the action of the identification node, which ends then.

        :raises RobodynError: it failed
        """
        goal = RunIdentification.Goal(output_directory=str(self.folder))
        with _progress() as show:
            result = self._client.run_action(
                RunIdentification,
                'identification/run_identification',
                goal,
                MOTION_TIMEOUT,
                lambda feedback: show(phase_name(feedback), feedback.progress),
            )
        self._nodes.stop('identification')  # the cell waits for each node that follows its time
        return result.report

    # ---- motions --------------------------------------------------------------------------

    def _start_excitation(self, name: str, **parameters: object) -> None:
        self._start(
            'excitation',
            {
                **self._length.excitation_parameters,
                'allow_unchecked': True,  # the simulated cell is empty
                **parameters,
            },
            name=name,
        )

    def excite(self, name: str, *, through_feedforward: bool = False) -> Span:
        """Run a motion of the robot; return the stamps of its start and end.

        :raises RobodynError: it was not completed
        """
        node = 'excitation_with_torque' if through_feedforward else 'excitation'
        file = self._length.motion_file(self.facts.motions[name], self.folder)
        goal = Excite.Goal(motion_file=str(file))
        with _progress() as show:
            result = self._client.run_action(
                Excite,
                f'{node}/excite',
                goal,
                MOTION_TIMEOUT,
                lambda feedback: show(
                    name if feedback.phase == Excite.Feedback.EXCITING else phase_name(feedback),
                    feedback.progress,
                ),
            )
        return nanoseconds_of(result.started), nanoseconds_of(result.finished)

    @contextmanager
    def record(self, name: str) -> Iterator[None]:
        """Record joint states, plant and reference inside the context."""
        for suffix, (node, _) in RECORDERS.items():
            request = StartRecording.Request(recording=str(self.folder / f'{name}{suffix}'))
            self._client.call(StartRecording, f'{node}/start', request)
        yield
        for node, _ in RECORDERS.values():
            self._client.call(StopRecording, f'{node}/stop', StopRecording.Request())

    # ---- feed-forward and collision monitor -----------------------------------------------

    def start_feedforward(self) -> None:
        """Start the feed-forward node, and an excitation node that sends its motions there.

        They are ready after `wait_for_feedforward`. The excitation node is the later one: it
        offers its action when it knows the feed-forward.
        """
        self._start_with_result('feedforward', enable_after_kill=True)  # safe in a simulation
        self._start_excitation(
            'excitation_with_torque', command_topic='feedforward/joint_trajectory'
        )

    def wait_for_feedforward(self) -> None:
        """Wait until the feed-forward is active.

        :raises RobodynError: it does not become active
        """
        # An active node publishes its torque state with the joint states.
        states: list[TorqueState] = []
        node, topic = self._client.node, 'feedforward/torque_state'
        listener = node.create_subscription(TorqueState, topic, states.append, MONITOR_QOS)
        self._client.wait(lambda: bool(states), START_TIMEOUT, 'the feed-forward to be active')
        node.destroy_subscription(listener)

    def start_monitor(self) -> None:
        """Start the collision monitor with thresholds from the motions that were recorded."""
        names = ['excitation', *(f'tracking_{name}' for name in self.tracking)]
        proposal = thresholds(
            self.identified,
            [self.folder / name for name in names],
            self._robot.section('collision_monitor', 'the demonstration'),
            self._length.margin,
        )
        print(f'   max_torque_error: {", ".join(f"{x:.3g}" for x in proposal.max_torque_error)}')
        self._start_with_result(
            'collision_monitor',
            stop_service='/excitation/stop',
            max_torque_error=proposal.max_torque_error.tolist(),
            contact_threshold=proposal.contact_threshold.tolist(),
            low_velocity_torque=proposal.low_velocity_torque.tolist(),
        )
        with self.count_alarms() as alarms:
            self._client.wait(
                lambda: alarms.samples - alarms.unknown > 2, START_TIMEOUT, 'the collision monitor'
            )

    def start_watch(self, port: int = 8780) -> str:
        """Start the live page and return its address."""
        self._start('watch', {'port': port})
        return f'http://127.0.0.1:{port}'

    def _start_with_result(self, node: str, **parameters: object) -> None:
        given = {'result_file': str(self.result_file), 'autostart': True}
        self._start(node, {**given, **parameters})

    @contextmanager
    def count_alarms(self) -> Iterator[Alarms]:
        """Count the messages of the collision monitor inside the context."""
        alarms = Alarms()
        subscription = self._client.node.create_subscription(
            CollisionState, 'collision_monitor/collision_state', alarms.take, MONITOR_QOS
        )
        yield alarms
        self._client.node.destroy_subscription(subscription)

    def recover(self) -> None:
        """Wait until a push has ended, and reset the collision monitor.

        :raises RobodynError: the torque error stays above its threshold
        """
        self._client.spin(2.0)
        deadline = self._client.now() + 20.0
        while True:
            try:
                self._client.call(Trigger, 'collision_monitor/reset', Trigger.Request())
                return
            except RobodynError:  # the torque error is still above the contact threshold
                if self._client.now() > deadline:
                    raise
            self._client.spin(0.5)

    def push(self, push: PushFacts) -> float:
        """Push the robot while it moves; return the time to the alarm, in [s].

        It ends at the stamp of the joint states that raised the alarm.

        The force is a step far above the threshold, so the threshold is exceeded at its start.
        The robot must come to rest after the push.

        :raises RobodynError: an alarm before the push, no alarm after it, or no stop
        """
        moving: list[float] = []

        def progress(feedback: Excite.Feedback) -> None:
            if feedback.phase == Excite.Feedback.EXCITING:
                moving.append(self._client.now())

        name = 'excitation/excite'
        with self.count_alarms() as alarms:
            motion = self._client.begin_action(Excite, name, Excite.Goal(), progress)
            self._client.wait(lambda: bool(moving), 30.0, 'the motion to push in')
            self._client.spin(moving[0] + self._length.before_push - self._client.now())
            if alarms.collisions:
                raise RobodynError('the collision monitor raised an alarm before the push')
            start = self._pushing.push(Push(push.link, 0.5, push.force, push.torque))
            self._alarm(alarms)
        result = self._client.end_action(motion, name, 8.0).result
        if STOPPED not in result.message:
            raise RobodynError(f'the collision monitor did not stop the robot: {result.message}')
        if alarms.first_collision < start:
            raise RobodynError('the collision monitor raised an alarm before the push')
        return 1e-9 * (alarms.first_collision - start)

    def _alarm(self, alarms: Alarms) -> None:
        try:
            self._client.wait(lambda: alarms.collisions > 0, 3.0, 'an alarm after the push')
        except RobodynError as error:
            seen = f'{alarms.samples} messages of the collision monitor'
            raise RobodynError(f'{error}: {seen}, {alarms.unknown} of them UNKNOWN') from error


@contextmanager
def _progress() -> Iterator[Show]:
    """Progress bar on a terminal; one line per phase where the output is none."""
    shown: set[str] = set()

    def show(phase: str, share: float) -> None:
        progress(phase, share)
        if phase not in shown and not sys.stdout.isatty():
            shown.add(phase)
            print(f'   {phase} ...', flush=True)

    with progress_bar():
        yield show
