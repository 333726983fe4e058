"""Node `excitation`: moves the robot to the start of an excitation motion and runs it.

Everything is checked before anything is published: limits between all samples, collisions, fresh
joint states, a robot at rest within its limits, somebody who listens to the commands. A motion can
be stopped at any time (service, action cancel, SIGINT): the robot brakes on the motion's own path
within its acceleration limits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.action import Excite
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.excitation.advice import advise
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.plan import plan_excitation
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.nodes.base.common import MONITOR_QOS, Diagnostics, run, steady_timer
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.excitation.collisions import CollisionGuard
from robodyn_ros.nodes.excitation.design import Designer
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import (
    declare_limits,
    declare_motion,
    declare_settings,
    read_motion,
)
from robodyn_ros.nodes.excitation.path_marker import PathMarker
from robodyn_ros.nodes.excitation.readiness import Readiness
from robodyn_ros.nodes.excitation.results import Results
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.excitation.supervision import Supervision
from robodyn_ros.nodes.robot.robot_state import LONGEST, RobotState

Array = NDArray[np.float64]
TICK = 0.02
"""How often a run is looked after when nothing is streamed, in [s]."""
CLOCK_STEP = 0.1
"""A clock that goes back by more than this was set, in [s]; stamps of a motion are then wrong."""
FEEDBACK_PERIOD = 0.1
OPEN_TIME = 6.0
"""Services and action are there this long after the node at the latest, in [s].

