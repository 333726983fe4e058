# SPDX-License-Identifier: Apache-2.0
"""Node `recorder`: records joint states as an MCAP rosbag2 between two service calls.

What a controller commands meanwhile is in the bag too: `robodyn thresholds` learns from it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
from sensor_msgs.msg import JointState

from robodyn_ros.control.effort.declaration import missing_declaration
from robodyn_ros.errors import NO_FAULT, Fault, RecordingError
from robodyn_ros.faults import number_of
from robodyn_ros.nodes.base.allowed import AllowedDirectories
from robodyn_ros.nodes.base.clock import now, start_timer, to_duration
from robodyn_ros.nodes.base.common import (
    RECORDER_QOS,
    Diagnostics,
    best_effort,
    declare,
)
from robodyn_ros.nodes.base.presence import Owner, Presence
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.robot.commanded import follow_controller, follow_reference
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.paths import expand
from robodyn_ros.recording.bags.disk_space import check_space
from robodyn_ros.recording.bags.joint_state_bag import BagStatistics, JointStateBag
from robodyn_ros.srv import StartRecording, StopRecording
from robodyn_ros.wire.commands import as_joint_state

SILENCE = 2.0
"""Time without messages during a recording that counts as an error, in [s]."""
BEST_EFFORT = best_effort(RECORDER_QOS.depth)
NOTHING = BagStatistics(messages=0, missing=0, late=0, largest_gap=0.0, duration=0.0)


class Recorder(SuiteNode):
    """Recorder of the serialised messages of `joint_states`, from ~/start to ~/stop."""

    def __init__(self) -> None:
        """Declare parameters, offer the services."""
        super().__init__('recorder')
        self._folder = expand(declare(
            self, 'output_directory', '.', 'folder for recordings without a path', read_only=True
        ))  # fmt: skip
        self._allowed = AllowedDirectories(self, 'output_directory')
        text = 'subscribe best effort, for a driver that publishes joint states best effort'
        self._best_effort = declare(self, 'best_effort', False, text, read_only=True)
        autostart = declare(self, 'autostart', False, 'start recording at once', read_only=True)
        text = 'free space on the disk, in MB, below which no recording starts and one ends'
        declare(self, 'min_free_space', 200.0, text, minimum=0.0)
        text = 'joint_trajectory_controller whose commanded positions are recorded too'
        self._controller = declare(
            self, 'controller', 'joint_trajectory_controller', text, read_only=True
        )
        self._effort = EffortParameters(self)
        self._bag: JointStateBag | None = None
        self._error = NO_FAULT
        self._last_message = 0.0
        self._topic = self.resolve_topic_name('joint_states')
        self._diagnostics = Diagnostics(self, 'robodyn recorder')
        self._owner, self._owner_name = Owner(self), ''
        self._heard: list[Any] = []
        self.create_service(StartRecording, '~/start', self._on_start)
        self.create_service(StopRecording, '~/stop', self._on_stop)
        start_timer(self, 1.0, self._on_timer)
        self._presence = Presence(self)
        if autostart:
            self._start('', '')

    def _subscribe_states(self) -> Any:
        qos = BEST_EFFORT if self._best_effort else RECORDER_QOS
        # Not message_lost: taking it while further messages are lost deadlocks the process
        # (rmw_fastrtps 8.4.3, its pull request 890). The stamps tell what is missing.
        events = SubscriptionEventCallbacks(incompatible_qos=self._on_incompatible)
        arguments = (JointState, 'joint_states', self._on_message, qos)
        try:
            return self.create_subscription(*arguments, raw=True, event_callbacks=events)
        except UnsupportedEventTypeError:
            return self.create_subscription(*arguments, raw=True)

    def _on_incompatible(self, event: Any) -> None:
        self.get_logger().error(
            f'{self._topic} is published best effort: set the parameter best_effort to record it'
        )

    @property
    def _open(self) -> JointStateBag | None:
        """Bag that is recorded to; None: there is none, or its recording ended by itself."""
        return None if self._bag is None or self._bag.closed else self._bag

    def _on_message(self, data: bytes) -> None:
        if (bag := self._open) is not None:
            self._last_message = now(self)
            self._write(bag.add, data, time.time_ns())

    def _on_command(self, data: bytes) -> None:
        if (bag := self._open) is not None and (command := as_joint_state(data)) is not None:
            self._write(bag.add_command, command, time.time_ns())

    def _write(self, write: Callable[..., None], *arguments: Any) -> None:
        """Call a function that writes to the bag; report the error that ends the recording."""
        try:
            write(*arguments)
        except RecordingError as error:
            self._error = Fault(error.fault, str(error))
            self.get_logger().error(self._error)
            if self._bag is not None:
                self._presence.tell(str(self._bag.path), self._error)

    def _subscribe(self) -> None:
        self._heard = [
            self._subscribe_states(),
            follow_reference(self, self._on_command, BEST_EFFORT),
            follow_controller(self, self._controller, self._on_command, BEST_EFFORT),
        ]

    def _unsubscribe(self) -> None:
        """End the subscriptions: an idle recorder costs nothing."""
        for subscription in self._heard:
            if subscription is not None:  # control_msgs is not installed
                self.destroy_subscription(subscription)
        self._heard = []

    def _start(self, recording: str, owner: str) -> Path:
        """Open a new bag, which ends with its owner, and return its folder."""
        name = recording or time.strftime('recording_%Y_%m_%d-%H_%M_%S')
        path = self._folder / expand(name)
        path = self._allowed.path(path) if recording else path.absolute()
        if (bag := self._open) is not None:
            if owner and (path, owner) == (bag.path, self._owner_name):
                return path  # a node repeats its request if DDS lost the answer
            text = f'already recording to {bag.path}: stop that first'
            raise RecordingError(text, fault='busy')
        self._check_space(path)
        metadata = self._effort.metadata()
        self._owner.take(owner)
        self._owner_name = owner
        commands = f'{self.get_fully_qualified_name()}/reference'  # by its end, commands find it
        self._bag = JointStateBag(path, topic=self._topic, commands=commands, metadata=metadata)
        if not metadata:  # it is recorded, but its effort must be declared for later use
            self.get_logger().warning(str(missing_declaration(f'the recording {path}')))
        self._error, self._last_message = NO_FAULT, now(self)
        self._presence.tell(str(path))
        self._unsubscribe()  # of a recording that ended by itself
        self._subscribe()
        self.get_logger().info(f'recording {self._topic} to {path}')
        return path

    def _on_start(
        self, request: StartRecording.Request, response: StartRecording.Response
    ) -> StartRecording.Response:
        self._presence.check_alone()
        response.recording = str(self._start(request.recording, request.owner))
        response.success = True
        response.message = f'recording {self._topic}'
        return response

    def _on_stop(
        self, request: StopRecording.Request, response: StopRecording.Response
    ) -> StopRecording.Response:
        if self._bag is None:
            response.message = nothing = Fault('no_recording', 'nothing is being recorded')
            response.fault_code = number_of(nothing)
            return response
        self._unsubscribe()
        self._write(self._bag.close)
        statistics = self._bag.statistics
        response.recording = str(self._bag.path)
        response.messages = statistics.messages
        response.dropped = statistics.missing
        response.largest_gap = to_duration(statistics.largest_gap)
        response.duration = to_duration(statistics.duration)
        problem = self._error
        if not problem and not statistics.messages:
            problem = Fault('no_messages', f'no message came on {self._topic}')
        response.success = not problem
        response.fault_code = number_of(problem)
        text = f'{statistics.messages} messages, {response.dropped} dropped'
        if statistics.commands:
            text += f', {statistics.commands} commanded positions'
        response.message = problem or text
        self._bag, self._error = None, NO_FAULT
        self._presence.tell('')
        self.get_logger().info(f'recorded {response.message}')
        return response

    def _on_timer(self) -> None:
        """Write waiting messages to the disk, and publish the state."""
        if (bag := self._open) is not None:
            self._write(self._look_after, bag)
        statistics = NOTHING if self._bag is None else self._bag.statistics
        level, message = self._state(statistics)
        values = {
            'recording': '' if self._bag is None else self._bag.path,
            'messages': statistics.messages,
            'dropped': statistics.missing,
            'late': statistics.late,
            'largest_gap [s]': f'{statistics.largest_gap:.6f}',
            'duration [s]': f'{statistics.duration:.3f}',
            'commanded positions': statistics.commands,
        }
        self._diagnostics.publish(level, message, values)

    def _check_space(self, path: Path) -> None:
        check_space(path, 1e6 * float(self.get_parameter('min_free_space').value))

    def _look_after(self, bag: JointStateBag) -> None:
        """Write waiting messages; close the bag if the disk is full or the owner is gone."""
        try:
            bag.flush()
            self._check_space(bag.path)
            if problem := self._owner.problem():
                text = f'{bag.path}: recording ended: {problem}'
                raise RecordingError(text, fault=problem.name)
        except RecordingError as error:
            try:
                bag.close()
            except RecordingError as worse:
                raise RecordingError(f'{error}; {worse}', fault=error.fault) from worse
            raise

    def _state(self, statistics: BagStatistics) -> tuple[bytes, str]:
        if self._error:
            return DiagnosticStatus.ERROR, self._error
        if self._bag is None:
            return DiagnosticStatus.OK, 'idle'
        if now(self) - self._last_message > SILENCE:
            return DiagnosticStatus.ERROR, f'no messages on {self._topic}'
        if statistics.missing:
            return DiagnosticStatus.WARN, f'{statistics.missing} messages dropped'
        return DiagnosticStatus.OK, 'recording'

    def destroy_node(self) -> None:
        """Finish the bag, also after SIGINT."""
        if self._bag is not None:
            self._write(self._bag.close)
        super().destroy_node()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT."""
    return run(Recorder, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
