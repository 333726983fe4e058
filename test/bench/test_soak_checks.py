# SPDX-License-Identifier: Apache-2.0
"""A soak calls a level a false OK only if the monitor had the data to know better."""

import pytest
from faulty_cell import OK, UNKNOWN
from ros_client import Sent

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