On a busy machine DDS may need more than the 3 s between two of its announcements.
"""
LONGEST_STEP = 3
"""A late cycle of a stream moves on by this many periods at most, so that nothing jumps."""


class Excitation(SuiteNode):
    """Runs one excitation at a time."""

    def __init__(self) -> None:
        """Declare parameters, load the limits, offer topics, services and the action."""
        super().__init__('excitation')
        self._settings = declare_settings(self)
        self._limits = declare_limits(self)
        declare_motion(self)
        self._state = RobotState(self._limits.joints)
        self._run: Run | None = None
        self._last_cycle, self._arrived_by, self._feedback_due = 0, 0.0, 0.0
        self._results = Results()
        self._guard = Guard(self, self._limits.joints)
        limit = self._guard.torque_limit
        self._designer = Designer(
            self,
            self._limits,
            self._run_motion,
            self._results.give,
            rules=[] if limit is None else [limit],
        )
        self._collisions = CollisionGuard(self, self._limits.joints, self._designer)
        self._output = Output(self, self._settings, self._limits.joints)
        self._ready = Readiness(
            self._state, self._limits, self._settings, self._output, self._collisions
        )
        self._path = PathMarker(self)
        self._owner = Owner(self)
        self._supervision = Supervision(
            self._state, self._limits, self._settings, self._owner, self._guard
        )
        self.create_subscription(JointState, 'joint_states', self._on_state, MONITOR_QOS)
        self._open_by = time.monotonic() + OPEN_TIME
        self._opening = steady_timer(self, TICK, self._on_opening)
        self._diagnostics = Diagnostics(self, 'robodyn excitation')
        steady_timer(self, 1.0, self._diagnose)
        period = 1.0 / self._settings.rate if self._output.streaming else TICK
        self._cycle = steady_timer(self, period, self._on_cycle)
        self._cycle.cancel()
        self.get_logger().info(
            f'{self._settings.output} to {self._output.topic} for the joints '
            f'{", ".join(self._limits.joints)}'
        )

    def _on_opening(self) -> None:
        """Offer services and action once the robot and its controller are seen, or soon anyway.

        Who waits for them is then not refused only because nodes had no time to find each other.
        """
        seen = self._state.known and self._output.heard
        if not seen and time.monotonic() < self._open_by:
            return
        self._opening.cancel()
        self.create_service(Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)
        self._action = ActionServer(
            self,
            Excite,
            '~/excite',
            execute_callback=self._results.conclude,
            handle_accepted_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )
        self._presence = self._output.announced(self._limits.acceleration)

    # --- start -----------------------------------------------------------------------------

    def _on_state(self, message: JointState) -> None:
        self._state.read(message)
        problem = self._guard.problem(message)
        if problem and self._run is not None:
            self._run.request_stop(problem)

    def _on_start(self, request: Any, response: Any) -> Any:
        response.message = self._begin(None, Excite.Goal())
        response.success = True
        return response

    def _on_goal(self, goal: Any) -> None:
        """Start, or refuse with a sentence (a rejected goal could not carry one).

        The goal is executed when the run is over: until then nothing waits in a coroutine,
        which some executors poll without pause.
        """
        try:
            self._begin(goal, goal.request)
        except RobodynError as error:
            self._results.give(goal, Excite.Result(success=False, message=str(error)))

    def _begin(self, goal: Any, request: Excite.Goal) -> str:
        """Begin what is asked for, or to design it.

        :return: what happens now
        :raises RobodynError: why nothing does
        """
        if self._run is not None or self._designer.busy:
            raise ControlError(
                'a motion is running already' if self._run else 'a motion is being designed'
            )
        self._owner.take(request.owner)
        if not request.motion_file and self._designer.asked:
            if not request.design_only:  # better refused now than after the search
                self._ready.check()
            return self._designer.begin(goal, request)
        if not request.design_only:
            # before the motion is read: joint states grow old while a long path is followed
            self._ready.check()
            motion = read_motion(self, request.motion_file, self._limits)
            return self._run_checked(motion, goal, request.motion_file)
        text = 'there is nothing to design'
        result = Excite.Result(success=True, message=text, motion_file=request.motion_file)
        self._results.give(goal, result)
        return text

    def _run_motion(self, motion: Trajectory, goal: Any, file: str) -> str:
        """Check everything, then send the motion.

        :raises RobodynError: why nothing was sent
        """
        self._ready.check()
        return self._run_checked(motion, goal, file)

    def _run_checked(self, motion: Trajectory, goal: Any, file: str) -> str:
        """Check the motion; `_on_cycle` sends it once the robot was seen again."""
        known = self._limits.joints
        columns = [known.index(name) for name in motion.joints if name in known]
        position = np.array(self._state.position[columns])
        plan = plan_excitation(motion, position, self._limits, pause=self._settings.pause)
        self._guard.check_plan(plan)
        self._collisions.check_plan(plan)
        current = Run(
            plan,
            self._limits.joints,
            self._limits.acceleration,
            spacing=self._output.spacing(plan.duration),
            latency=self._settings.stop_latency,
            checked=time.monotonic(),
            goal=goal,
            file=file,
        )
        self._path.show(motion)
        self._run = current
        self._cycle.reset()
        self.get_logger().info(
            f'moving to the start for {plan.begin:.1f} s, then exciting for '
            f'{plan.duration - plan.begin:.1f} s'
        )
        lines = advise(motion, self._limits).lines if isinstance(motion, SineMotion) else ()
        for line in lines:
            self.get_logger().info(f'advice: {line}')
        return '; advice: '.join([f'the motion runs for {plan.duration:.1f} s', *lines])

    def _send_checked(self, current: Run) -> None:
        """Send a motion to a robot that was seen again after the motion was checked."""
        if current.reason:
            self._finish(current, False, f'stopped before it began: {current.reason}')
        elif not self._ready.waits(current, time.monotonic()):
            try:
                self._ready.check_again(current)
                self._send(current)
            except RobodynError as error:
                self._finish(current, False, str(error))

    def _send(self, current: Run) -> None:
        message = None if self._output.streaming else self._output.message(current.active)
        self._last_cycle = current.zero = self._now()
        if message is not None:
            current.zero += round(self._settings.start_delay * 1e9)
            self._output.send(message, current.zero)
        current.sent = True
        self._arrived_by = np.inf

    # --- while it runs ---------------------------------------------------------------------

    def _on_cycle(self) -> None:
        if self._run is None:
            return
        if not self._run.sent:
            self._send_checked(self._run)
            return
        if not self._advance(self._run):
            return
        taken_over = self._run.take_over() and not self._output.streaming
        if taken_over and not self._send_stop(self._run):
            return
        if time.monotonic() >= self._feedback_due:
            self._feedback_due = time.monotonic() + FEEDBACK_PERIOD
            self._watch(self._run)
            if self._run is not None and self._run.goal is not None:
                self._run.goal.publish_feedback(self._run.feedback())
        if self._run is not None and self._run.time >= self._run.end:
            self._arrive(self._run)

    def _advance(self, current: Run) -> bool:
        """Let the run go on; return False if it ended, as no stamp counts any more."""
        now = self._now()
        if self._output.streaming:
            self._stream(current, now)
        elif now < self._last_cycle - CLOCK_STEP * 1e9:
            self._hold(current, 'the clock was set back')
            return False
        else:
            self._last_cycle = now
            current.advance(1e-9 * (now - current.zero), now)
        return True

    def _stream(self, current: Run, now: int) -> None:
        step = min(1e-9 * (now - self._last_cycle), LONGEST_STEP / self._settings.rate)
        self._last_cycle = now
        current.advance(current.time + max(step, 0.0), now)
        position, _, _ = current.setpoint(min(current.time, current.end))
        self._output.stream(position)

    def _send_stop(self, current: Run) -> bool:
        """Replace the trajectory: the same motion for a moment, then braking.

        Where the robot is not on its motion (the controller refused it, a drive is off), such a
        trajectory would make it jump there: then the controller is told to hold the measured
        position instead, and the run is over.

        :return: whether the braking trajectory was sent
        """
        if problem := self._supervision.not_following(current):
            self._hold(current, problem)
            return False
        message = self._output.message(current.active, stop=True)
        self._output.send(message, current.zero + round(current.offset * 1e9))
        return True

    def _hold(self, current: Run, problem: str) -> None:
        """Tell the controller to hold the measured position; the run is over."""
        if not self._output.streaming:
            self._output.hold(self._state.position)
        reason = '; '.join(dict.fromkeys(filter(None, (current.reason, problem))))
        text = f'stopped after {current.time:.1f} s, holding where it is: {reason}'
        self._finish(current, False, text)

    def _watch(self, current: Run) -> None:
        """Stop when joint states or torques stay away, or the robot does not follow.

        A robot that does not follow while it brakes is held where it is.
        """
        if current.stopping and (problem := self._supervision.not_following(current)):
            self._hold(current, problem)
            return
        if problem := self._supervision.problem(current):
            current.request_stop(problem)

    # --- stop and end ----------------------------------------------------------------------

    def _on_stop(self, request: Any, response: Any) -> Any:
        response.success = True
        if self._run is not None:
            self._run.request_stop('~/stop was called')
            response.message = 'the robot is being brought to rest'
        elif self._designer.busy:
            self._designer.cancel('~/stop was called')
            response.message = 'the search for a motion ends, the robot does not move'
        else:
            response.success = False
            response.message = 'no motion is running'
        return response

    def _on_cancel(self, goal: Any) -> CancelResponse:
        if self._run is not None and self._run.goal is goal:
            self._run.request_stop('the goal was cancelled')
        elif self._designer.goal is goal:
            self._designer.cancel('the goal was cancelled')
        return CancelResponse.ACCEPT

    def on_unexpected(self, reason: str) -> None:
        """Brake; when even that raises, hold the measured position."""
        current = self._run
        if current is not None and not current.reason:
            current.request_stop(reason)
        elif current is not None:
            self._hold(current, reason)

    def begin_shutdown(self) -> None:
        """Come to rest before the node ends."""
        if self._run is not None:
            self._run.request_stop('the node was asked to end')
        self._designer.cancel('the node was asked to end', pictures=False)

    def shutdown_done(self) -> bool:
        """Tell whether the robot is at rest and the result has left."""
        return self._run is None and not self._designer.busy and self._results.left

    def _arrive(self, current: Run) -> None:
        """End the run once the robot is at rest at the end, or when it does not get there."""
        now = time.monotonic()
        self._arrived_by = min(self._arrived_by, now + self._settings.goal_time)
        off = current.off_target(self._state.position, self._settings.goal_tolerance, self._limits)
        # for so long, that whoever hears of it finds the robot at rest, too
        off = off or self._state.moving(self._settings.moving_threshold, LONGEST)
        if off and now < self._arrived_by:
            return
        if current.reason:
            text = f'stopped after {current.time:.1f} s: {current.reason}'
            self._finish(current, False, f'{text}; but {off}' if off else text)
        else:
            self._finish(current, not off, off or 'the motion was run to its end')

    def _finish(self, current: Run, success: bool, text: str) -> None:
        self._run = None
        self._cycle.cancel()
        if success:
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)
        if current.goal is not None:
            self._results.give(current.goal, current.result(success, text, self._now()))

    def _diagnose(self) -> None:
        if self._run is None and not self._designer.busy:
            self._diagnostics.publish(DiagnosticStatus.OK, 'no motion is running', {})
            return
        if self._designer.busy and (problem := self._owner.problem()):
            self._designer.cancel(problem)
        state = self._designer.feedback() if self._run is None else self._run.feedback()
        text = ('moving to the start', 'exciting', 'stopping', 'designing a motion')[state.phase]
        values = {'progress': f'{state.progress:.2f}', 'remaining [s]': f'{state.remaining:.1f}'}
        self._diagnostics.publish(DiagnosticStatus.OK, text, values)

    def _now(self) -> int:
        nanoseconds: int = self.get_clock().now().nanoseconds
        return nanoseconds


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Excitation, argv)


if __name__ == '__main__':
    sys.exit(main())
