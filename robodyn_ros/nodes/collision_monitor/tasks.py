# SPDX-License-Identifier: Apache-2.0
"""Services `~/set_task` and `~/mute`: weaker monitoring that ends by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy import Parameter

from robodyn_ros.control.collision.black_box.recorded_detector import RecordedDetector
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.reaction.mute import Mute
from robodyn_ros.control.collision.reaction.task import Phase, Task, TaskClock, zone_of
from robodyn_ros.errors import ConfigError, ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import seconds_of
from robodyn_ros.nodes.robot.model_node import ModelNode, Row
from robodyn_ros.srv import Mute as MuteReactions
from robodyn_ros.srv import SetTask

FIXED: dict[str, Any] = {'read_only': True}
LONGEST: dict[str, Any] = {**FIXED, 'minimum': 0.0, 'maximum': 600.0}
TASKS: tuple[Row, ...] = (
    ('max_mute', 10.0, 'longest mute of reactions [s]', LONGEST),
    ('tasks.names', [''], 'tasks that ~/set_task may name; for each of them: tasks.NAME.longest '
     '(in seconds), sensitivity, mute, zone.joints, zone.low and zone.high', FIXED),
)  # fmt: skip
"""Parameters, in the form of `ModelNode.declared`."""


def rows_of(name: str) -> dict[str, Row]:
    """Return the parameters of a task, by the end of their names.

    :raises ConfigError: a name that is no word
    """
    if not name.isidentifier():
        raise ConfigError(
            f"parameter 'tasks.names': a name has letters, digits and _, got {name!r:.80}"
        )
    rows: tuple[Row, ...] = (
        ('longest', 0.0, 'longest duration [s]; must be given', LONGEST),
        ('sensitivity', 0.0, 'replaces the sensitivity of the monitor, 0.5 to 2; 0: no change',
         {**FIXED, 'minimum': 0.0, 'maximum': 2.0}),
        ('mute', False, 'collisions start no reaction; at most for max_mute', FIXED),
        ('zone.joints', [''], 'joints of the zone in which the task works; none: everywhere',
         FIXED),
        ('zone.low', Parameter.Type.DOUBLE_ARRAY, 'smallest position of each [rad or m]', FIXED),
        ('zone.high', Parameter.Type.DOUBLE_ARRAY, 'largest position of each [rad or m]', FIXED),
    )  # fmt: skip
    return {row[0]: (f'tasks.{name}.{row[0]}', *row[1:]) for row in rows}


class Tasks:
    """Present task and mute of the monitor.

    :ivar sensitivity: in use now
    """

    def __init__(self, node: ModelNode, refusal: Callable[[], str]) -> None:
        """Declare the parameters and offer the services.

        :param refusal: returns why no task or mute may start now, or ''
        :raises ConfigError: a parameter that cannot be used
        """
        self._node, self._refusal = node, refusal
        chosen = node.declared(TASKS)
        self._longest = chosen['max_mute']
        self._mute = Mute(self._longest)
        self._clock = TaskClock()
        self._given: dict[str, dict[str, Any]] = {}
        for name in filter(None, chosen['tasks.names']):
            if name in self._given:
                raise ConfigError(f"parameter 'tasks.names': {name} is there twice")
            rows = rows_of(name)
            values = node.declared(tuple(rows.values()))
            self._given[name] = {key: values[row[0]] for key, row in rows.items()}
        self._recorded: RecordedDetector | None = None
        self._news: list[str] = []
        node.create_service(MuteReactions, '~/mute', self._on_mute)
        node.create_service(SetTask, '~/set_task', self._on_set_task)

    def checked(self, detector: TorqueErrorDetector) -> list[Task]:
        """Return the tasks for a robot.

        :raises ControlError: tasks that do not fit it
        """
        tasks = [self._task(name, detector.joints) for name in self._given]
        for task in tasks:
            detector.check_sensitivity(task.sensitivity or 1.0)
        return tasks

    def build(self, recorded: RecordedDetector, tasks: list[Task], sensitivity: float) -> None:
        """Start without a task, with another detector.

        :param sensitivity: without a task
        """
        self.end()
        self._clock, self._recorded = TaskClock(tasks), recorded
        self.sensitivity = self._usual = sensitivity
        recorded.call('set_sensitivity', sensitivity)

    def _task(self, name: str, joints: tuple[str, ...]) -> Task:
        """Return a task of the parameters."""
        given = self._given[name]
        names = [joint for joint in given['zone.joints'] if joint]
        try:
            zone = zone_of(names, given['zone.low'], given['zone.high'], joints)
        except ControlError as error:
            raise ControlError(f'task {name}: {error}') from error
        task = Task(name, given['longest'], given['sensitivity'], given['mute'], zone)
        if task.mute and task.longest > self._longest:
            raise ControlError(
                f'task {name}: longest is {task.longest:g} s, but a mute may last at most '
                f'{self._longest:g} s (max_mute)'
            )
        return task

    @property
    def muted(self) -> bool:
        """True while collisions start no reaction; until the detector was reset after a mute."""
        return self._mute.started

    @property
    def muted_now(self) -> bool:
        """True until the time of the mute is over."""
        return self._mute.remaining(time.monotonic()) > 0.0

    def set_sensitivity(self, value: float) -> None:
        """Change the sensitivity without a task.

        :raises ControlError: as of `TorqueErrorDetector.check_sensitivity`
        """
        if self._recorded is not None:
            self._recorded.detector.check_sensitivity(value)
        self._usual = value
        self._apply()

    def sample(self, q: Array) -> None:
        """Follow the robot, before the detector takes its sample.

        :param q: position, shape (n,), in [rad] or [m]
        """
        if self._mute.started or self._clock.task is not None:
            self._follow(q)

    def tick(self) -> None:
        """Follow the time while there are no samples; log what has changed since."""
        self._follow()
        for text in self._news:
            self._node.get_logger().warning(text)
        self._news.clear()

    def end(self) -> None:
        """End the present task: it is another model, or the node does not work any more."""
        task, phase = self._clock.task, self._clock.phase
        self._clock.end()
        self._leave(task, phase)

    def details(self) -> dict[str, object]:
        """Return entries of the diagnostics."""
        now, clock = time.monotonic(), self._clock
        text = clock.phase.value
        if clock.task is not None:
            text = f'{clock.task.name} {text}, {clock.remaining(now):.1f} s left'
        return {'muted [s]': f'{self._mute.remaining(now):.1f}', 'task': text}

    def _follow(self, q: Array | None = None) -> None:
        """Apply the changes of this moment."""
        task, phase = self._clock.task, self._clock.phase
        if self._clock.update(time.monotonic(), q):
            if self._clock.task is None:
                self._leave(task, phase)
            else:
                self._enter(self._clock.task)
        self._end_mute()

    def _enter(self, task: Task) -> None:
        """Let a task work, unless a collision was found in the meantime."""
        if problem := self._refusal():
            self._clock.end()
            self._news.append(f'task {task.name} has ended: {problem}')
            return
        now = time.monotonic()
        if task.mute:
            self._mute.start(now, min(self._clock.remaining(now), task.longest))
        self._apply()
        self._news.append(
            f'task {task.name}: '
            + ', '.join([f'sensitivity {self.sensitivity:g}', *['muted'] * task.mute])
        )

    def _leave(self, task: Task | None, phase: Phase) -> None:
        """End what a task has changed."""
        if task is None:
            return
        if phase == Phase.WORKING and task.mute:
            self._mute.start(time.monotonic(), 0.0)
        self._apply()
        self._end_mute()
        self._news.append(f'task {task.name} has ended')

    def _apply(self) -> None:
        """Set the sensitivity of this moment."""
        task = self._clock.task if self._clock.phase == Phase.WORKING else None
        wanted = self._usual if task is None or not task.sensitivity else task.sensitivity
        if self._recorded is not None and wanted != self.sensitivity:
            self._recorded.call('set_sensitivity', wanted)
            self.sensitivity = wanted

    def _end_mute(self) -> None:
        """Detect a collision again that goes on after a mute; a muted task ends with its mute."""
        if not self._mute.ended(time.monotonic()) or self._recorded is None:
            return
        self._recorded.call('reset')
        self._news.append('the mute has ended')
        task = self._clock.task
        if task is not None and task.mute and self._clock.phase == Phase.WORKING:
            self.end()

    def _on_set_task(self, request: Any, response: Any) -> Any:
        """End the present task, and start the requested one."""
        if not self._node.active:
            raise ControlError('the node is not active', fault='not_active')
        problem = self._refusal() if request.task else ''  # the end of a mute clears a collision
        self.end()
        if problem:
            raise ControlError(problem, fault='fault_latched')
        response.success, response.message = True, 'no task: the monitor works as usual'
        if not request.task:
            return response
        duration = seconds_of(request.duration)
        task = self._clock.start(request.task, time.monotonic(), duration)
        if self._clock.phase == Phase.WORKING:
            self._enter(task)
        left = self._clock.remaining(time.monotonic())
        response.message = f'task {task.name} {self._clock.phase.value}, for at most {left:.3g} s'
        return response

    def _on_mute(self, request: Any, response: Any) -> Any:
        """Mute reactions for some time."""
        if not self._node.active:
            raise ControlError('the node is not active', fault='not_active')
        now, duration = time.monotonic(), seconds_of(request.duration)
        if duration > self._mute.remaining(now) and (problem := self._refusal()):
            raise ControlError(problem, fault='fault_latched')
        self._mute.start(now, duration)
        response.success = True
        response.message = f'reactions are muted for {duration:g} s'
        self._node.get_logger().warning(response.message)
        return response
