"""The simulated cell and the nodes around it, as the demonstration uses them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger
from tqdm import tqdm

from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cli.demo.analysis import PLANT, REFERENCE, Span
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.control.collision import CollisionSettings
from robodyn_ros.control.model_torque import ModelTorque
from robodyn_ros.control.thresholds import propose_thresholds
from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.result import load_identified_model
from robodyn_ros.msg import CollisionState, IdentificationReport
from robodyn_ros.nodes.common import MONITOR_QOS, resource
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.srv import Push, StartRecording, StopRecording

RECORDERS = {
    '': ('recorder', 'joint_states'),
    '_plant': ('plant_recorder', PLANT),
    '_reference': ('reference_recorder', REFERENCE),
}
"""Suffix of the recording -> recorder node and its topic."""

MOTION_TIMEOUT = 180.0
IDLE = 'no motion is running'
"""What the excitation node says in its diagnostics when it has nothing to do."""

WINDOW = 0.01
"""Velocity window of the friction in config/collision_monitor_*.yaml, in [rad/s]."""


@dataclass
class Alarms:
    """What the collision monitor said while it was watched."""

    collisions: int = 0
    unknown: int = 0
    samples: int = 0
    first_collision: int = 0
    seen: float = 0.0

    @property
    def unmonitored(self) -> float:
        """Share of samples without a verdict; NaN when there was none at all."""
        return self.unknown / self.samples if self.samples else float('nan')

    def take(self, message: CollisionState) -> None:
        """Count one message."""
        worst = max(message.level, default=CollisionState.UNKNOWN)
        self.samples += 1
        self.unknown += min(message.level, default=0) == CollisionState.UNKNOWN
        if worst == CollisionState.COLLISION:
            self.collisions += 1
            if not self.first_collision:
                stamp = message.header.stamp
                self.first_collision = stamp.sec * 1_000_000_000 + stamp.nanosec
                self.seen = time.time()


@dataclass(frozen=True)
class Latency:
    """From the begin of a push to its alarm, in [s].

    :param sample: to the stamp of the joint states that gave the alarm
    :param wall: until the alarm was in the hands of another process
    """

    sample: float
    wall: float


class Stage:
    """Starts the nodes and offers what the story needs."""

    def __init__(self, *, robot: str, folder: Path, nodes: NodeProcesses, client: Client) -> None:
        """Start cell, recorders, excitation and identification."""
        self.robot, self.folder = robot, folder
        self._nodes, self._client = nodes, client
        self._urdf = str(self._file(f'urdf/{robot}.urdf'))
        cell_file = self._file(f'config/cell_{robot}.yaml')
        config = CellConfig.from_yaml(cell_file)
        self._period = config.servo_period
        # the drive's interpolator centres command k on cycle k + delay, half a cycle on the way
        self.setpoint_delay = (config.command_delay + 0.5) * config.servo_period
        self.tracking: dict[str, Span] = {}
        self.result_file = folder / 'result.yaml'
        nodes.start('cell', {'config': str(cell_file)})
        for name, topic in RECORDERS.values():
            nodes.start('recorder', {}, name=name, remappings={'joint_states': topic})
        self._start_excitation('excitation')
        nodes.start('identification', {'urdf': self._urdf, 'output_directory': str(folder)})

    def say(self, text: str) -> None:
        """Print a heading."""
        print(f'\n{text}', flush=True)

    # ---- identification -------------------------------------------------------------------

    def run_identification(self) -> IdentificationReport:
        """Run the action of the identification node.

        :raises RobodynError: it failed
        """
        goal = RunIdentification.Goal(output_directory=str(self.folder))
        with _progress() as show:
            result = self._client.run_action(
                RunIdentification,
                'identification/run_identification',
                goal,
                MOTION_TIMEOUT,
                lambda feedback: show(
                    ('moving to start', 'exciting', 'identifying', 'validating')[feedback.phase],
                    feedback.progress,
                ),
            )
        return result.report

    @staticmethod
    def _file(name: str) -> Path:
        return resource(f'package://robodyn_ros/{name}')

    # ---- motions --------------------------------------------------------------------------

    def _start_excitation(self, name: str, **parameters: object) -> None:
        limits = str(self._file(f'config/joint_limits_{self.robot}.yaml'))
        self._nodes.start(
            'excitation',
            {'urdf': self._urdf, 'joint_limits': limits, **parameters},
            name=name,
            files=[self._file(f'config/excitation_{self.robot}.yaml')],
        )

    def excite(self, name: str, *, through_feedforward: bool = False) -> Span:
        """Run config/motions/ROBOT_NAME.yaml; return the stamps between which it ran.

        :raises RobodynError: it did not finish
        """
        node = 'excitation_with_torque' if through_feedforward else 'excitation'
        file = self._file(f'config/motions/{self.robot}_{name}.yaml')
        goal = Excite.Goal(motion_file=str(file))
        with _progress() as show:
            result = self._client.run_action(
                Excite,
                f'{node}/excite',
                goal,
                MOTION_TIMEOUT,
                lambda feedback: show(
                    ('moving to start', name, 'stopping')[feedback.phase], feedback.progress
                ),
            )
        return _nanoseconds(result.started), _nanoseconds(result.finished)

    @contextmanager
    def recorded(self, name: str) -> Iterator[None]:
        """Record joint states, plant and reference meanwhile."""
        for suffix, (node, _) in RECORDERS.items():
            request = StartRecording.Request(recording=str(self.folder / f'{name}{suffix}'))
            self._client.call(StartRecording, f'{node}/start', request)
        yield
        for node, _ in RECORDERS.values():
            self._client.call(StopRecording, f'{node}/stop', StopRecording.Request())

    # ---- what is done with the result -----------------------------------------------------

    def start_feedforward(self) -> None:
        """Start the feed-forward node, and an excitation node that sends through it."""
        self._start_with_result('feedforward')
        self._start_excitation(
            'excitation_with_torque', command_topic='feedforward/joint_trajectory'
        )
        self._client.wait(
            lambda: bool(self._client.node.count_subscribers('feedforward/joint_trajectory')),
            60.0,
            'the feed-forward',
        )

    def start_monitor(self) -> None:
        """Start the collision monitor with thresholds from the identification's recording."""
        identified = load_identified_model(self.result_file)
        settings = CollisionSettings(
            joints=identified.joints, max_torque_error=1.0, period=self._period
        )
        recording = read_recording(self.folder / 'excitation', joints=identified.joints)
        torque = ModelTorque(identified.model, identified.values, velocity_window=WINDOW)
        # 20 s show less than a day of work does, so the margin is wider than the default
        proposal = propose_thresholds(
            recording, torque, settings, contact_factor=2.0, collision_factor=2.5
        )
        print(f'   max_torque_error: {", ".join(f"{x:.0f}" for x in proposal.max_torque_error)}')
        self._start_with_result(
            'collision_monitor',
            stop_service='/excitation/stop',
            max_torque_error=proposal.max_torque_error.tolist(),
            contact_threshold=proposal.contact_threshold.tolist(),
            low_velocity_torque=proposal.low_velocity_torque.tolist(),
        )
        with self.watched() as alarms:
            self._client.wait(
                lambda: alarms.samples - alarms.unknown > 10, 20.0, 'the collision monitor'
            )

    def _start_with_result(self, node: str, **parameters: object) -> None:
        self._nodes.start(
            node,
            {'result_file': str(self.result_file), 'autostart': True, **parameters},
            files=[self._file(f'config/{node}_{self.robot}.yaml')],
        )

    @contextmanager
    def watched(self) -> Iterator[Alarms]:
        """Count what the collision monitor says meanwhile."""
        alarms = Alarms()
        subscription = self._client.node.create_subscription(
            CollisionState, 'collision_monitor/collision_state', alarms.take, MONITOR_QOS
        )
        yield alarms
        self._client.node.destroy_subscription(subscription)

    def push(self, link: str, force: tuple[float, float, float]) -> Latency:
        """Push the robot while it moves; return the time to the alarm.

        The force is a step, far above the threshold; so the threshold is exceeded as it begins.
        The robot must come to rest after it.

        :raises RobodynError: an alarm before the push, none after it, or the stop did not work
        """
        with self.watched() as alarms:
            self._client.call(Trigger, 'excitation/start', Trigger.Request())
            self._client.spin(5.0)
            if alarms.collisions:
                raise RobodynError('the collision monitor raised an alarm before the push')
            request = Push.Request(link=link, force=list(force), duration=0.5)
            begin = _nanoseconds(self._client.call(Push, 'cell/push', request).stamp)
            self._client.wait(lambda: alarms.collisions > 0, 3.0, 'an alarm after the push')
        # the motion would go on for more than 10 s: that it is over is the monitor's doing
        with self._excitation_state() as said:
            self._client.wait(lambda: IDLE in said, 8.0, 'the stop of the robot')
        self._client.spin(2.0)  # until the pushed arm is at rest as well
        self._client.call(Trigger, 'collision_monitor/reset', Trigger.Request())
        if alarms.first_collision < begin:
            raise RobodynError('the collision monitor raised an alarm before the push')
        return Latency(
            sample=(alarms.first_collision - begin) * 1e-9, wall=alarms.seen - begin * 1e-9
        )

    @contextmanager
    def _excitation_state(self) -> Iterator[list[str]]:
        """Collect what the excitation node says of itself in the diagnostics."""
        said: list[str] = []

        def take(message: DiagnosticArray) -> None:
            said.extend(item.message for item in message.status if item.name == 'excitation')

        node = self._client.node
        subscription = node.create_subscription(DiagnosticArray, '/diagnostics', take, 10)
        yield said
        node.destroy_subscription(subscription)


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


@contextmanager
def _progress() -> Iterator[Any]:
    """Progress bar on a terminal, one line per phase elsewhere."""
    with ExitStack() as stack:
        bar = None
        if sys.stdout.isatty():
            form = '   {desc:<16} {percentage:3.0f}% |{bar:40}|'
            bar = stack.enter_context(tqdm(total=1.0, bar_format=form, leave=False))
        said: list[str] = []

        def show(phase: str, share: float) -> None:
            if bar is not None:
                bar.set_description_str(phase, refresh=False)
                bar.n = share
                bar.refresh()
            elif phase not in said:
                said.append(phase)
                print(f'   {phase} ...', flush=True)

        yield show
