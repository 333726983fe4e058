# SPDX-License-Identifier: Apache-2.0
"""A state is published with the rate, and each change at once."""

import pytest

from robodyn_ros.nodes.robot.publish_rate import PublishRate


class Cycles:
    """Cycles of 500 Hz; `run` returns the indices of the published ones."""

    def __init__(self, clock, rate, jitter=()):
        self.clock, self.jitter = clock, list(jitter)
        self.rate, self.count = PublishRate(rate, lambda: clock[0]), 0

    def run(self, states):
        published = []
        for state in states:
            late = self.jitter[self.count % len(self.jitter)] if self.jitter else 0.0
            self.clock[0] = 0.002 * self.count + late
            if self.rate.due(state):
                published.append(self.count)
            self.count += 1
        return published


def test_the_rate_is_kept_in_cycles_that_come_a_little_early_and_late(clock):
    assert Cycles(clock, 100.0).run([0] * 50) == pytest.approx(range(0, 50, 5), abs=1)
    jitter = [0.0003, -0.0003, 0.0001, -0.0002, 0.0002, -0.0001, 0.0]
    published = Cycles(clock, 100.0, jitter).run([0] * 5000)
    assert len(published) == pytest.approx(1000, abs=5)


def test_without_a_rate_every_state_is_published(clock):
    assert Cycles(clock, 0.0).run([0] * 7) == list(range(7))


def test_a_change_is_published_at_once_and_no_later_state_is_lost(clock):
    states = [0] * 7 + [1] + [0] * 12
    found = Cycles(clock, 100.0).run(states)
    assert found[:4] == [0, 5, 7, 8]
    assert found[4:] == pytest.approx([13, 18], abs=1)


def test_after_a_silence_there_is_no_burst(clock):
    cycles = Cycles(clock, 100.0)
    cycles.run([0] * 10)
    cycles.count += 500
    assert len(cycles.run([0] * 50)) <= 11
