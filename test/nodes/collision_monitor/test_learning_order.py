# SPDX-License-Identifier: Apache-2.0
"""Service `~/learn` without DDS: what waits for the disk, and what does not."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from robodyn_ros.srv import Learn

from robodyn_ros.analysis.thresholds.healthy_data import SIGNALS, Owner, write_part
from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.collision_monitor.learning.learning import Learning

OWNER = Owner(('a',), 'f' * 64, {'period': 0.01}, (True,))
PART = (np.arange(3.0), np.zeros((len(SIGNALS), 3, 1)), np.zeros(3, dtype=bool))


class Monitor:
    """A node without ROS for ~/learn, whose disk the test keeps busy."""

    def __init__(self, folder):
        self.answers, self.problem, self.ready = [], '', threading.Event()
        self.file = folder / 'a.yaml'
        self.folder = folder / 'a.healthy'
        node = SimpleNamespace(
            declared=lambda rows: {rows[0][0]: rows[0][1]},
            resolve_paths=lambda request: None,
            create_service=lambda *_: SimpleNamespace(
                send_response=lambda answer, _: self.answers.append(answer)
            ),
        )
        self.learning = Learning(node, lambda: self.problem)
        self.learning._owner = OWNER
        self.folder.mkdir()
        self.learning._pool.submit(self.ready.wait)

    def ask(self, command, file=''):
        request = Learn.Request(command=command, thresholds_file=str(file))
        return self.learning._on_request(request, Learn.Response())

    def answer(self):
        """The answer, once the disk is ready."""
        self.ready.set()
        self.learning._pool.submit(lambda: None).result()
        self.learning.tick()
        return self.answers.pop()


@pytest.fixture
def monitor(tmp_path):
    monitor = Monitor(tmp_path)
    yield monitor
    monitor.ready.set()
    monitor.learning.end()


def test_a_session_gets_its_number_after_the_parts_that_wait_are_written(monitor):
    """Otherwise the next session would overwrite one that ended on a full disk."""
    monitor.learning._pool.submit(write_part, monitor.folder, OWNER, 1, 1, *PART)
    assert monitor.ask(Learn.Request.START, monitor.file) is None, 'it waits for nothing'
    monitor.learning.tick()
    assert not monitor.answers and not list(monitor.folder.iterdir())
    answer = monitor.answer()
    assert answer.success and answer.message == f'records a healthy session for {monitor.file}'
    assert monitor.learning._writer._session == 2


@pytest.mark.timeout(60)
def test_a_pipe_among_the_sessions_is_refused_and_the_file_forgotten(monitor):
    os.mkfifo(monitor.folder / 'session_001_part_0001.npz')
    assert monitor.ask(Learn.Request.START, monitor.file) is None
    answer = monitor.answer()
    assert not answer.success and 'device, pipe or socket' in answer.message
    with pytest.raises(ControlError, match='name the file'):
        monitor.ask(Learn.Request.START)


def test_what_changes_before_the_session_begins_counts(monitor):
    monitor.ask(Learn.Request.START, monitor.file)
    monitor.problem = 'a collision is not cleared yet'
    answer = monitor.answer()
    assert not answer.success and answer.message.endswith(monitor.problem)
    monitor.problem = ''
    monitor.ask(Learn.Request.START, monitor.file)
    monitor.learning._owner = Owner(('b',), 'e' * 64, {'period': 0.01}, (True,))
    answer = monitor.answer()
    assert not answer.success and 'another model' in answer.message
    assert monitor.learning._writer is None
