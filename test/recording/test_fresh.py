# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.recording.fresh import fresh

COUNT = 3500


def motion(count=COUNT):
    time = np.arange(count) / 350.0
    return np.column_stack([np.sin(2.0 * time), 0.7 * np.cos(3.1 * time)])


def held(values, new):
    """Values that are those of the last sample in `new`."""
    rows = np.zeros(len(values), dtype=int)
    rows[new] = new
    return values[np.maximum.accumulate(rows)]


@pytest.mark.parametrize(
    'new',
    [
        np.arange(0, COUNT, 7),
        np.unique(np.cumsum(np.random.default_rng(0).integers(6, 9, 450))),
        np.flatnonzero(np.random.default_rng(0).uniform(size=COUNT) < 0.15),
        np.flatnonzero(np.arange(COUNT) % 20 < 3),
        np.flatnonzero(np.arange(COUNT) % 13 < 2),
    ],
    ids=['regular', 'jitter', 'random', 'bursts', 'pairs'],
)
def test_repeats_of_a_signal_that_is_updated_less_often_are_no_measurements(new):
    taken = fresh(held(motion(), new))[new[1] : new[-1]]
    wanted = np.isin(np.arange(new[1], new[-1]), new)
    assert (taken[wanted]).all()
    assert (taken & ~wanted[:, None]).mean() < 0.02


def test_each_signal_has_its_own_times():
    first, second = np.arange(0, COUNT, 7), np.arange(3, COUNT, 10)
    values = np.hstack([held(motion()[:, :1], first), held(motion()[:, 1:], second)])
    taken = fresh(values)
    np.testing.assert_array_equal(np.flatnonzero(taken[:, 0]), first[1:])
    np.testing.assert_array_equal(np.flatnonzero(taken[20:, 1]), second[2:] - 20)


def test_coarse_steps_of_a_slow_motion_are_measurements():
    slow = np.round(motion() / 0.02) * 0.02
    assert (np.diff(slow, axis=0) == 0.0).mean() > 0.5
    assert fresh(slow).all()


def test_a_coarse_signal_is_updated_as_often_as_the_others_where_all_are_slow():
    new = np.arange(0, COUNT, 7)
    fine = held(motion(), new)
    coarse = held(np.round(motion() / 0.05) * 0.05, new + 3)
    still = np.ones((COUNT, 1))
    taken = fresh(np.hstack([fine, coarse, still]))
    rows = np.arange(100, COUNT)  # each coarse signal has changed by then
    for column, first in enumerate((0, 0, 3, 3, 0)):
        np.testing.assert_array_equal(taken[100:, column], (rows - first) % 7 == 0)
    beside = fresh(np.hstack([motion(), coarse]))  # another signal is measured in each sample
    assert beside.all()


def test_a_long_standstill_between_repeats_is_a_measurement():
    new = np.setdiff1d(np.arange(0, COUNT, 7), np.arange(1000, 1500))
    taken = fresh(held(motion(), new))
    assert taken[1001:1490].mean() == pytest.approx(1.0 / 7.0, rel=0.02)


def test_coarse_signals_of_messages_that_repeat_change_together():
    new = np.flatnonzero(np.random.default_rng(0).uniform(size=COUNT) < 0.4)
    coarse = np.round(np.tile(motion(), 3) * [1.0, 1.1, 0.9, 0.8, 1.2, 1.0] / 0.004) * 0.004
    assert fresh(coarse).all()  # its changes are independent of each other
    taken = fresh(held(coarse, new))[new[1] :]
    assert not taken.all(axis=1)[~np.isin(np.arange(new[1], COUNT), new)].any()


@pytest.mark.parametrize('count', [1, 3])
def test_coarse_signals_that_change_by_themselves_are_measurements(count):
    slow = (
        np.round(0.3 * np.tile(motion(), count) * np.linspace(0.8, 1.2, 2 * count) / 0.02) * 0.02
    )
    assert (np.diff(slow, axis=0) == 0.0).all(axis=1).mean() > 0.3
    assert fresh(slow).all()
