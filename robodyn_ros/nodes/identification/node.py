# SPDX-License-Identifier: Apache-2.0
"""Node `identification`: from a motion or a recording to an identified model.

It drives the nodes `recorder` and, for the action, `excitation` (`identification_peers.py`).
The computation runs in a thread, so the node answers meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse

from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.errors import Fault, IdentificationError, RobodynError
from robodyn_ros.faults import fault_of, number_of
from robodyn_ros.long_work import CancelledError
from robodyn_ros.msg import IdentificationReport
from robodyn_ros.nodes.base.allowed import AllowedDirectories
from robodyn_ros.nodes.base.background import Background
from robodyn_ros.nodes.base.clock import nanoseconds_of, seconds_of, start_timer
from robodyn_ros.nodes.base.common import (
    LATCHED_QOS,
    Diagnostics,
)
from robodyn_ros.nodes.base.folders import remove_if_empty
from robodyn_ros.nodes.base.presence import Presence
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.identification.cancel import Cancel, check_cancel
from robodyn_ros.nodes.identification.peers import ExcitationClient, RecorderClient
from robodyn_ros.nodes.identification.rehearsal import Rehearsal, steps
from robodyn_ros.nodes.identification.report_message import report_message
from robodyn_ros.nodes.identification.work import IdentificationWork, Job, Terms
from robodyn_ros.paths import expand, resource
from robodyn_ros.srv import (
    IdentificationFinish,
    IdentificationStart,
    Identify,
)


class IdentificationNode(SuiteNode):
    """Services and the action of the identification."""

    def __init__(self) -> None:
        """Build the model and offer the services."""
        super().__init__('identification')
        self._work = IdentificationWork(self)
        self._allowed = AllowedDirectories(self, 'output_directory')
        self._background = Background(self)
        self._rehearsal = Rehearsal(self, self._background)
        self._recording: Path | None = None
        self._terms = Terms()
        self._running = False
        self._cancel: Cancel | None = None
        self._report = self.create_publisher(IdentificationReport, '~/report', LATCHED_QOS)
        self._offer()
        self._presence = Presence(self)
        self._diagnostics = Diagnostics(self, 'robodyn identification')
        start_timer(self, 1.0, self._diagnose)

    def _offer(self) -> None:
        group = self._background.group
        for kind, name, callback in (
            (IdentificationStart, '~/start', self._on_start),
            (IdentificationFinish, '~/finish', self._on_finish),
            (Identify, '~/identify', self._on_identify),
        ):
            self.create_service(kind, name, callback, callback_group=group)
        self._recorder = RecorderClient(self, self._background)
        self._excitation = ExcitationClient(self, self._background)
        self._server = ActionServer(
            self,
            RunIdentification,
            '~/run_identification',
            self._on_run,
            goal_callback=self._on_goal,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=group,
        )

    # ---- services -------------------------------------------------------------------------

    async def _on_start(
        self, request: IdentificationStart.Request, response: IdentificationStart.Response
    ) -> IdentificationStart.Response:
        self._presence.check_alone()
        if self._recording is not None:
            raise IdentificationError(f'already recording to {self._recording}', fault='busy')
        self._allowed.resolve(request)
        self._work.check_effort()
        self._terms = self._work.terms(request)
        folder = self._work.folder('')
        with remove_if_empty(folder):
            self._recording = await self._recorder.start(folder / 'excitation')
        response.success = True
        response.recording = str(self._recording)
        response.message = f'recording to {self._recording}'
        return response

    async def _on_finish(
        self, request: IdentificationFinish.Request, response: IdentificationFinish.Response
    ) -> IdentificationFinish.Response:
        if self._recording is None:
            text = 'nothing is recorded: call ~/start first'
            raise IdentificationError(text, fault='no_recording')
        self._allowed.resolve(request)
        recording, self._recording = self._recording, None
        await self._recorder.stop()
        other = request.validation_recording
        job = Job(recording, recording.parent, self._terms, expand(other) if other else None)
        return await self._answer(job, response)

    async def _on_identify(
        self, request: Identify.Request, response: Identify.Response
    ) -> Identify.Response:
        if not request.recording:
            text = 'name the recording to identify from'
            raise IdentificationError(text, fault='invalid_value')
        self._allowed.resolve(request)
        terms, other = self._work.terms(request), request.validation_recording
        recording, *others = map(expand, (request.recording, *request.other_recordings))
        for path in (recording, *others):
            if not path.exists():
                raise IdentificationError(f'{path}: no such file or folder', fault='file_error')
        folder = self._work.folder(request.output_directory)
        job = Job(recording, folder, terms, expand(other) if other else None, tuple(others))
        return await self._answer(job, response)

    async def _answer(self, job: Job, response: Any) -> Any:
        response.report = await self._identify(job)
        response.success = response.report.success
        response.message = message = _sentence(response.report)
        response.fault_code = number_of(message)
        return response

    # ---- action ---------------------------------------------------------------------------

    def _on_goal(self, goal: RunIdentification.Goal) -> GoalResponse:
        self._presence.check_alone()
        if self._running or self._recording is not None:
            self.refusals.say('goal refused: an identification is under way')
            return GoalResponse.REJECT
        self._running = True
        return GoalResponse.ACCEPT

    async def _on_run(self, handle: Any) -> RunIdentification.Result:
        result = RunIdentification.Result()
        try:
            result.report = await self._run_phases(handle)
            result.success = result.report.success
            result.message = message = _sentence(result.report)
            result.fault_code = number_of(message)
            handle.succeed()
        except CancelledError as error:
            result.message = str(error)
            result.fault_code = number_of(fault_of(error, ''))
            handle.canceled()
        except Exception as error:
            known = isinstance(error, RobodynError)
            result.message = f'{"" if known else f"unexpected {type(error).__name__}: "}{error}'
            result.fault_code = number_of(fault_of(error, ''))
            self.refusals.say(result.message)
            handle.abort()
        finally:
            self._running = False
        return result

    async def _run_phases(self, handle: Any) -> IdentificationReport:
        goal = handle.request
        self._allowed.resolve(goal)
        self._work.check_effort()
        for name in filter(None, (goal.motion_file, goal.validation_motion_file)):
            if not resource(name).is_file():  # the robot would move for nothing
                text = f'{name}: there is no such motion file'
                raise IdentificationError(text, fault='file_error')
        self._rehearsal.speeds(goal)
        terms = self._work.terms(goal)
        folder = self._work.folder(goal.output_directory)
        with remove_if_empty(folder):
            return await self._phases_in(folder, terms, handle)

    async def _phases_in(self, folder: Path, terms: Terms, handle: Any) -> IdentificationReport:
        goal = handle.request
        phase = RunIdentification.Feedback
        file = goal.motion_file or await self._design(handle, folder)
        recording, between = await self._excite(
            handle, folder / 'excitation', file, phase.EXCITING
        )
        job = Job(recording, folder, terms, between=between)
        if goal.validation_motion_file:
            job.validation, job.validation_between = await self._excite(
                handle, folder / 'validation', goal.validation_motion_file, phase.VALIDATING
            )
        self._tell(handle, phase.IDENTIFYING, 0.0, 'identifying')
        return await self._identify(job, handle)

    async def _design(self, handle: Any, folder: Path) -> str:
        """File of the motion, designed where the excitation node's parameters ask for that.

        This comes before the recording, which would hold the search otherwise.
        """
        wish = Excite.Goal(design_only=True, output_directory=str(folder))
        phase = RunIdentification.Feedback.DESIGNING
        result = await self._excitation.run(
            wish, partial(self._relay, handle, phase), partial(check_cancel, handle)
        )
        return str(result.motion_file)

    async def _excite(
        self, handle: Any, recording: Path, motion_file: str, phase: int
    ) -> tuple[Path, tuple[int, int]]:
        """Run a motion and record it; return the recording and the time of the motion in it.

        Before that it runs at lower speeds, and only while every run succeeds.
        """
        speeds = self._rehearsal.speeds(handle.request)
        await self._rehearse(handle, motion_file, speeds)

        cancelled = partial(check_cancel, handle)
        path = await self._recorder.start(recording, cancelled)
        try:
            wish = Excite.Goal(motion_file=motion_file, speed=speeds[-1])
            tell = partial(self._relay, handle, phase)
            result = await self._excitation.run(wish, tell, cancelled, self._recorder.check)
        except Exception as error:
            rest = await self._recorder.give_up()
            if isinstance(error, RobodynError):
                raise type(error)(f'{error}; {rest}', fault=error.fault) from error
            raise
        await self._recorder.stop()
        return path, (nanoseconds_of(result.started), nanoseconds_of(result.finished))

    async def _rehearse(self, handle: Any, motion_file: str, speeds: Sequence[float]) -> None:
        """Run a motion at its lower speeds."""
        phase, cancelled = RunIdentification.Feedback, partial(check_cancel, handle)
        for speed, text in steps(speeds):
            tell = partial(self._relay, handle, phase.REHEARSING, at=f'{speed:.0%} of the speed, ')
            wish = Excite.Goal(motion_file=motion_file, speed=speed)
            try:
                await self._excitation.run(wish, tell, cancelled)
            except RobodynError as error:
                text = f'at {speed:.0%} of the speed: {error}'
                raise type(error)(text, fault=error.fault) from error
            ask = partial(self._tell, handle, phase.WAITING, 0.0)
            await self._rehearsal.wait_for_confirm(text, ask, cancelled)

    def _relay(self, handle: Any, phase: int, feedback: Excite.Feedback, at: str = '') -> None:
        if feedback.phase == Excite.Feedback.MOVING_TO_START:
            phase = RunIdentification.Feedback.MOVING_TO_START
        best = f'{feedback.message}, ' if feedback.message else ''
        end = 'search' if feedback.phase == Excite.Feedback.DESIGNING else 'motion'
        text = f'{at}{best}{seconds_of(feedback.remaining):.1f} s to the end of the {end}'
        self._tell(handle, phase, feedback.progress, text)

    def _tell(self, handle: Any, phase: int, progress: float, text: str) -> None:
        if handle is not None and handle.is_active:
            handle.publish_feedback(
                RunIdentification.Feedback(phase=phase, progress=float(progress), message=text)
            )

    # ---- computation ----------------------------------------------------------------------

    async def _identify(self, job: Job, handle: Any = None) -> IdentificationReport:
        """Identify in the background, write the files and publish the report."""
        phase = RunIdentification.Feedback.IDENTIFYING
        cancel = self._cancel = Cancel(handle, partial(self._tell, handle, phase))
        with remove_if_empty(job.folder):
            result, files = await self._background.run(
                self._work.compute, job, cancel.progress, check=cancel.check
            )
        report = report_message(result, files)
        report.header.stamp = self.get_clock().now().to_msg()
        self._report.publish(report)
        self.get_logger().info(_sentence(report))
        return report

    def _diagnose(self) -> None:
        text = 'an identification is under way' if self._running else 'idle'
        self._diagnostics.publish(DiagnosticStatus.OK, text, {})

    def begin_shutdown(self) -> None:
        """End a computation; files that are being written are completed."""
        if self._cancel is not None:
            self._cancel.end()

    def shutdown_done(self) -> bool:
        """Return True if no half-written files would remain."""
        return self._background.idle

    def destroy_node(self) -> None:
        """Give up work that has not started."""
        self._background.close()
        super().destroy_node()


def _sentence(report: IdentificationReport) -> str:
    """Sum a report up in one sentence for the operator."""
    page = f'; report: {report.report_file}' if report.report_file else ''
    if not report.success:
        errors = [item.text for item in report.findings if item.severity == item.ERROR]
        bad = [name for name, use in zip(report.joint, report.feedforward, strict=True)
               if use.startswith('not usable')]  # fmt: skip
        written = f'; written: {report.result_file}' if report.result_file else ''
        written += f', not usable for {", ".join(bad)}' if report.result_file and bad else ''
        why = errors[0] if errors else 'see the report'
        return Fault('identification_failed', f'identification failed: {why}{written}{page}')
    text = f'identified {len(report.base_parameters)} base parameters'
    if report.validated:
        text += f', {100 * report.validation_relative_residual:.1f} % torque error on validation'
    return f'{text}: {report.result_file}{page}'


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT."""
    return run(IdentificationNode, argv, coroutines=True)


if __name__ == '__main__':
    sys.exit(main())
