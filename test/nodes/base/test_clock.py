# SPDX-License-Identifier: Apache-2.0
"""The clock of a node, and times and durations of ROS messages."""

from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as st
from rosgraph_msgs.msg import Clock as ClockMessage

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.base.clock import (
    BEAT,
    DEAD,
    LOOK,
    SimulatedClock,
    nanoseconds_of,
    now,
    seconds_of,
    start_timer,
    to_duration,
    to_stamp,
)


@given(st.floats(0.0, 1e9))
def test_a_duration_comes_back(seconds):
    assert seconds_of(to_duration(seconds)) == pytest.approx(seconds, abs=1e-9, rel=1e-15)


def test_the_ends():
    assert to_duration(float('inf')).sec == 2**31 - 1
    assert to_duration(float('-inf')).sec == -(2**31)
    assert seconds_of(to_duration(float('nan'))) == 0.0
    assert seconds_of(to_duration(-0.5)) == -0.5
    stamp = to_stamp(5_000_000_001)
    assert (stamp.sec, stamp.nanosec) == (5, 1)


class Bench:
    """A clock with `use_sim_time` without ROS, and what it acknowledged."""

    def __init__(self):
        self.followed, self.warnings, self.looks, self.times = [], [], [], []
        publisher = SimpleNamespace(
            publish=lambda message: self.followed.append(nanoseconds_of(message.stamp))
        )
        self.node = SimpleNamespace(
            create_publisher=lambda *_: publisher,
            create_timer=lambda period, callback, **_: self.looks.append(callback),
            get_logger=lambda: SimpleNamespace(warning=self.warnings.append),
            get_fully_qualified_name=lambda: '/n',
        )
        self.node.simulated_clock = SimulatedClock(
            self.node, self.times.append, lambda period, callback: callback
        )

    def tell(self, *stamps):
        for stamp in stamps:
            self.node.simulated_clock.take(ClockMessage(clock=to_stamp(stamp)))

    def look(self, clock, seconds):
        """Let real time pass without a message."""
        for _ in range(round(seconds / LOOK)):
            clock[0] += LOOK
            self.looks[0]()


@pytest.fixture
def bench(clock):
    return Bench()


START = 10**18
MS = 10**6


def test_time_advances_with_the_simulation_and_never_goes_back(bench, clock):
    assert now(bench.node) == 0.0
    bench.tell(START, START + 2 * MS)
    clock[0] += 1.0
    assert now(bench.node) == pytest.approx(2e-3)
    bench.tell(5 * MS, 7 * MS)  # the simulation was started again
    assert now(bench.node) == pytest.approx(4e-3)
    bench.tell(START)
    assert now(bench.node) == pytest.approx(4e-3)


def test_a_negative_time_is_refused(bench):
    with pytest.raises(ControlError, match='is negative: -5 s'):
        bench.node.simulated_clock.take(ClockMessage(clock=Time(sec=-5)))
    assert not bench.times and not bench.followed


def test_timers_run_inside_the_message_once_for_each_look(bench):
    calls = []
    timer = start_timer(bench.node, 0.01, lambda: calls.append(now(bench.node)))
    bench.tell(START, START + 9 * MS)
    assert not calls
    bench.tell(START + 11 * MS, START + 45 * MS, START + 49 * MS, START + 50 * MS)
    assert calls == pytest.approx([0.011, 0.045, 0.050])
    timer.cancel()
    bench.tell(START + 100 * MS)
    timer.reset()
    bench.tell(START + 109 * MS)
    assert len(calls) == 3
    bench.tell(START + 110 * MS)
    assert len(calls) == 4


def test_it_acknowledges_every_beat_and_each_repetition(bench):
    beat = BEAT // 2
    bench.tell(*(START + beat * step for step in range(5)))
    assert bench.followed == [START, START + BEAT, START + 2 * BEAT]
    bench.tell(START + 5 * beat, START + 5 * beat)
    assert bench.followed[3:] == [START + 5 * beat]


def test_a_dead_simulation_continues_in_real_time(bench, clock):
    calls = []
    start_timer(bench.node, 0.5, lambda: calls.append(now(bench.node)))
    bench.tell(START)
    bench.look(clock, 0.9 * DEAD)
    assert now(bench.node) == 0.0 and not bench.warnings
    bench.look(clock, 0.1 * DEAD + 1.2)
    assert now(bench.node) == pytest.approx(1.2, abs=0.1) and len(calls) == 2
    assert nanoseconds_of(bench.times[-1].clock) == pytest.approx(START + 1.2e9, abs=1e8)
    assert len(bench.warnings) == 1 and '/clock has been silent for' in bench.warnings[0]
    bench.tell(START + MS)
    before = now(bench.node)
    bench.look(clock, 0.5 * DEAD)
    assert now(bench.node) == before, 'it lives again'
    bench.look(clock, DEAD)
    assert len(bench.warnings) == 2


def test_a_simulation_that_repeats_its_time_is_only_paused(bench, clock):
    bench.tell(START)
    for _ in range(10):
        bench.look(clock, 0.5 * DEAD)
        bench.tell(START)
    assert now(bench.node) == 0.0


def test_a_node_that_was_held_up_itself_has_missed_nothing(bench, clock):
    bench.tell(START)
    clock[0] += 100.0
    bench.looks[0]()
    assert now(bench.node) == 0.0 and not bench.warnings


def test_before_a_simulation_has_begun_time_is_real_time(bench, clock):
    bench.look(clock, DEAD + 1.0)
    assert now(bench.node) == pytest.approx(1.0, abs=0.1) and not bench.warnings
