# SPDX-License-Identifier: Apache-2.0
"""A message leaves after all that arrived before it has been read."""

import time
from concurrent.futures import wait
from threading import Event
from types import SimpleNamespace

import pytest

from robodyn_ros.errors import ControlError
from robodyn_ros.long_work import CancelledError, poll
from robodyn_ros.nodes.base import ordered_queue
from robodyn_ros.nodes.base.ordered_queue import MOST, Outbox

ERROR = ControlError('it cannot be prepared')


def wait_until(condition):
    deadline = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(1e-3)


class Box:
    """An outbox whose timer ticks when the test says; b'x...' cannot be prepared.

    A tick finds the preparation done, unless it waits for `go`.
    """

    def __init__(self, monkeypatch):
        self.sent, self.prepared, self.running, self.refused = [], [], False, []
        self.go, self.ended = Event(), []
        self.go.set()
        timer = SimpleNamespace(reset=lambda: self._run(True), cancel=lambda: self._run(False))
        monkeypatch.setattr(ordered_queue, 'start_real_timer', lambda *_: timer)
        self.box = Outbox(None, self._prepare, lambda *row: self.refused.append(row))

    def _run(self, running):
        self.running = running

    def _prepare(self, serialised):
        self.prepared.append(serialised)
        while not self.go.wait(1e-3):
            try:
                poll()
            except CancelledError:
                self.ended.append(serialised)
                raise
        if serialised.startswith(b'x'):
            raise ERROR
        if serialised.startswith(b'bug'):
            raise ValueError(serialised)
        return lambda: self.sent.append(serialised)

    def tick(self, times):
        for _ in range(times):
            assert self.running
            if self.go.is_set() and self.box._work is not None:
                wait([self.box._work])
            self.box.tick()


@pytest.fixture
def case(monkeypatch):
    return Box(monkeypatch)


def test_it_is_prepared_at_once_and_leaves_with_the_second_tick(case):
    assert not case.running
    assert not case.box.put(b'a')
    case.tick(1)
    assert not case.sent and case.prepared == [b'a']
    case.tick(1)
    assert case.sent == [b'a'] and not case.running


def test_the_next_is_prepared_after_the_one_before_has_left(case):
    case.box.put(b'a')
    case.box.put(b'b')
    case.tick(1)
    assert case.prepared == [b'a']
    case.tick(2)
    assert case.sent == [b'a'] and case.prepared == [b'a', b'b']
    case.tick(1)
    assert case.sent == [b'a', b'b'] and not case.running


def test_what_cannot_be_prepared_holds_nothing_up(case):
    case.box.put(b'x1')
    case.tick(1)
    assert not case.running
    for each in (b'a', b'x2', b'b'):
        case.box.put(each)
    case.tick(5)
    assert case.sent == [b'a', b'b'] and not case.running
    assert case.refused == [(b'x1', ERROR), (b'x2', ERROR)]


def test_an_error_that_is_no_refusal_is_raised_and_holds_nothing_up(case):
    case.box.put(b'bug')
    case.box.put(b'a')
    with pytest.raises(ValueError, match='bug'):
        case.tick(1)
    case.tick(2)
    assert case.sent == [b'a'] and not case.refused and not case.running


def test_ticks_go_on_while_it_is_prepared_and_a_drop_ends_that(case):
    case.go.clear()
    case.box.put(b'long')
    case.box.put(b'next')
    case.tick(5)
    assert not case.sent and case.running
    assert case.box.drop() == [b'long', b'next'] and not case.running
    case.box.put(b'c')
    wait_until(lambda: case.ended == [b'long'])  # the thread is free again
    case.go.set()
    case.tick(2)
    assert case.sent == [b'c'] and case.prepared == [b'long', b'c']


def test_a_change_waits_for_the_end_of_the_preparation(case):
    case.go.clear()
    case.box.put(b'a')
    wait_until(lambda: case.prepared)
    seen = []
    case.box.change(lambda: seen.append(list(case.ended)))
    assert seen == [[b'a']]
    case.go.set()
    with pytest.raises(ControlError):
        case.box.change(lambda: case._prepare(b'x'))
    case.prepared.clear()
    case.tick(3)
    assert case.sent == [b'a']


@pytest.mark.parametrize('how', ['remove', 'prepare_again'])
def test_a_preparation_that_is_not_wanted_any_more_ends(case, how):
    case.go.clear()
    case.box.put(b'a')
    case.box.put(b'b')
    wait_until(lambda: case.prepared)
    case.box.remove(b'a') if how == 'remove' else case.box.prepare_again()
    wait_until(lambda: case.ended == [b'a'])
    case.go.set()
    case.tick(2 if how == 'remove' else 5)
    assert case.sent == ([b'b'] if how == 'remove' else [b'a', b'b'])


def test_what_has_changed_is_prepared_again(case):
    case.box.put(b'a')
    case.tick(1)
    case.box.prepare_again()
    case.tick(2)
    assert not case.sent and case.prepared == [b'a', b'a']
    case.tick(1)
    assert case.sent == [b'a']


def test_what_is_dropped_never_leaves(case):
    assert case.box.drop() == []
    case.box.put(b'a')
    case.box.put(b'b')
    assert case.box.drop() == [b'a', b'b'] and not case.running
    case.box.put(b'c')
    case.tick(2)
    assert case.sent == [b'c']


def test_one_that_is_removed_makes_room_for_the_next(case):
    case.box.put(b'a')
    case.box.put(b'b')
    case.box.remove(b'never put')
    case.box.remove(b'a')
    case.tick(2)
    assert case.sent == [b'b'] and case.prepared == [b'a', b'b'] and not case.running


def test_where_too_many_wait_the_oldest_goes_and_the_newest_stays(case):
    assert not any(case.box.put(b'%d' % k) for k in range(MOST))
    assert case.box.put(b'the stop') == b'0'
    case.tick(2 * MOST)
    assert len(case.sent) == MOST
    assert case.sent[0] == b'1' and case.sent[-1] == b'the stop'
