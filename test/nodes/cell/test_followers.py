# SPDX-License-Identifier: Apache-2.0
"""The simulation waits for the nodes that follow it, and for no other."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from std_msgs.msg import Header

from robodyn_ros.nodes.base.clock import BEAT, machine, nanoseconds_of, to_stamp
from robodyn_ros.nodes.cell.followers import (
    AHEAD,
    PATIENCE,
    PATIENCE_ELSEWHERE,
    REPEAT,
    Followers,
)

NOW = 10**18
NEAR, FAR = f'/near {os.getpid()} {machine()}', '/far 1 elsewhere/pid:[1]'


class Simulation:
    """Followers without ROS, and the stamps that were published."""

    def __init__(self):
        self.stamps, self.warnings, self.calls = [], [], 0
        publisher = SimpleNamespace(
            publish=lambda message: self.stamps.append(nanoseconds_of(message.clock))
        )
        logger = SimpleNamespace(warning=self.warnings.append)
        node = SimpleNamespace(
            create_publisher=lambda *_: publisher, get_logger=lambda: logger,
            create_subscription=self._subscribe,
        )  # fmt: skip
        self.followers = Followers(node, self._called)
        self.followers.publish(NOW)

    def _subscribe(self, kind, topic, callback, qos):
        self.hear = lambda name, stamp: callback(Header(stamp=to_stamp(stamp), frame_id=name))

    def _called(self):
        self.calls += 1


@pytest.fixture
def simulation(clock):
    return Simulation()


def test_it_is_ahead_of_the_slowest_by_a_little(simulation):
    followers = simulation.followers
    assert not followers and followers.ready(NOW + 10**12)
    simulation.hear(NEAR, NOW)
    simulation.hear(FAR, NOW - BEAT)
    assert followers and followers.ready(NOW - BEAT + AHEAD)
    assert not followers.ready(NOW - BEAT + AHEAD + 1)
    simulation.hear(FAR, NOW)
    assert followers.ready(NOW + AHEAD) and simulation.calls == 3


def test_a_cycle_that_is_longer_waits_for_the_one_before(simulation):
    """Longer than a simulation may be ahead; with a servo period of 10 ms it stood still."""
    simulation.hear(NEAR, NOW - 1)
    assert not simulation.followers.ready(NOW + 10_000_000)
    simulation.hear(NEAR, NOW)
    assert simulation.followers.ready(NOW + 10_000_000)


def test_what_follows_another_simulation_does_not_count(simulation):
    simulation.hear(NEAR, NOW + 1)
    simulation.hear('nonsense', NOW)
    simulation.hear('/n ../1 m', NOW)
    assert not simulation.followers and not simulation.calls


def test_while_it_waits_the_time_is_repeated(simulation, clock):
    simulation.followers.repeat()
    assert simulation.stamps == [NOW]
    clock[0] += 1.1 * REPEAT
    simulation.followers.repeat()
    assert simulation.stamps == [NOW, NOW]


@pytest.mark.parametrize(
    ('name', 'patience'), [(NEAR, PATIENCE), (FAR, PATIENCE_ELSEWHERE)], ids=['near', 'far']
)
def test_who_does_not_answer_is_left_out_after_a_while(simulation, clock, name, patience):
    simulation.hear(name, NOW - 2 * BEAT)
    clock[0] += 0.9 * patience
    simulation.followers.repeat()
    assert simulation.followers
    clock[0] += 0.2 * patience
    simulation.followers.repeat()
    assert not simulation.followers and 'has not followed /clock for' in simulation.warnings[0]
    simulation.hear(name, NOW)
    assert simulation.followers


def test_who_has_ended_is_left_out_at_once(simulation, clock):
    process = subprocess.Popen([sys.executable, '-c', ''])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is a zombie
    simulation.hear(f'/dead {process.pid} {machine()}', NOW - 2 * BEAT)
    clock[0] += 1.1 * REPEAT
    simulation.followers.repeat()
    assert not simulation.followers and not simulation.warnings
    process.wait()
