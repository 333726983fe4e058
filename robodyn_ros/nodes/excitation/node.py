"""Node `excitation`: moves the robot to the start of an excitation motion and runs it.

Before anything is published, the node checks limits (between samples too), collisions, the age of
joint states, that the robot is at rest within its limits, and that the command topic has a
subscriber. A motion can be stopped at any time (service, action cancel, SIGINT). The robot then
brakes on the path of the motion within its acceleration limits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.action import Excite
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.excitation.advice import advise
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.plan import plan_excitation
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.nodes.base.allowed import AllowedDirectories
from robodyn_ros.nodes.base.common import MONITOR_QOS, Diagnostics, steady_timer
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.excitation.collisions import CollisionGuard
from robodyn_ros.nodes.excitation.design import Designer
from robodyn_ros.nodes.excitation.execution import TICK, Execution
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
from robodyn_ros.nodes.robot.phases import phase_name
from robodyn_ros.nodes.robot.robot_state import RobotState

OPEN_TIME = 6.0
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
        self._state = RobotState(self._limits.joints)
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
        robot = self._state, self._limits, self._settings
        self._ready = Readiness(*robot, self._output, self._collisions)
        self._path = PathMarker(self)
        self._owner = Owner(self)
        supervision = Supervision(*robot, self._owner, self._guard)
        self._execution = Execution(
            self, *robot, self._output, self._ready, supervision, self._on_ended
        )
        self.create_subscription(JointState, 'joint_states', self._on_state, MONITOR_QOS)
        self._open_by = time.monotonic() + OPEN_TIME
        self._opening = steady_timer(self, TICK, self._on_opening)
        self._diagnostics = Diagnostics(self, 'robodyn excitation')
        steady_timer(self, 1.0, self._diagnose)
        self.get_logger().info(
            f'{self._settings.output} to {self._output.topic} for the joints '
            f'{", ".join(self._limits.joints)}'
        )

    def _on_opening(self) -> None:
        """Offer services and action once robot and controller are known, or after `OPEN_TIME`.

        Waits for DDS discovery, so that a client that connects immediately is not refused.
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

    def _on_state(self, message: JointState) -> None:
        self._state.read(message)
        problem = self._guard.problem(message)
        if problem and self._run is not None:
            self._run.request_stop(problem)

    @property
    def _run(self) -> Run | None:
        return self._execution.run

    def _on_start(self, request: Any, response: Any) -> Any:
        response.message = self._begin(None, Excite.Goal())
        response.success = True
        return response

    def _on_goal(self, goal: Any) -> None:
        """Start, or end the goal with the reason, which a rejected goal could not carry.

        The goal is executed when the run is over. Until then no coroutine waits, because some
        executors poll coroutines without pause.
        """
        try:
            self._begin(goal, goal.request)
        except RobodynError as error:
            self._results.give(goal, Excite.Result(success=False, message=str(error)))

    def _begin(self, goal: Any, request: Excite.Goal) -> str:
        """Start a motion, or the design of one.

        :return: description of what was started
        :raises RobodynError: the motion or the design cannot be started
        """
        if self._run is not None or self._designer.busy:
            raise ControlError(
                'a motion is running already' if self._run else 'a motion is being designed'
            )
        self._allowed.resolve(request)
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
        """Check the robot and the motion, then start the run.

        :raises RobodynError: the motion cannot be started
        """
        self._ready.check()
        return self._run_checked(motion, goal, file)

    def _run_checked(self, motion: Trajectory, goal: Any, file: str) -> str:
        """Check the motion; it is sent when a joint state has arrived after the check."""
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
        self._execution.begin(current)
        self.get_logger().info(
            f'moving to the start for {plan.begin:.1f} s, then exciting for '
            f'{plan.duration - plan.begin:.1f} s'
        )
        lines = advise(motion, self._limits).lines if isinstance(motion, SineMotion) else ()
        for line in lines:
            self.get_logger().info(f'advice: {line}')
        return '; advice: '.join([f'the motion runs for {plan.duration:.1f} s', *lines])

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
        """Brake; if that raises an error too, hold the measured position."""
        current = self._run
        if current is not None and not current.reason:
            current.request_stop(reason)
        elif current is not None:
            self._execution.hold(current, reason)

    def begin_shutdown(self) -> None:
        """Come to rest before the node ends."""
        if self._run is not None:
            self._run.request_stop('the node was asked to end')
        self._designer.cancel('the node was asked to end', pictures=False)

    def shutdown_done(self) -> bool:
        """Return True if the robot is at rest and the last result was sent."""
        return self._run is None and not self._designer.busy and self._results.left

    def _on_ended(self, ended: Run, success: bool, text: str) -> None:
        """Log the end of a run and give its goal the result."""
        if success:  # rclpy allows only one severity in each line of code
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)
        if ended.goal is not None:
            self._results.give(ended.goal, ended.result(success, text, self._execution.now()))

    def _diagnose(self) -> None:
        if self._run is None and not self._designer.busy:
            self._diagnostics.publish(DiagnosticStatus.OK, 'no motion is running', {})
            return
        if self._designer.busy and (problem := self._owner.problem()):
            self._designer.cancel(problem)
        state = self._designer.feedback() if self._run is None else self._run.feedback()
        text = phase_name(state)
        end = 'search' if self._run is None else 'motion'
        values = {
            f'progress of {text}': f'{state.progress:.2f}',
            f'until the end of the {end} [s]': f'{state.remaining:.1f}',
        }
        self._diagnostics.publish(DiagnosticStatus.OK, text, values)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Excitation, argv)


if __name__ == '__main__':
    sys.exit(main())
