# SPDX-License-Identifier: Apache-2.0
"""A soak calls a level a false OK only if the monitor had the data to know better."""

from types import SimpleNamespace

import pytest
from faulty_cell import OK, UNKNOWN
from ros_client import Sent

from bench.soak.__main__ import STOOD_STILL, Soak
from bench.soak.checks import Checks
from bench.soak.messages import JointSample, LevelSample

PERIOD = 10**6


class Stream:
    """Joint states in [ns] since now, and the levels that answer them."""

    def __init__(self):
        self.checks, self.number = Checks(1e-3), 0
        self.checks.watching = True

    def state(self, stamp, *, late=0.0, heard=True, value=0.0):
        self.number += 1
        if heard:
            values = (value + 1e-9 * stamp,) * 6
            sample = JointSample(stamp, values, repr(values).encode())
            self.checks.joint_state(Sent(sample, self.number, 1e-9 * stamp + late))

    def level(self, stamp, level=OK, late=0.001):
        sample = LevelSample(stamp, [level, level], (0.0, 0.0))
        self.checks.level(Sent(sample, 1, 1e-9 * stamp + late))

    @property
    def wrong(self):
        return dict(self.checks.counts)


@pytest.fixture
def stream():
    stream = Stream()
    for cycle in range(200):
        stream.state(cycle * PERIOD)
        stream.level(cycle * PERIOD)
    assert not stream.wrong
    return stream


def test_ok_right_after_a_gap_of_the_stamps_is_false(stream):
    stream.state(300 * PERIOD)
    stream.level(300 * PERIOD, UNKNOWN)
    assert not stream.wrong
    stream.level(300 * PERIOD)
    assert stream.wrong == {'OK from stale joint states': 1}
    stream.state(350 * PERIOD)
    stream.level(350 * PERIOD)
    assert stream.wrong == {'OK from stale joint states': 2}


def test_ok_after_it_has_settled_is_right(stream):
    for cycle in range(300, 400):
        stream.state(cycle * PERIOD)
    stream.level(399 * PERIOD)
    assert not stream.wrong


def test_a_gap_of_a_clock_that_was_set_back_since_does_not_count(stream):
    stream.state(300 * PERIOD)
    for cycle in range(101):
        stream.state((cycle - 3_600_000) * PERIOD)
    stream.level((100 - 3_600_000) * PERIOD)
    assert not stream.wrong


def test_what_the_soak_did_not_hear_may_have_been_heard_by_the_monitor(stream):
    for cycle in range(200, 300):
        stream.state(cycle * PERIOD, heard=False)
    stream.state(300 * PERIOD)
    stream.level(300 * PERIOD)
    assert not stream.wrong
    ((before, after, count),) = stream.checks.lost
    assert (before, after, count) == (pytest.approx(0.199), pytest.approx(0.3), 100)


def test_the_first_states_of_a_new_cell_may_be_unheard(stream):
    stream.number = 20
    stream.state(2000 * PERIOD)
    stream.level(2000 * PERIOD)
    assert not stream.wrong and not stream.checks.lost


def test_a_new_cell_that_was_heard_from_its_first_state_on_must_settle(stream):
    stream.number = 0
    stream.state(2000 * PERIOD)
    stream.level(2000 * PERIOD)
    assert stream.wrong == {'OK from stale joint states': 1}


def test_messages_that_were_late_are_no_gap(stream):
    """A monitor that stood still reads them at once, with their stamps."""
    for cycle in range(200, 300):
        stream.state(cycle * PERIOD, late=1.0)
        stream.level(cycle * PERIOD, late=1.002)
    assert not stream.wrong


def test_states_that_are_no_numbers_do_not_count(stream):
    for cycle in range(200, 300):
        stream.state(cycle * PERIOD, value=float('nan'))
    stream.state(300 * PERIOD)
    stream.level(300 * PERIOD)
    assert stream.wrong == {'OK from stale joint states': 1}


class Still(Soak):
    """The account of a soak at given times."""

    def __init__(self, monkeypatch, times):
        super().__init__(None, None, 1.0)
        self.memory.look = lambda: None
        self._now = 'quiet'
        for now in times:
            monkeypatch.setattr('bench.soak.__main__.time.time', lambda now=now: now)
            self._account()


def test_seconds_in_which_the_soak_stood_still_are_accounted_for_as_such(monkeypatch):
    soak = Still(monkeypatch, [10.0, 10.05, 10.95, 11.0, 11.08, 11.9, 14.5, 14.55, 15.0, 15.01])
    assert soak.seconds == {
        **dict.fromkeys((10, 11, 12, 13, 14), STOOD_STILL), 15: STOOD_STILL,
    }  # fmt: skip
    assert soak._gaps() == [] and soak._standstill()['max [s]'] == 2.6
    quiet = Still(monkeypatch, [20.0 + 0.05 * step for step in range(60)])
    assert quiet.seconds == dict.fromkeys((20, 21, 22), 'quiet')
    assert quiet._standstill() == {'number': 0, 'sum [s]': 0, 'max [s]': 0.0}


def test_what_was_lost_while_the_soak_stood_still_is_told_from_other_losses(monkeypatch):
    soak = Still(monkeypatch, [10.0, 10.05, 12.0, 12.05])
    soak.cell = SimpleNamespace(checks=SimpleNamespace(lost=[(10.5, 11.9, 70), (20.0, 20.1, 3)]))
    assert list(soak._lost().values()) == [73, 2, 70, 1]
