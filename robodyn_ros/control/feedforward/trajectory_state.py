# SPDX-License-Identifier: Apache-2.0
"""State of the trajectories that get additive torque, and of what their controller executes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from robodyn_ros.control.feedforward.path_check import astray
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.torque_plan import TRANSPORT, TorquePlan
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.models.interface import Array

MOST = 16
"""Largest number of waiting trajectories."""


class State(Enum):
    """State of the additive torque of trajectories."""

    IDLE = 'idle'
    PLANNING = 'planning'
    RUNNING = 'running'
    STOPPING = 'stopping'
    FAULT = 'fault'


@dataclass(frozen=True, eq=False)
class Arrived:
    """A serialised trajectory_msgs/JointTrajectory, and what becomes of it.

    :param send: sends the serialised trajectory with its torque to the controller
    :param refuse: reports why it is not sent
    """

    serialised: bytes
    send: Callable[[bytes], None]
    refuse: Callable[[str], None]


@dataclass(frozen=True)
class ActivePlan:
    """A plan that the controller executes.

    :param start: start of the plan, in [ns]
    :param stamped: True if the controller started it exactly at its stamp
    :param stops: True if its torque ramps to zero before its end
    """

    plan: TorquePlan
    start: int
    stamped: bool
    stops: bool = False

    def time_at(self, now: int) -> float:
        """Return the time in the plan, in [s]; `now` in [ns]."""
        return 1e-9 * (now - self.start)


class TrajectoryState:
    """Waiting trajectories, the executed one, and whether torque is added.

    The state follows from these, so that no two of them can contradict each other:

    | state | begins with | ends with |
    |---|---|---|
    | IDLE | no other state applies | |
    | PLANNING | `arrive`; the motion before it continues | the last `take`, `withdraw` or `drop` |
    | RUNNING | `start` of a plan | the end of the motion, `stop`, `leave` |
    | STOPPING | `stop`: the remainder, whose torque ramps to zero | as RUNNING |
    | FAULT | `trip` in any state; trajectories pass without torque | `reset` |

    :ivar enabled: True if model torque is added to trajectories
    :ivar fault: the latched fault, or NO_FAULT
    :ivar execution: what the controller executes; None: unknown, or nothing of this node
    :ivar waiting: trajectories that have no torque yet, the first one is being planned
    """

    def __init__(self) -> None:
        """Start without a trajectory, and without torque."""
        self.enabled = False
        self.fault = NO_FAULT
        self.execution: ActivePlan | None = None
        self.waiting: deque[Arrived] = deque()
        self._before: ActivePlan | None = None

    def state(self, now: int) -> State:
        """Return the state; `now` in [ns]."""
        if self.fault:
            return State.FAULT
        if self.waiting:
            return State.PLANNING
        if self.moving(now) and self.execution is not None:
            return State.STOPPING if self.execution.stops else State.RUNNING
        return State.IDLE

    def moving(self, now: int) -> bool:
        """Return True if the controller executes a motion of this node; `now` in [ns]."""
        run = self.execution
        return run is not None and run.time_at(now) < run.plan.time[-1]

    def applies(self, now: int) -> bool:
        """Return True if the executed plan has effort from now on; `now` in [ns]."""
        return self.remaining(now) > 0.0

    def remaining(self, now: int) -> float:
        """Return the time until the effort is zero, in [s]; `now` in [ns]."""
        run = self.execution
        return -np.inf if run is None else run.plan.end_of_effort - run.time_at(now)

    def effort(self, now: int, width: int) -> tuple[Array, Array]:
        """Return the applied and the requested torque, shape (n,) each; `now` in [ns]."""
        run = self.execution
        if run is None:
            return np.zeros(width), np.zeros(width)
        at = run.time_at(now)
        return run.plan.effort_at(at), run.plan.model_torque_at(at)

    def enable(self) -> None:
        """Add torque to later trajectories.

        :raises ControlError: a fault is latched
        """
        if self.fault:
            text = f'additive torque is held at zero by a fault: {self.fault}'
            raise ControlError(text, fault='fault_latched')
        self.enabled = True

    def trip(self, fault: Fault) -> None:
        """Latch a fault, and add no more torque."""
        self.fault, self.enabled = fault, False

    def reset(self) -> str:
        """Clear the fault; return what was done."""
        fault, self.fault = self.fault, NO_FAULT
        return f'cleared: {fault}' if fault else 'there was no fault'

    def arrive(self, arrived: Arrived) -> Arrived | None:
        """Let a trajectory wait; return the oldest one if it was dropped because too many wait.

        The newest one is kept, because it may be the one that stops the robot.
        """
        dropped = self.waiting.popleft() if len(self.waiting) >= MOST else None
        self.waiting.append(arrived)
        return dropped

    def drop(self) -> list[Arrived]:
        """Drop all waiting trajectories and return them."""
        dropped = list(self.waiting)
        self.waiting.clear()
        return dropped

    def start(self, execution: ActivePlan) -> None:
        """Register what is sent to the controller."""
        self._before, self.execution = self.execution, execution

    def restore(self) -> None:
        """Return to what was executed before the last `start`, which the controller rejected."""
        self.execution = self._before

    def leave(self) -> None:
        """Forget what was executed, because the controller executes another command."""
        self.execution = self._before = None

    def stop(
        self, now: int, settings: FeedforwardSettings, watch: StateWatch
    ) -> ActivePlan | None:
        """Return the remainder of the motion with torque that ramps to zero; None: there is none.

        :param now: in [ns]
        :raises ControlError: the robot does not follow the motion, so it must not be sent again
        """
        run = self.execution
        if run is None or run.stops or self.remaining(now) <= TRANSPORT[0]:
            return None
        at = run.time_at(now)
        if problem := astray(run.plan, watch, start=1e-9 * run.start, now=at):
            raise ControlError(problem)
        arrival = run.plan.arrival(at)
        # A trajectory without stamp started some ms after it was sent: the past would be a jump.
        faded = run.plan.fade(arrival, settings, sent=at if run.stamped else arrival)
        return ActivePlan(faded, run.start, run.stamped, stops=True)
