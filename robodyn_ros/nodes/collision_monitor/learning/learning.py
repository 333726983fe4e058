# SPDX-License-Identifier: Apache-2.0
"""Service `~/learn` of the collision monitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.analysis.thresholds.healthy_data import Owner, parts_of
from robodyn_ros.control.collision.black_box.event import Setup
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.thresholds_file import DETECTOR
from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.nodes.base.deferred_service import DeferredService
from robodyn_ros.nodes.base.refusals import refused_response, sentence
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.learning.learn_process import LearnProcess
from robodyn_ros.nodes.collision_monitor.learning.session_writer import SessionWriter
from robodyn_ros.nodes.robot.model_node import ModelNode, Row
from robodyn_ros.output_files import make_folder, unusable
from robodyn_ros.srv import Learn

LEARN: tuple[Row, ...] = (
    ('learn_size', 1000.0, 'largest size of the healthy sessions of ~/learn, for one thresholds '
     'file [MB]', {'read_only': True, 'minimum': 1.0}),
)  # fmt: skip


class Learning:
    """Recording of healthy sessions, and learning from them in another process."""

    def __init__(self, node: ModelNode, refusal: Callable[[], str]) -> None:
        """Offer the service.

        :param refusal: returns why healthy work cannot start now, or ''
        """
        self._node, self._refusal = node, refusal
        self._limit = 1e6 * node.declared(LEARN)['learn_size']
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix='learn')
        self._process = LearnProcess()
        self._work: Future[Any] | None = None
        self._report: Callable[[Any, Any], str] = _said
        self._writer: SessionWriter | None = None
        self._file: Path | None = None
        self._before: Path | None = None
        self._setup: Setup | None = None
        self._last = ''
        self._commands = {
            Learn.Request.START: self._start,
            Learn.Request.PAUSE: self._pause,
            Learn.Request.FINISH: self._finish,
            Learn.Request.DISCARD: self._discard,
        }
        self._service = DeferredService(node, Learn, '~/learn', self._on_request)

    def build(self, setup: Setup) -> None:
        """Prepare for a model; a session of another one ends."""
        self.close()
        effort = setup.effort.for_joints(setup.model.model.joints)
        self._setup, self._feedback = setup, effort.feedback
        self._owner = Owner(
            tuple(setup.settings.joints), setup.model.loaded_hash,
            {name: getattr(setup.settings, name) for name in DETECTOR},
            tuple((~np.asarray(effort.gravity_excluded, dtype=bool)).tolist()),
        )  # fmt: skip

    def sample(self, detector: TorqueErrorDetector, inputs: Inputs) -> None:
        """Record the state of this cycle, if that was asked for."""
        if self._writer is not None:
            state = inputs.state
            # The monitor has converted the effort in place: it is torque at the joint.
            self._writer.sample(detector, state.stamp, state.position, state.effort)

    def tick(self) -> None:
        """Answer when the work of a request is done; stop recording that cannot go on."""
        if self._work is not None and self._work.done():
            work, self._work = self._work, None
            self._service.answer(self._answer(work))
        if self._writer is not None and self._writer.problem:
            self._last = self._writer.problem
            self._node.get_logger().error(self._last)
            self._writer = None

    def close(self) -> None:
        """End a session, and wait until it is written: the node does not work any more."""
        if self._writer is not None:
            self._end_session()
            self._pool.submit(lambda: None).result()

    def _end_session(self) -> Callable[[], str]:
        """End a session; return what tells, after its parts are written, why some are not."""
        writer, self._writer = self._writer, None
        if writer is None:
            return lambda: ''
        writer.close()
        return lambda: writer.problem

    def end(self) -> None:
        """End all work: the node ends. Parts that are being written are completed."""
        self.close()
        if self._work is not None:
            self._work.cancel()
        self._process.end()
        self._pool.shutdown(wait=True, cancel_futures=False)

    def details(self) -> dict[str, object]:
        """Return entries of the diagnostics."""
        writer = self._writer
        if writer is not None:
            minutes = writer.samples * float(self._owner.detector['period']) / 60.0
            return {'learning': f'records a healthy session: {minutes:.1f} min, of these '
                    f'{writer.contacts} samples at or above CONTACT'}  # fmt: skip
        if self._work is not None:
            return {'learning': 'writes a session, or learns thresholds'}
        return {'learning': self._last} if self._last else {}

    def _on_request(self, request: Any, response: Any) -> Any:
        if self._work is not None:
            raise ControlError('the request before is not answered yet', fault='busy')
        if request.command not in self._commands:
            raise ControlError(f'there is no command {request.command}: START, PAUSE, FINISH or '
                               f'DISCARD', fault='invalid_value')  # fmt: skip
        self._node.resolve_paths(request)
        self._before = self._file
        if request.thresholds_file:
            self._file = self._checked(Path(request.thresholds_file))
        if self._file is None:
            raise ControlError('thresholds_file is empty: name the file', fault='invalid_value')
        try:
            text = self._commands[request.command]()
        except RobodynError:
            self._file = self._before
            raise
        if not text:
            return None
        response.success, response.message = True, text
        self._last = text
        return response

    def _checked(self, path: Path) -> Path:
        """Return the file of a request."""
        if path.suffix != '.yaml':
            raise ControlError(f'{path}: a thresholds file ends in .yaml', fault='invalid_value')
        if problem := unusable(path.with_suffix('.healthy')):
            raise ControlError(f'{path} cannot be written: {problem}', fault='file_error')
        return path

    @property
    def _folder(self) -> Path:
        assert self._file is not None
        return self._file.with_suffix('.healthy')

    def _start(self) -> str:
        if problem := self._refusal():
            raise ControlError(f'this is no healthy work: {problem}')
        if self._writer is not None:
            raise ControlError('a session is recorded already: PAUSE or FINISH it first',
                               fault='busy')  # fmt: skip
        folder, owner = self._folder, self._owner

        def begun() -> SessionWriter:
            make_folder(folder, ControlError)
            return SessionWriter(folder, owner, self._limit, self._pool)

        # After the parts that wait: only then is the number of the session known. It reads one
        # of them, for which no reaction to a collision may wait.
        return self._later(begun, self._started)

    def _started(self, _: Any, writer: SessionWriter) -> str:
        """Record from now on, if the monitor still does the work that this was asked for."""
        if problem := self._refusal():
            raise ControlError(f'this is no healthy work: {problem}')
        if writer.owner is not self._owner:
            raise ControlError('the monitor has got another model meanwhile')
        self._writer = writer
        return f'records a healthy session for {self._file}'

    def _pause(self) -> str:
        if self._writer is None:
            raise ControlError('no session is recorded')
        count, lost = self._writer.samples, self._end_session()

        def paused() -> str:
            if text := lost():
                raise ControlError(text, fault='recording_failed')
            return f'paused after {count} samples'

        return self._later(paused, _said)

    def _finish(self) -> str:
        lost = self._end_session()
        if self._setup is None or self._file is None:
            raise ControlError('there is no model', fault='no_model')
        folder, file, model = self._folder, self._file, self._setup.content()['model']

        def learned() -> dict[str, Any]:
            facts = self._process.run(folder, model, file)
            return facts | {'notes': [*filter(None, [lost()]), *map(str, facts['notes'])]}

        return self._later(learned, self._learned)

    def _discard(self) -> str:
        self._writer, folder = None, self._folder

        def deleted() -> str:
            found = [path for paths in parts_of(folder).values() for path in paths]
            for path in found:
                path.unlink(missing_ok=True)
            return f'deleted {len(found)} files of healthy sessions'

        return self._later(deleted, _said)

    def _later(self, work: Callable[[], Any], report: Callable[[Any, Any], str]) -> str:
        """Work in the thread, after the parts that wait to be written; the cycle goes on.

        :param report: fills the response with the result of the work, and returns its message
        """
        self._work, self._report = self._pool.submit(work), report
        return ''

    def _answer(self, work: Future[Any]) -> Any:
        response = Learn.Response()
        try:
            self._last = self._report(response, work.result())
        except Exception as error:
            self._last = sentence(error)
            if self._report == self._started:
                self._file = self._before
            return refused_response(Learn.Request(), response, self._last)
        response.success, response.message = True, self._last
        return response

    def _learned(self, response: Any, facts: Mapping[str, Any]) -> str:
        rate = float(facts['false_alarms_per_hour_at_most'])
        response.notes = facts['notes']
        response.healthy_hours = float(facts['hours'])
        response.false_alarms_per_hour_at_most = rate
        return (
            f'{self._file}: learned from {60.0 * response.healthy_hours:.3g} min, at most '
            f'{rate:.3g} false alarms per hour with 95 % confidence. Start the monitor with '
            f'thresholds:={self._file}'
        )


def _said(_: Any, text: str) -> str:
    return text
