# SPDX-License-Identifier: Apache-2.0
"""One run of an excitation on its own: no clock but the one given."""

import numpy as np
import pytest
from excitation_client import HOME, JOINTS, motion, robot_limits

from robodyn_ros.excitation.plan import plan_excitation
from robodyn_ros.nodes.excitation.run import FOLLOWING_TIME, Run

pytestmark = pytest.mark.ros
LIMITS = robot_limits()
LATENCY = 0.15


@pytest.fixture
def run():
    plan = plan_excitation(motion(duration=6.0), np.array(HOME), LIMITS, pause=0.1)
    return Run(plan, tuple(JOINTS), LIMITS.acceleration, spacing=0.02, latency=LATENCY)


def stopped(run, at):
    """Stop at a time of the run."""
    run.advance(at, 0)
    run.stop('enough', lambda: at)


def test_stamps_are_those_of_the_motion_however_late_a_cycle_is(run):
    run.advance(run.begin + 0.7, 5 * 10**9)
    run.advance(run.end + 0.3, 20 * 10**9)
    assert run.stamps == {'started': 4_300_000_000, 'finished': 19_700_000_000}


@pytest.mark.parametrize('silence', [0.1, 1.0, 2.0])
def test_a_robot_that_was_on_its_way_when_last_seen_follows_also_after_the_stop(run, silence):
    """Whose joint states stayed away, say: the stop begins where the robot is by now."""
    seen = run.begin + 1.0
    there = run.full.sample(np.array([seen])).position[0]
    stopped(run, seen + silence)
    assert run.stopping and run.offset == pytest.approx(seen + silence)
    moved = run.full.sample(np.array([run.offset])).position[0] - there
    assert np.abs(moved).max() > 0.2 or silence < 0.5
    assert run.lagging(there, seen, 0.2, LIMITS) == ''
    away = there + 0.5
    assert 'does not follow: it is 0.5 rad' in run.lagging(away, seen, 0.2, LIMITS)


def test_recent_positions_are_of_both_motions_where_the_stop_took_over(run):
    at = run.begin + 2.0
    stopped(run, at)
    run.advance(at + 0.4, 0)
    low, high = run.recent(FOLLOWING_TIME, run.time)
    before = run.full.sample(np.linspace(run.time - FOLLOWING_TIME, at, 100)).position
    after = run.active.sample(np.linspace(0.0, run.time - at, 400)).position
    both = np.vstack([before, after])
    # they are looked at every 0.05 s, at up to 2 rad/s
    np.testing.assert_allclose(low, both.min(axis=0), atol=0.1)
    np.testing.assert_allclose(high, both.max(axis=0), atol=0.1)
    assert (low >= both.min(axis=0) - 1e-9).all() and (high <= both.max(axis=0) + 1e-9).all()


def test_a_stop_that_was_held_up_follows_the_motion_for_longer(run):
    moments = iter([1.0, 1.0 + LATENCY, 1.2, 1.2 + LATENCY])
    run.stop('enough', lambda: next(moments))
    assert run.offset == 1.2 and run.active.follow == pytest.approx(2.0 * LATENCY)
    assert next(moments, None) is None


def test_a_stop_at_the_end_of_the_motion_is_never_late(run):
    moments = iter([run.end, run.end + 9.0])
    run.stop('enough', lambda: next(moments))
    assert run.stopping and run.end <= run.full.duration + 0.01
