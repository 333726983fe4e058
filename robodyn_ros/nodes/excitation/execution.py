# SPDX-License-Identifier: Apache-2.0
"""Execution of a run: its motion is sent, supervised, stopped and ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node

from robodyn_ros.errors import Fault, RobodynError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.nodes.base.clock import now, start_timer
from robodyn_ros.nodes.base.common import (
    urgent,
)
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.excitation.results import FEEDBACK_PERIOD
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.excitation.supervision import Supervision
from robodyn_ros.nodes.robot.robot_state import LONGEST, RobotState

TICK = 0.005
"""Period of the cycle if no setpoints are streamed, and of looking for the end of a check, in [s].
A stop does not wait for it."""

Ended = Callable[[Run, bool, str], None]
"""Receives a run that ended, whether it succeeded, and a sentence or fault."""


class Execution:
    """Cycle of one run at a time; `run` is None while there is none."""

    def __init__(
        self,
        node: Node,
        state: RobotState,
        limits: JointLimits,
        settings: Settings,
        output: Output,
        supervision: Supervision,
        ended: Ended,
    ) -> None:
        """Create the timer of the cycle, which runs only during a run."""
        self.run: Run | None = None
        self._node, self._state, self._limits, self._settings = node, state, limits, settings
        self._output, self._supervision, self._ended = output, supervision, ended
        self._last_cycle, self._arrived_by, self._feedback_due = 0, 0.0, 0.0
        period = 1.0 / settings.rate if output.streaming else TICK
        self._cycle = start_timer(node, period, self._on_cycle)
        self._cycle.cancel()

    def begin(self, run: Run) -> None:
        """Execute a run."""
        self.run = run
        self._cycle.reset()

    def now(self) -> int:
        """Return the ROS time, in [ns]."""
        return int(self._node.get_clock().now().nanoseconds)

    def _send_checked(self, current: Run) -> None:
        """Send a motion if a joint state that arrived after its check still allows it."""
        if current.reason:
            text = f'stopped before it began: {current.reason}'
            self._finish(current, False, Fault(current.reason.name, text))
        elif not self._supervision.waits(current, now(self._node)):
            try:
                self._supervision.check_again(current)
                self._send(current)
            except RobodynError as error:
                self._finish(current, False, Fault(error.fault, str(error)))

    def _send(self, current: Run) -> None:
        self._last_cycle = current.zero = self.now()
        if current.message is not None:
            current.zero += round(self._settings.start_delay * 1e9)
            self._output.send(current.message, current.zero)
        current.sent = True
        self._arrived_by = np.inf

    def _on_cycle(self) -> None:
        if self.run is None:
            return
        if not self.run.sent:
            self._send_checked(self.run)
            return
        if not self._advance(self.run):
            return
        if now(self._node) >= self._feedback_due:
            self._feedback_due = now(self._node) + FEEDBACK_PERIOD
            self._watch(self.run)
            if self.run is not None and self.run.goal is not None:
                self.run.goal.publish_feedback(self.run.feedback())
        if self.run is not None and self.run.time >= self.run.end:
            self._arrive(self.run)

    def _advance(self, current: Run) -> bool:
        """Advance the run; return False if it ended because the clock was set back."""
        stamp = self.now()
        if self._output.streaming:
            self._stream(current, stamp)
        elif stamp < self._last_cycle - 0.1e9:  # more than clock synchronisation ever slews
            self.hold(current, Fault('clock_set_back', 'the clock was set back'))
            return False
        else:
            self._last_cycle = stamp
            current.advance(1e-9 * (stamp - current.zero), stamp)
        return True

    def _stream(self, current: Run, stamp: int) -> None:
        # a late cycle advances by three periods at most, so that no setpoint jumps
        step = min(1e-9 * (stamp - self._last_cycle), 3.0 / self._settings.rate)
        self._last_cycle = stamp
        current.advance(current.time + max(step, 0.0), stamp)
        position, _, _ = current.setpoint(min(current.time, current.end))
        self._output.stream(position)

    def stop(self, reason: Fault) -> None:
        """Stop the run, unless it is stopping already; the stop is sent before this returns.

        :raises Exception: the stop cannot be computed; the controller holds the measured position
        """
        current = self.run
        if current is None or current.reason:
            return
        if not current.sent:
            current.reason = reason  # the next cycle ends it
            return
        try:
            with urgent():
                self._brake(current, reason)
        except Exception as error:
            self.hold(current, Fault(reason.name, f'{reason}; {error}'))
            raise

    def _brake(self, current: Run, reason: Fault) -> None:
        if self._output.streaming:
            current.stop(reason, lambda: current.time)
        elif self._advance(current):
            current.stop(reason, lambda: 1e-9 * (self.now() - current.zero))
            self._send_stop(current)

    def _send_stop(self, current: Run) -> None:
        """Replace the trajectory by one that follows the motion for a moment and then brakes.

        A robot that is not on its motion (the controller refused it, a drive is off) would jump
        to such a trajectory. The controller then holds the measured position, and the run ends.
        """
        if problem := self._supervision.not_following(current):
            self.hold(current, problem)
            return
        message = self._output.message(current.active, stop=True)
        self._output.send(message, current.zero + round(current.offset * 1e9))

    def hold(self, current: Run, problem: Fault) -> None:
        """Command the measured position, and end the run."""
        if not self._output.streaming:
            self._output.hold(self._state.position)
        reason = '; '.join(dict.fromkeys(filter(None, (current.reason, problem))))
        text = f'stopped after {current.time:.1f} s, holding where it is: {reason}'
        self._finish(current, False, Fault((current.reason or problem).name, text))

    def _watch(self, current: Run) -> None:
        """Stop the run if the supervision finds a problem; hold a robot that does not brake."""
        if current.stopping and (problem := self._supervision.not_following(current)):
            self.hold(current, problem)
            return
        if problem := self._supervision.problem(current):
            self.stop(problem)

    def _arrive(self, current: Run) -> None:
        """End the run when the robot is at rest at the end, or after `goal_time`."""
        moment = now(self._node)
        self._arrived_by = min(self._arrived_by, moment + self._settings.goal_time)
        off = current.off_target(self._state.position, self._settings.goal_tolerance, self._limits)
        # over the longest window of any node, so that every other node finds it at rest too
        if not off:
            moving = self._state.moving(self._settings.moving_threshold, LONGEST)
            off = Fault('robot_moves', moving)
        if off and moment < self._arrived_by:
            return
        if current.reason:
            text = f'stopped after {current.time:.1f} s: {current.reason}'
            text = f'{text}; but {off}' if off else text
            self._finish(current, False, Fault(current.reason.name, text))
        else:
            self._finish(current, not off, off or 'the motion was run to its end')

    def _finish(self, current: Run, success: bool, text: str) -> None:
        self.run = None
        self._cycle.cancel()
        self._ended(current, success, text)
