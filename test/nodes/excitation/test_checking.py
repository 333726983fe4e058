# SPDX-License-Identifier: Apache-2.0
"""Checks run in a thread; a stop does not wait for them."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from robots import UR10

from robodyn_ros.errors import ConfigError, Fault
from robodyn_ros.excitation.collisions.self_collision import (
    SelfCollisionLimit,
    SelfCollisionRule,
)
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.nodes.excitation import checking as module
from robodyn_ros.nodes.excitation.checking import Checking


@pytest.fixture
def checking(monkeypatch):
    timer = SimpleNamespace(cancel=lambda: None, reset=lambda: None)
    monkeypatch.setattr(module, 'start_real_timer', lambda *_: timer)
    return Checking(None)


JOINTS = UrdfModel.from_file(UR10).joint_names


def ended(checking):
    """Look until the check is over, as the timer does."""
    deadline = time.monotonic() + 40.0
    while checking.busy:
        assert time.monotonic() < deadline
        checking._look()
        time.sleep(0.001)


def test_a_check_runs_in_a_thread_and_its_result_is_used_in_this_one(checking):
    answers, threads = [], []

    def then(thread):
        threads.extend((thread, threading.current_thread()))
        return 'it runs'

    goal = object()
    checking.begin(goal, threading.current_thread, then, lambda *answer: answers.append(answer))
    assert checking.goal is goal
    ended(checking)
    assert answers == [('it runs', None)] and checking.goal is None
    assert threads[1] is threading.main_thread() is not threads[0]


@pytest.mark.parametrize('where', ['check', 'then'])
def test_an_error_is_the_answer(checking, where):
    def fail(*_):
        raise ConfigError('no')

    answers = []
    functions = (fail, str) if where == 'check' else (str, fail)
    checking.begin(None, *functions, lambda *answer: answers.append(answer))
    ended(checking)
    assert [(text, str(error)) for text, error in answers] == [('', 'no')]


def test_a_stop_does_not_wait_for_the_check_and_nothing_starts(checking):
    release, started, answers = threading.Event(), [], []
    answer = lambda *answer: answers.append(answer)  # noqa: E731
    checking.begin(None, lambda: release.wait(40.0), started.append, answer)
    checking._look()
    assert checking.busy and not answers
    checking.cancel(Fault('stop_requested', '~/stop was called'))
    checking.cancel(Fault('cancelled', 'another reason'))
    begin = time.perf_counter()
    checking._look()
    assert time.perf_counter() - begin < 1.0 and not checking.busy
    ((_, error),) = answers
    assert str(error) == 'stopped before it began: ~/stop was called'
    release.set()
    checking.begin(None, str, lambda text: 'next', answer)
    ended(checking)
    assert answers[1:] == [('next', None)] and not started


def test_a_cancelled_check_ends_soon_and_only_one_thread_computes(checking):
    """The check is a real one: minutes of distances of all pairs of links of a robot."""
    answers, ended_after = [], []

    def check():
        try:
            rule = SelfCollisionRule(SelfCollisionLimit(str(UR10)), JOINTS)
            ends = {'start': np.zeros(6), 'target': np.ones(6)}
            rule.check(PointToPoint(joints=JOINTS, duration=1e4, **ends))
        finally:
            ended_after.append(time.monotonic() - cancelled[0])

    cancelled = [float('nan')]
    checking.begin(None, check, str, lambda *answer: answers.append(answer))
    time.sleep(0.5)
    cancelled[0] = time.monotonic()
    checking.cancel(Fault('node_ending', 'SIGINT'))
    checking._look()
    checking.begin(None, str, lambda text: 'next', lambda *answer: answers.append(answer))
    ended(checking)
    assert answers[1] == ('next', None)
    assert ended_after[0] < 5.0  # of minutes; below 0.1 s where nothing else computes
