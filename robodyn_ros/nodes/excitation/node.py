# SPDX-License-Identifier: Apache-2.0
"""Node `excitation`: moves the robot to the start of an excitation motion and runs it.

Before anything is published, the node checks limits (between samples too), collisions, the age of
joint states, that the robot is at rest within its limits, and that the command topic has a
subscriber. A motion can be stopped at any time (service, action cancel, SIGINT). The robot then
brakes on the path of the motion within its acceleration limits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.action import Excite
from robodyn_ros.errors import ControlError, Fault, RobodynError
from robodyn_ros.excitation.slowed import check_speed
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.faults import fault_of, number_of
from robodyn_ros.nodes.base.allowed import AllowedDirectories
from robodyn_ros.nodes.base.clock import now, seconds_of, start_timer
from robodyn_ros.nodes.base.common import (
    MONITOR_QOS,
    Diagnostics,
)
from robodyn_ros.nodes.base.deferred_service import DeferredService
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.base.waits import DISCOVERY
from robodyn_ros.nodes.excitation.checking import Answer, Checking
from robodyn_ros.nodes.excitation.collisions import CollisionGuard
from robodyn_ros.nodes.excitation.design import Designer
from robodyn_ros.nodes.excitation.execution import TICK, Execution
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import (
    declare_limits,
    declare_motion,
    declare_settings,
)
from robodyn_ros.nodes.excitation.path_marker import PathMarker
from robodyn_ros.nodes.excitation.preparation import Checked, Preparation
from robodyn_ros.nodes.excitation.results import Results
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.excitation.supervision import Supervision
from robodyn_ros.nodes.robot.phases import phase_name
from robodyn_ros.nodes.robot.robot_state import RobotState

OPEN_TIME = 2.0 * DISCOVERY
"""Longest time from the node's start until services and action are offered, in [s].

