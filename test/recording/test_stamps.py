# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.stamps import MissingMessages, missing_in_gaps, stamps_of

PERIOD = 2_000_000


def counted(stamps):
    counter = MissingMessages()
    for stamp in np.asarray(stamps).tolist():
        counter.add(stamp)
    return counter


def busy(count, seed=0):
    """Stamps of a publisher that is held up now and then and catches up in bursts."""
    rng = np.random.default_rng(seed)
    ideal = np.arange(count) * PERIOD + 10**18
    stamps, free = [], 0
    for stamp in ideal:
        free = max(stamp, free) + int(rng.exponential(100_000))
        stamps.append(free)
        if rng.random() < 0.03 and len(stamps) < count - 64:
            free += int(rng.uniform(1, 8) * PERIOD)
    return np.array(stamps)


@pytest.mark.parametrize('count', [20, 1017])
@pytest.mark.parametrize('lost', [[], [12], [12, 13, 14], [5, 12]])
def test_losses_of_a_regular_publisher_are_counted(count, lost):
    assert counted(np.delete(np.arange(count) * PERIOD, lost)).missing == len(lost)


def test_losses_behind_the_first_block():
    lost = [100, 101, 333, 600, 601, 602, 603, 990]
    assert counted(np.delete(np.arange(1000) * PERIOD, lost)).missing == len(lost)


@pytest.mark.parametrize('seed', range(2))
def test_bursts_are_no_losses(seed):
    stamps = busy(5000, seed)
    assert (np.diff(stamps) > 1.8 * PERIOD).sum() > 50
    assert counted(stamps).missing <= 2
    lossy = np.delete(stamps, np.arange(1000, 4000, 60))
    assert counted(lossy).missing == pytest.approx(50, abs=5)


def test_late_and_largest():
    counter = counted([0, 10, 30, 30, 20, 90, 100])
    assert (counter.late, counter.largest) == (2, 60)


def test_stamps_that_do_not_fit_into_a_ros_time():
    assert stamps_of(np.array([0.5, 2.0**30]), 10**9, 'a').tolist() == [
        15 * 10**8,
        (2**30 + 1) * 10**9,
    ]
    for time, origin in (([0.0, 1.0], -1), ([0.0, 1.0], 2**31 * 10**9)):
        with pytest.raises(RecordingError, match=r'a: stamps .* do not fit into a ROS time'):
            stamps_of(np.array(time), origin, 'a')


def test_missing_in_gaps_of_a_recording():
    time = np.delete(np.arange(300) * 0.01, [50, 51, 52, 200])
    gaps = np.flatnonzero(np.diff(time) > 0.018)
    assert missing_in_gaps(time, 0.01, gaps) == 4
    bursty = busy(3000) * 1e-9
    bursty -= bursty[0]
    gaps = np.flatnonzero(np.diff(bursty) > 1.8 * PERIOD * 1e-9)
    assert len(gaps) > 30
    assert missing_in_gaps(bursty, PERIOD * 1e-9, gaps) <= 2
