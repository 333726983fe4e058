# SPDX-License-Identifier: Apache-2.0
"""The nodes `recorder` and `excitation`, as the identification uses them: no wait without an end.

Both receive the name of their client, so they stop by themselves when the identification dies.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from robodyn_ros.action import Excite
from robodyn_ros.allowed_folders import shorten
from robodyn_ros.errors import IdentificationError, RobodynError
from robodyn_ros.faults import decode_fault
from robodyn_ros.nodes.base.background import Background
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.presence import MISSING, Watch
from robodyn_ros.nodes.base.waits import Check, WaitError, answer, until
from robodyn_ros.nodes.robot.controller_facts import PATIENCE
from robodyn_ros.nodes.robot.robot_stop import stop_robot
from robodyn_ros.srv import StartRecording, StopRecording

ANSWER_TIMEOUT = 30.0
"""Longest wait for a quick answer, in [s], of a node that may just be busy."""
PLANNING_TIMEOUT = 180.0
"""Longest time between a goal and its first feedback, in [s]: long motions are checked first."""
ENDING_TIMEOUT = 60.0
"""Longest time in which another node ends its work, in [s]: a recorder closes a bag on a slow
disk, an excitation draws its pictures."""


class _Peer:
    """Another node; its end ends each wait for it."""

    def __init__(self, node: Node, background: Background, name: str) -> None:
        self._node, self._background = node, background
        self._owner = node.get_fully_qualified_name()
        self._watch = Watch(node, name)

    def _check(self) -> None:
        """Raise a WaitError if the node is gone."""
        if problem := self._watch.problem():
            raise WaitError(problem)

    async def _until(
        self, done: Callable[[], bool], timeout: float, what: str, *checks: Check
    ) -> None:
        await until(self._background, done, timeout, what, *checks, self._check)

    async def _answer(self, client: Any, request: Any, timeout: float) -> Any:
        return await answer(self._background, client, request, timeout, self._check)

    async def _ready(self, ready: Callable[[], bool], what: str, *checks: Check) -> None:
        """Wait for the node, and for a service or action of it."""
        checks = (*checks, self._check)
        seen = lambda: ready() and self._watch.seen  # noqa: E731
        await until(self._background, seen, MISSING, what, *checks, discovery=True)


class RecorderClient(_Peer):
    """Starts and stops recordings."""

    def __init__(self, node: Node, background: Background) -> None:
        """Create the clients of its services."""
        super().__init__(node, background, 'recorder')
        group = background.group
        self._start = node.create_client(StartRecording, 'recorder/start', callback_group=group)
        self._stop = node.create_client(StopRecording, 'recorder/stop', callback_group=group)
        self._path = ''

    async def start(self, path: Path, *checks: Check) -> Path:
        """Start a recording.

        :return: folder that is recorded to
        :raises RobodynError: the recorder is not there or refuses, or the error of a check
        """
        self._watch.begin()
        await self._service_ready(self._start, *checks)
        try:  # a cancel waits for this answer, without which nobody knows whether it records
            reply = await self._call_start(str(path.absolute()))
        except RobodynError:
            self._stop.call_async(StopRecording.Request())  # it may have started all the same
            raise
        if not reply.success:
            text = f'the recorder did not start: {reply.message}'
            raise IdentificationError(decode_fault(reply.fault_code, text))
        self._path = str(reply.recording)
        if os.path.realpath(self._path) != os.path.realpath(path):
            # any node can offer this service, and results are written beside the recording
            raise IdentificationError(
                f'the recorder was asked for {path} and records to {shorten(self._path)}'
            )
        return Path(self._path)

    async def _call_start(self, path: str) -> Any:
        request = StartRecording.Request(recording=path, owner=self._owner)
        deadline = now(self._node) + ANSWER_TIMEOUT
        while True:
            try:
                return await self._answer(self._start, request, PATIENCE)
            except WaitError:  # the answer to a new client may be lost
                if self._watch.problem() or now(self._node) > deadline:
                    raise

    async def stop(self) -> None:
        """Stop the recording.

        :raises RobodynError: the recorder is gone, or the recording is not usable
        """
        try:
            reply = await self._call_stop()
        except WaitError as error:
            text = f'{error}; {self._describe_remains()}'
            raise IdentificationError(text, fault=error.fault) from error
        if not reply.success:
            text = f'the recording is not usable: {reply.message}'
            raise IdentificationError(decode_fault(reply.fault_code, text))

    async def give_up(self) -> str:
        """Stop a recording that is not going to be used; it never raises.

        :return: the state of the motion after that, as the end of a sentence
        """
        try:
            await self._call_stop()
        except WaitError:
            return self._describe_remains()
        return f'what was recorded is in {self._path}'

    async def _call_stop(self) -> Any:
        await self._service_ready(self._stop)
        return await self._answer(self._stop, StopRecording.Request(), ENDING_TIMEOUT)

    def _describe_remains(self) -> str:
        """Return what is left of a recording without an answer, as the end of a sentence."""
        if not self._watch.problem():
            return f'the recorder does not close {self._path}'
        return f'what was recorded before is in {self._path}'

    def check(self) -> None:
        """Refuse to go on without the recording under way.

        :raises IdentificationError: it has ended
        """
        if problem := self._watch.problem():
            raise IdentificationError(f'the recording ended early: {problem}')
        message = self._watch.message
        if message is not None and message.work == self._path and message.problem:
            text = f'the recording ended early: {message.problem}'
            raise IdentificationError(decode_fault(message.fault_code, text))

    async def _service_ready(self, client: Any, *checks: Check) -> None:
        await self._ready(client.service_is_ready, f'service {client.srv_name}', *checks)


class ExcitationClient(_Peer):
    """Runs motions, one at a time."""

    def __init__(self, node: Node, background: Background) -> None:
        """Create the client of its action."""
        super().__init__(node, background, 'excitation')
        group = background.group
        self._client = ActionClient(node, Excite, 'excitation/excite', callback_group=group)
        self._stop = node.create_client(Trigger, 'excitation/stop', callback_group=group)
        self._silent_by = 0.0

    async def run(
        self, wish: Excite.Goal, tell: Callable[[Excite.Feedback], None], *checks: Check
    ) -> Excite.Result:
        """Run a motion, or design one.

        The robot is at rest when this returns or raises, or the error says that it is not.

        :raises RobodynError: the motion was not run to its end, or the error of a check
        """
        self._watch.begin()
        await self._ready(self._client.server_is_ready, 'action excitation/excite', *checks)
        wish.owner = self._owner
        try:
            return await self._run(wish, tell, *checks)
        except WaitError as error:  # it died, or hangs: its trajectory goes on in the controller
            # Only the answer may be lost: the excitation must not move the robot afterwards.
            self._stop.call_async(Trigger.Request())
            text = f'the excitation did not finish: {error}'
            if not wish.design_only and self._watch.message is not None:
                text += '; ' + await stop_robot(self._node, self._background, self._watch.message)
            raise IdentificationError(text, fault=error.fault) from error

    async def _run(
        self, wish: Excite.Goal, tell: Callable[[Excite.Feedback], None], *checks: Check
    ) -> Excite.Result:
        self._silent_by = now(self._node) + PLANNING_TIMEOUT
        sent = self._client.send_goal_async(wish, feedback_callback=self._heard(tell))
        await self._until(sent.done, ANSWER_TIMEOUT, 'the answer of action excitation/excite')
        goal = sent.result()
        if not goal.accepted:
            text = 'the excitation node refused the motion: see its log'
            raise IdentificationError(text, fault='refused')
        end = goal.get_result_async()
        try:
            await self._wait_for_end(goal, end, *checks)
        finally:
            if not end.done():  # it may hang only
                goal.cancel_goal_async()
        result = end.result().result
        if not result.success:
            text = f'the excitation did not finish: {result.message}'
            raise IdentificationError(decode_fault(result.fault_code, text))
        return result

    async def _wait_for_end(self, goal: Any, end: Any, *checks: Check) -> None:
        """Wait for the end of a goal; the error of a check cancels it first."""
        what = 'the end of the motion'
        try:
            await self._until(end.done, math.inf, what, *checks, self._check_feedback)
        except WaitError:
            raise
        except RobodynError as error:
            goal.cancel_goal_async()
            await self._until(end.done, ENDING_TIMEOUT, what)
            text = f'{error}: {end.result().result.message}'
            raise type(error)(text, fault=error.fault) from error

    def _heard(self, tell: Callable[[Excite.Feedback], None]) -> Callable[[Any], None]:
        def heard(message: Any) -> None:
            self._silent_by = now(self._node) + MISSING  # it gives ten a second
            tell(message.feedback)

        return heard

    def _check_feedback(self) -> None:
        if now(self._node) >= self._silent_by:
            raise WaitError(f'node {self._watch.name} gives no feedback any more')