On a busy machine DDS may need more than the 3 s between two of its announcements.
"""


PATHS = ('motion_file', 'output_directory', 'model_file', 'result_file', 'optimise.srdf')
"""Parameters with a path that may be changed while the node runs."""


class Excitation(SuiteNode):
    """Runs one excitation at a time."""

    def __init__(self) -> None:
        """Declare parameters, load the limits, offer topics, services and the action."""
        super().__init__('excitation')
        self._settings = declare_settings(self)
        self._limits = declare_limits(self)
        declare_motion(self)
        self._state = RobotState(self._limits.joints, partial(now, self))
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
        self._allowed = AllowedDirectories(self, *PATHS)
        self._checking = Checking(self)
        self._path = PathMarker(self)
        self._preparation = Preparation(
            self,
            self._limits,
            self._settings,
            self._output,
            self._guard,
            self._collisions,
            self._designer,
            self._path,
        )
        self._owner = Owner(self)
        robot = self._state, self._limits, self._settings, self._output
        self._supervision = Supervision(*robot, self._owner, self._guard)
        self._execution = Execution(self, *robot, self._supervision, self._on_ended)
        self.create_subscription(JointState, 'joint_states', self._on_state, MONITOR_QOS)
        self._open_by = now(self) + OPEN_TIME
        self._opening = start_timer(self, TICK, self._on_opening)
        self._diagnostics = Diagnostics(self, 'robodyn excitation')
        start_timer(self, 1.0, self._diagnose)
        self.get_logger().info(
            f'{self._settings.output} to {self._output.topic} for the joints '
            f'{", ".join(self._limits.joints)}'
        )

    def _on_opening(self) -> None:
        """Offer services and action once robot and controller are known, or after `OPEN_TIME`.

        Waits for DDS discovery, so that a client that connects immediately is not refused.
        """
        seen = self._state.known and self._output.heard
        if not seen and now(self) < self._open_by:
            return
        self._opening.cancel()
        self._start = DeferredService(self, Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)
        self._action = ActionServer(
            self,
            Excite,
            '~/excite',
            execute_callback=self._results.conclude,
            handle_accepted_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )
        self._presence = self._output.announce(self._limits.acceleration)

    def _on_state(self, message: JointState) -> None:
        self._state.read(message)
        if problem := self._guard.problem(message):
            self._execution.stop(problem)

    @property
    def _run(self) -> Run | None:
        return self._execution.run

    @property
    def _busy(self) -> bool:
        return self._checking.busy or self._designer.busy

    def _on_start(self, request: Any, response: Any) -> Any:
        def answer(text: str, error: Exception | None) -> None:
            response.success = error is None
            response.message = text
            if error is not None:
                response.message = self.refusals.refuse('request of ~/start', error)
            self._start.answer(response)

        self._begin(None, Excite.Goal(), answer)

    def _on_goal(self, goal: Any) -> None:
        """Start, or end the goal with the reason, which a rejected goal could not carry.

        The goal is executed when the run is over. Until then no coroutine waits, because some
        executors poll coroutines without pause.
        """
        answer = partial(self._answer_goal, goal, '')
        try:
            self._begin(goal, goal.request, answer)
        except RobodynError as error:
            answer('', error)

    def _answer_goal(self, goal: Any, file: str, text: str, error: Exception | None) -> None:
        """End a goal that could not be started; `file` is that of its designed motion, or ''."""
        if error is None:
            return
        reason = fault_of(error, str(error))
        if file or not isinstance(error, RobodynError):
            reason = self.refusals.refuse('goal of Excite', error)
        if goal is not None:
            message = f'{reason}; the motion is in {file}' if file else reason
            code = number_of(reason)
            result = Excite.Result(message=message, fault_code=code, motion_file=file)
            self._results.give(goal, result)

    def _begin(self, goal: Any, request: Excite.Goal, answer: Answer) -> None:
        """Check a motion and run it, or start the design of one, and answer with a sentence."""
        self._presence.check_alone()
        if self._run is not None or self._busy:
            raise ControlError(
                'a motion is running already' if self._run is not None
                else 'a motion is being checked' if self._checking.busy
                else 'a motion is being designed',
                fault='busy',
            )  # fmt: skip
        self._allowed.resolve(request)
        self._owner.take(request.owner)
        search = not request.motion_file and self._designer.asked
        if not request.design_only:
            self._supervision.check()
        elif not search:
            text = 'there is nothing to design'
            result = Excite.Result(success=True, message=text, motion_file=request.motion_file)
            self._results.give(goal, result)
            return
        if search:
            begin = partial(self._designer.begin, goal)
            self._checking.begin(goal, partial(self._preparation.search, request), begin, answer)
        else:
            position, speed = self._state.position.copy(), self._speed(request)
            check = partial(self._preparation.read, goal, request.motion_file, position, speed)
            self._checking.begin(goal, check, self._start_run, answer)

    def _run_motion(self, motion: Trajectory, goal: Any, file: str) -> None:
        """Check the robot and a designed motion, then start the run."""
        self._supervision.check()
        speed = self._speed(Excite.Goal() if goal is None else goal.request)
        position = self._state.position.copy()
        check = partial(self._preparation.run, motion, goal, file, position, speed)
        answer = partial(self._answer_goal, goal, file)
        self._checking.begin(goal, check, self._start_run, answer)

    def _speed(self, request: Excite.Goal) -> float:
        """Return the share of the planned speed that a goal, or the parameter, asks for."""
        return check_speed(request.speed or float(self.get_parameter('speed').value))

    def _start_run(self, checked: Checked) -> str:
        """Start a run; it is sent when a joint state has arrived after the check."""
        current, lines, path = checked
        self._execution.begin(current)
        self._path.publish(path)
        self.get_logger().info(
            f'moving to the start for {current.begin:.1f} s, then exciting for '
            f'{current.end - current.begin:.1f} s'
        )
        for line in lines:
            self.get_logger().info(f'advice: {line}')
        return '; advice: '.join([f'the motion runs for {current.end:.1f} s', *lines])

    def _on_stop(self, request: Any, response: Any) -> Any:
        response.success = True
        reason = Fault('stop_requested', '~/stop was called')
        if self._run is not None:
            self._execution.stop(reason)
            response.message = 'the robot is being brought to rest'
        elif self._checking.busy:
            self._checking.cancel(reason)
            response.message = 'the motion that is being checked does not start'
        elif self._designer.busy:
            self._designer.cancel(reason)
            response.message = 'the search for a motion ends, the robot does not move'
        else:
            response.success = False
            response.message = 'no motion is running'
        return response

    def _on_cancel(self, goal: Any) -> CancelResponse:
        reason = Fault('cancelled', 'the goal was cancelled')
        if self._run is not None and self._run.goal is goal:
            self._execution.stop(reason)
        elif self._checking.goal is goal:
            self._checking.cancel(reason)
        elif self._designer.goal is goal:
            self._designer.cancel(reason)
        return CancelResponse.ACCEPT

    def on_unexpected(self, reason: Fault) -> None:
        """Brake; if that raises an error too, hold the measured position."""
        self._checking.cancel(reason)
        current = self._run
        if current is not None and not current.reason:
            self._execution.stop(reason)
        elif current is not None:
            self._execution.hold(current, reason)

    def begin_shutdown(self) -> None:
        """Come to rest before the node ends."""
        reason = Fault('node_ending', 'the node was asked to end')
        self._execution.stop(reason)
        self._checking.cancel(reason)
        self._designer.cancel(reason, pictures=False)

    def shutdown_done(self) -> bool:
        """Return True if the robot is at rest and the last result was sent."""
        return self._run is None and not self._busy and self._results.left

    def _on_ended(self, ended: Run, success: bool, text: str) -> None:
        """Log the end of a run and give its goal the result."""
        if success:  # rclpy allows only one severity in each line of code
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)
        if ended.goal is not None:
            self._results.give(ended.goal, ended.result(success, text, self._execution.now()))

    def _diagnose(self) -> None:
        if self._busy and (problem := self._owner.problem()):
            self._checking.cancel(problem)
            self._designer.cancel(problem)
        if self._run is None and not self._designer.busy:
            text = 'a motion is being checked' if self._busy else 'no motion is running'
            self._diagnostics.publish(DiagnosticStatus.OK, text, {})
            return
        state = self._designer.feedback() if self._run is None else self._run.feedback()
        text = phase_name(state)
        end = 'search' if self._run is None else 'motion'
        values = {
            f'progress of {text}': f'{state.progress:.2f}',
            f'until the end of the {end} [s]': f'{seconds_of(state.remaining):.1f}',
        }
        self._diagnostics.publish(DiagnosticStatus.OK, text, values)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Excitation, argv)


if __name__ == '__main__':
    sys.exit(main())
