"""Node `identification`: from a motion or a recording to an identified model.

It drives two other nodes: `recorder` (services `recorder/start`, `recorder/stop`) and, for the
action, `excitation` (action `excitation/excite`). The computation runs in a thread, so the node
answers meanwhile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse

from robodyn_ros.action import Excite, RunIdentification
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.msg import IdentificationReport
from robodyn_ros.nodes.background import Background
from robodyn_ros.nodes.common import LATCHED_QOS, Diagnostics, resource, run, steady_timer
from robodyn_ros.nodes.folders import expanded
from robodyn_ros.nodes.identification_work import IdentificationWork, Job, Terms
from robodyn_ros.nodes.report_message import report_message
from robodyn_ros.nodes.suite_node import SuiteNode
from robodyn_ros.srv import (
    IdentificationFinish,
    IdentificationStart,
    Identify,
    StartRecording,
    StopRecording,
)

SERVICE_TIMEOUT = 10.0
"""Longest wait for another node's service to appear, in [s]."""


class CancelledError(RobodynError):
    """The goal was cancelled."""


class IdentificationNode(SuiteNode):
    """Services and the action of the identification."""

    def __init__(self) -> None:
        """Build the model and offer the services."""
        super().__init__('identification')
        self._work = IdentificationWork(self)
        self._background = Background(self)
        self._recording: Path | None = None
        self._terms = Terms()
        self._running = False
        self._report = self.create_publisher(IdentificationReport, '~/report', LATCHED_QOS)
        self._offer()
        self._diagnostics = Diagnostics(self, 'robodyn identification')
        steady_timer(self, 1.0, self._diagnose)

    def _offer(self) -> None:
        group = self._background.group
        for kind, name, callback in (
            (IdentificationStart, '~/identification_start', self._on_start),
            (IdentificationFinish, '~/identification_finish', self._on_finish),
            (Identify, '~/identify', self._on_identify),
        ):
            self.create_service(kind, name, callback, callback_group=group)
        self._start_client = self.create_client(
            StartRecording, 'recorder/start', callback_group=group
        )
        self._stop_client = self.create_client(
            StopRecording, 'recorder/stop', callback_group=group
        )
        self._excite_client = ActionClient(self, Excite, 'excitation/excite', callback_group=group)
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
        try:
            if self._recording is not None:
                raise IdentificationError(f'already recording to {self._recording}')
            self._work.check_effort()
            self._terms = self._work.terms(request)
            folder = self._work.folder('')
            try:
                self._recording = await self._start_recording(folder / 'excitation')
            except RobodynError:
                with suppress(OSError):
                    folder.rmdir()
                raise
        except RobodynError as error:
            response.message = str(error)
            return response
        response.success = True
        response.recording = str(self._recording)
        response.message = f'recording to {self._recording}'
        return response

    async def _on_finish(
        self, request: IdentificationFinish.Request, response: IdentificationFinish.Response
    ) -> IdentificationFinish.Response:
        try:
            if self._recording is None:
                raise IdentificationError('nothing is recorded: call identification_start first')
            recording, self._recording = self._recording, None
            await self._stop_recording()
            other = request.validation_recording
            job = Job(recording, recording.parent, self._terms, expanded(other) if other else None)
            await self._answer(job, response)
        except RobodynError as error:
            response.message = str(error)
        return response

    async def _on_identify(
        self, request: Identify.Request, response: Identify.Response
    ) -> Identify.Response:
        try:
            if not request.recording:
                raise IdentificationError('name the recording to identify from')
            terms, other = self._work.terms(request), request.validation_recording
            recording = expanded(request.recording)
            if not recording.exists():
                raise IdentificationError(f'{recording}: no such file or folder')
            folder = self._work.folder(request.output_directory)
            job = Job(recording, folder, terms, expanded(other) if other else None)
            await self._answer(job, response)
        except RobodynError as error:
            response.message = str(error)
        return response

    async def _answer(self, job: Job, response: Any) -> None:
        response.report = await self._identify(job)
        response.success = response.report.success
        response.message = _sentence(response.report)

    # ---- action ---------------------------------------------------------------------------

    def _on_goal(self, goal: RunIdentification.Goal) -> GoalResponse:
        if self._running or self._recording is not None:
            self.get_logger().error('refused: an identification is under way')
            return GoalResponse.REJECT
        self._running = True
        return GoalResponse.ACCEPT

    async def _on_run(self, handle: Any) -> RunIdentification.Result:
        result = RunIdentification.Result()
        try:
            result.report = await self._run_phases(handle)
            result.success = result.report.success
            result.message = _sentence(result.report)
            handle.succeed()
        except CancelledError as error:
            result.message = str(error)
            handle.canceled()
        except RobodynError as error:
            result.message = str(error)
            handle.abort()
        finally:
            self._running = False
        return result

    async def _run_phases(self, handle: Any) -> IdentificationReport:
        goal = handle.request
        self._work.check_effort()
        for name in filter(None, (goal.motion_file, goal.validation_motion_file)):
            if not resource(name).is_file():  # the robot would move for nothing
                raise IdentificationError(f'{name}: there is no such motion file')
        terms = self._work.terms(goal)
        folder = self._work.folder(goal.output_directory)
        try:
            return await self._phases_in(folder, terms, handle)
        except RobodynError:
            with suppress(OSError):  # nothing was written: leave no empty folder behind
                folder.rmdir()
            raise

    async def _phases_in(self, folder: Path, terms: Terms, handle: Any) -> IdentificationReport:
        goal = handle.request
        phase = RunIdentification.Feedback
        file = goal.motion_file or await self._designed(handle, folder)
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

    async def _designed(self, handle: Any, folder: Path) -> str:
        """File of the motion, designed where the excitation node's parameters ask for that.

        This comes before the recording, which would hold the search otherwise.
        """
        await self._wait_for(self._excite_client.server_is_ready, 'action excitation/excite')
        wish = Excite.Goal(design_only=True, output_directory=str(folder))
        result = await self._excite_result(handle, wish, RunIdentification.Feedback.DESIGNING)
        return str(result.motion_file)

    async def _excite(
        self, handle: Any, recording: Path, motion_file: str, phase: int
    ) -> tuple[Path, tuple[int, int]]:
        """Run a motion and record it; return the recording and the time of the motion in it."""
        await self._wait_for(self._excite_client.server_is_ready, 'action excitation/excite')
        path = await self._start_recording(recording)
        try:
            wish = Excite.Goal(motion_file=motion_file)
            result = await self._excite_result(handle, wish, phase)
        except RobodynError:
            await self._stop_recording(must_be_usable=False)
            raise
        await self._stop_recording()
        return path, (_nanoseconds(result.started), _nanoseconds(result.finished))

    async def _excite_result(self, handle: Any, wish: Excite.Goal, phase: int) -> Excite.Result:
        excitation = await self._excite_client.send_goal_async(
            wish,
            feedback_callback=lambda message: self._relay(handle, message.feedback, phase),
        )
        if not excitation.accepted:
            raise IdentificationError('the excitation node refused the motion: see its log')
        future = excitation.get_result_async()
        cancelling = False
        while not future.done():
            if handle.is_cancel_requested and not cancelling:
                cancelling = True
                excitation.cancel_goal_async()
            await self._background.tick()
        result = future.result().result
        if cancelling:
            raise CancelledError(f'cancelled, nothing was identified: {result.message}')
        if not result.success:
            raise IdentificationError(f'the excitation did not finish: {result.message}')
        return result

    def _relay(self, handle: Any, feedback: Excite.Feedback, phase: int) -> None:
        if feedback.phase == Excite.Feedback.MOVING_TO_START:
            phase = RunIdentification.Feedback.MOVING_TO_START
        best = f'{feedback.message}, ' if feedback.message else ''
        self._tell(handle, phase, feedback.progress, f'{best}{feedback.remaining:.1f} s to go')

    def _tell(self, handle: Any, phase: int, progress: float, text: str) -> None:
        if handle.is_active:
            handle.publish_feedback(
                RunIdentification.Feedback(phase=phase, progress=float(progress), message=text)
            )

    # ---- computation ----------------------------------------------------------------------

    async def _identify(self, job: Job, handle: Any = None) -> IdentificationReport:
        """Identify in the background, write the files and publish the report."""

        def progress(phase: str, share: float) -> None:
            if handle is not None and handle.is_cancel_requested:
                raise CancelledError('cancelled while identifying: nothing was written')

        try:
            result, files = await self._background.run(self._work.compute, job, progress)
        except RobodynError:
            with suppress(OSError):  # nothing was written: leave no empty folder behind
                job.folder.rmdir()
            raise
        except Exception as error:  # a bug must not end the node
            raise IdentificationError(f'unexpected {type(error).__name__}: {error}') from error
        report = report_message(result, files)
        report.header.stamp = self.get_clock().now().to_msg()
        self._report.publish(report)
        self.get_logger().info(_sentence(report))
        return report

    # ---- the recorder ---------------------------------------------------------------------

    async def _start_recording(self, path: Path) -> Path:
        await self._wait_for(self._start_client.service_is_ready, 'service recorder/start')
        request = StartRecording.Request(recording=str(path.absolute()))
        answer = await self._start_client.call_async(request)
        if not answer.success:
            raise IdentificationError(f'the recorder did not start: {answer.message}')
        return Path(answer.recording)

    async def _stop_recording(self, *, must_be_usable: bool = True) -> None:
        await self._wait_for(self._stop_client.service_is_ready, 'service recorder/stop')
        answer = await self._stop_client.call_async(StopRecording.Request())
        if must_be_usable and not answer.success:
            raise IdentificationError(f'the recording is not usable: {answer.message}')

    async def _wait_for(self, ready: Any, what: str) -> None:
        deadline = time.monotonic() + SERVICE_TIMEOUT
        while not ready():
            if time.monotonic() > deadline:
                raise IdentificationError(
                    f'{what} is not there after {SERVICE_TIMEOUT:.0f} s: is that node running?'
                )
            await self._background.tick()

    def _diagnose(self) -> None:
        text = 'an identification is under way' if self._running else 'idle'
        self._diagnostics.publish(DiagnosticStatus.OK, text, {})

    def destroy_node(self) -> None:
        """Give up work that has not started."""
        self._background.close()
        super().destroy_node()


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def _sentence(report: IdentificationReport) -> str:
    """Sum a report up in one sentence for the operator."""
    if not report.success:
        errors = [item.text for item in report.findings if item.severity == item.ERROR]
        written = f'; written all the same: {report.result_file}' if report.result_file else ''
        return f'identification failed: {errors[0] if errors else "see the report"}{written}'
    text = f'identified {len(report.base_parameter_value)} base parameters'
    if report.validated:
        text += f', {100 * report.validation_relative_residual:.1f} % torque error on validation'
    return f'{text}: {report.result_file}'


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT."""
    return run(IdentificationNode, argv, coroutines=True)


if __name__ == '__main__':
    sys.exit(main())
