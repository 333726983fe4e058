# SPDX-License-Identifier: Apache-2.0
"""Tasks that change the monitoring for a bounded time: other sensitivity, or muted reactions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robodyn_ros.control.checks import check_between
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class Zone:
    """Box of joint positions; joints that it does not name are free.

    :param joints: index of each of its k joints
    :param low: smallest positions, shape (k,), in [rad] or [m]
    :param high: largest positions, shape (k,)
    """

    joints: tuple[int, ...]
    low: Array
    high: Array

    def contains(self, q: Array) -> bool:
        """Return True if a position is in the box; False if it is not known (NaN).

        :param q: shape (n,), in [rad] or [m]
        """
        inside = q[list(self.joints)]
        return bool(((self.low <= inside) & (inside <= self.high)).all())


def zone_of(
    names: Sequence[str], low: Sequence[float], high: Sequence[float], joints: Sequence[str]
) -> Zone | None:
    """Return the box of named joints, or None without a name.

    :raises ControlError: an unknown or repeated joint, or limits that do not fit
    """
    if not len(names) == len(low) == len(high):
        raise ControlError(
            f'a zone needs one lower and one upper limit for each of its joints, got {len(names)} '
            f'joints, {len(low)} lower and {len(high)} upper limits'
        )
    if unknown := sorted(set(names) - set(joints)):
        raise ControlError(f'a zone names joint {unknown[0]!r}, there is: {", ".join(joints)}')
    if len(set(names)) != len(names):
        raise ControlError(f'a zone names a joint twice: {", ".join(names)}')
    for name, least, most in zip(names, low, high, strict=True):
        if not -math.inf < least < most < math.inf:
            raise ControlError(
                f'joint {name}: a zone must be finite, with its lower limit below its upper one, '
                f'got {least:g} to {most:g}'
            )
    if not names:
        return None
    return Zone(tuple(list(joints).index(name) for name in names), np.array(low), np.array(high))


@dataclass(frozen=True)
class Task:
    """Settings of the monitor for a bounded time.

    :param longest: largest duration, in [s]
    :param sensitivity: replaces that of the monitor, 0.5 to 2; 0: that of the monitor
    :param mute: collisions start no reaction; levels are reported as always
    :param zone: the task works only in it; None: everywhere
    :raises ControlError: values that cannot be used
    """

    name: str
    longest: float
    sensitivity: float = 0.0
    mute: bool = False
    zone: Zone | None = None

    def __post_init__(self) -> None:
        """Check."""
        if not 0.0 < self.longest < math.inf:
            raise ControlError(
                f'task {self.name}: longest must be finite and above 0 s, got {self.longest:g} s'
            )
        if self.sensitivity:
            check_between(f'task {self.name}: sensitivity', self.sensitivity, 0.5, 2.0)
        if not (self.sensitivity or self.mute):
            raise ControlError(f'task {self.name} changes nothing: give sensitivity or mute')


class Phase(Enum):
    """Phase of the present task."""

    NONE = 'no task'
    WAITING = 'waits for its zone'
    WORKING = 'works'


class TaskClock:
    """The present task and its end.

    A task works from its start on. With a zone, it works from the first position in the zone, and
    ends at the first one outside. It ends at the end of its time in every phase.

    :ivar task: the present task; None: none
    :ivar phase: its phase
    """

    def __init__(self, tasks: Sequence[Task] = ()) -> None:
        """Start without a task; two of the same name are a ControlError."""
        self._tasks = {task.name: task for task in tasks}
        if len(self._tasks) < len(tasks):
            raise ControlError(
                f'two tasks have one name: {", ".join(task.name for task in tasks)}'
            )
        self.end()

    def end(self) -> None:
        """End the present task."""
        self.task: Task | None = None
        self.phase = Phase.NONE
        self._end = -math.inf

    def start(self, name: str, now: float, duration: float) -> Task:
        """Start a task; the one before ends, also if this one is refused.

        :param now: in [s]
        :param duration: in [s]; 0: the longest of the task
        :raises ControlError: an unknown task, or a duration that is too long
        """
        self.end()
        task = self._tasks.get(name)
        if task is None:
            known = ', '.join(self._tasks) or 'none (parameter tasks.names)'
            text = f'there is no task {name!r:.80}, there is: {known}'
            raise ControlError(text, fault='invalid_value')
        if not 0.0 <= duration <= task.longest:
            raise ControlError(
                f'the duration of task {name} must be from 0 to {task.longest:g} s, got '
                f'{duration:g} s',
                fault='invalid_value',
            )
        self.task, self._end = task, now + (duration or task.longest)
        self.phase = Phase.WORKING if task.zone is None else Phase.WAITING
        return task

    def remaining(self, now: float) -> float:
        """Return the time until the end of the task, in [s]; 0: there is none."""
        return max(self._end - now, 0.0)

    def update(self, now: float, q: Array | None = None) -> bool:
        """Follow time and robot; return True if the phase has changed.

        :param q: position, shape (n,), in [rad] or [m]; None: there is no new one
        """
        task, before = self.task, self.phase
        if task is None:
            return False
        if now >= self._end:
            self.end()
        elif task.zone is not None and q is not None:
            inside = task.zone.contains(q)
            if inside:
                self.phase = Phase.WORKING
            elif before == Phase.WORKING:
                self.end()
        return self.phase != before
