# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.control.feedforward.state_watchdog import StateWatch

TIMEOUT = 0.2
HERE = np.array([0.1, 0.2])


@pytest.fixture
def watch():
    watch = StateWatch(width=2, timeout=TIMEOUT)
    watch.restart(100.0)
    return watch


def test_states_that_stay_away_are_told_after_the_time_out(watch):
    assert watch.silence(100.19) == ''
    assert watch.read(100.1, 5.0, HERE, HERE) == ''
    assert watch.silence(100.29) == ''
    assert 'no usable new joint state for 0.250 s (state_timeout is 0.2 s)' in watch.silence(
        100.35
    )


def test_the_same_state_again_is_no_new_one(watch):
    watch.read(100.1, 5.0, HERE, HERE)
    assert watch.read(100.3, 5.0, HERE, HERE) == ''
    assert watch.silence(100.31).endswith('(state_timeout is 0.2 s), their stamp does not advance')
    watch.restart(101.0)
    assert watch.silence(102.0).endswith('(state_timeout is 0.2 s)')


def test_a_stamp_that_goes_back_is_told_and_restart_forgets_it(watch):
    watch.read(100.1, 5.0, HERE, HERE)
    assert 'went back by 1 s' in watch.read(100.102, 4.0, HERE, HERE)
    watch.restart(101.0)
    assert watch.read(101.0, 3.0, HERE, HERE) == ''


def run(watch, moving, wanted):
    """Return what the watchdog reports where the positions stay or move, and the reference too."""
    rows = []
    for count in range(200):
        position = HERE + 1e-6 * count * moving
        rows.append(watch.read(100.0 + 0.002 * count, 0.002 * count, position, wanted(count)))
    return rows


def test_frozen_values_are_told_when_the_reference_moves_and_not_before_the_time_out(watch):
    for step in ([0.001, 0.001], [0.001, 0.0], [0.0, -0.001]):  # one joint or all, up or down
        watch.restart(100.0)
        rows = run(watch, 0.0, lambda count, step=step: HERE + count * np.array(step))
        assert not any(rows[:100])
        assert 'do not change although the reference moves' in rows[-1]


@pytest.mark.parametrize(('distance', 'reported'), [(0.0099, False), (0.0101, True)])
def test_the_reference_counts_as_moving_beyond_a_hundredth_of_a_radian(watch, distance, reported):
    rows = run(watch, 0.0, lambda count: HERE + distance * (count > 0))
    assert any(rows) == reported


def test_a_robot_that_stands_is_known_to_be_there_and_frozen_values_say_nothing_new(watch):
    still, moves = np.array([0.0, -0.001]), np.array([0.0, -0.3])
    watch.read(100.0, 5.0, HERE, HERE, moves)
    assert (watch.changed, watch.known) == (-np.inf, 5.0)
    watch.read(100.0, 6.0, HERE + 0.1, HERE, moves)
    assert (watch.changed, watch.known) == (6.0, 6.0)
    watch.read(100.0, 7.0, HERE + 0.1, HERE, moves)
    assert (watch.changed, watch.known) == (6.0, 6.0)
    for stamp, velocity in ((8.0, still), (9.0, None)):
        watch.read(100.0, stamp, HERE + 0.1, HERE, velocity)
        assert (watch.changed, watch.known) == (6.0, stamp)
    watch.restart(101.0)
    assert (watch.changed, watch.known) == (-np.inf, -np.inf)


def test_a_robot_that_stands_still_is_no_fault_and_neither_is_one_that_moves(watch):
    assert not any(run(watch, 0.0, lambda count: HERE))
    watch.restart(100.0)
    assert not any(run(watch, 1.0, lambda count: HERE + 0.001 * count))


def test_a_robot_that_stood_for_long_may_take_the_time_out_to_follow(watch):
    late = 50  # cycles: brakes, filters and the drives' own delay
    for count in range(1000):  # at rest, without noise
        assert watch.read(100.0 + 0.002 * count, 0.002 * count, HERE, HERE) == ''
    for count in range(200):
        position = HERE + 0.005 * max(0, count - late)
        now = 102.0 + 0.002 * count
        assert watch.read(now, now, position, HERE + 0.005 * count) == ''


def test_without_a_time_out_nothing_is_watched():
    watch = StateWatch(width=2, timeout=0.0)
    watch.read(100.0, 5.0, HERE, HERE)
    assert watch.read(100.1, 4.0, HERE, HERE) == '' and watch.silence(999.0) == ''
