"""A message leaves after all that arrived before it has been read."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')
from robodyn_ros.nodes.base import ordered_queue
from robodyn_ros.nodes.base.ordered_queue import MOST, Outbox


class Box:
    """An outbox whose timer ticks when the test says; b'x...' cannot be prepared."""

    def __init__(self, monkeypatch):
        self.sent, self.prepared, self.running = [], [], False
        timer = SimpleNamespace(reset=lambda: self._run(True), cancel=lambda: self._run(False))
        monkeypatch.setattr(ordered_queue, 'steady_timer', lambda *_: timer)
        self.box = Outbox(None, self._prepare)

    def _run(self, running):
        self.running = running

    def _prepare(self, serialised):
        self.prepared.append(serialised)
        if serialised.startswith(b'x'):
            return None
        return lambda: self.sent.append(serialised)

    def tick(self, times):
        for _ in range(times):
            assert self.running
            self.box.tick()


@pytest.fixture
def case(monkeypatch):
    return Box(monkeypatch)


def test_it_is_prepared_at_once_and_leaves_with_the_second_tick(case):
    assert not case.running
    assert not case.box.put(b'a') and case.prepared == [b'a']
    case.tick(1)
    assert not case.sent
    case.tick(1)
    assert case.sent == [b'a'] and not case.running


def test_the_next_is_prepared_after_the_one_before_has_left(case):
    case.box.put(b'a')
    case.box.put(b'b')
    assert case.prepared == [b'a']
    case.tick(2)
    assert case.sent == [b'a'] and case.prepared == [b'a', b'b']
    case.tick(2)
    assert case.sent == [b'a', b'b'] and not case.running


def test_what_cannot_be_prepared_holds_nothing_up(case):
    case.box.put(b'x1')
    assert not case.running
    for each in (b'a', b'x2', b'b'):
        case.box.put(each)
    case.tick(4)
    assert case.sent == [b'a', b'b'] and not case.running


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
