# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from robodyn_ros.control.collision.kind import Kind, Suddenness, time_constant
from robodyn_ros.errors import ControlError

PERIOD = 0.002


def risen(rise, *, period=PERIOD, limit=0.5):
    """Return the kind of a torque error that has risen to its threshold in `rise` [s]."""
    sudden = Suddenness(2, period=period, limit=limit)
    sudden.restart(np.zeros(2))
    for time in np.arange(0.0, rise + period, period):
        error = np.array([0.0, -20.0 * min(1.0, time / rise)])
        sudden.update(error, np.array([10.0, 20.0]), quiet=time < rise)
    return sudden


@pytest.mark.parametrize('period', [0.001, 0.01])
@pytest.mark.parametrize('limit', [0.3, 0.5, 0.8])
def test_rise_time_separates_contact_and_collision(period, limit):
    kinds = [risen(rise, period=period, limit=limit).kind() for rise in (0.05, 0.2, 0.32, 1.0)]
    assert kinds == [Kind.COLLISION, Kind.COLLISION, Kind.CONTACT, Kind.CONTACT]


@pytest.mark.parametrize('limit', [0.1, 0.5, 0.9])
def test_time_constant_leaves_the_limit(limit):
    constant = time_constant(0.25, limit)
    assert constant / 0.25 * (1.0 - np.exp(-0.25 / constant)) == pytest.approx(limit)


def test_peak_is_kept_during_a_contact_and_ends_with_it():
    sudden = risen(0.05)
    for _ in range(500):
        sudden.update(np.array([0.0, -20.0]), np.array([10.0, 20.0]), quiet=False)
    assert sudden.kind() == Kind.COLLISION
    for _ in range(500):
        sudden.update(np.zeros(2), np.array([10.0, 20.0]), quiet=True)
    assert sudden.peak < 0.2
    sudden = risen(0.05)
    sudden.restart(np.zeros(2))
    assert sudden.peak == 0.0


def test_numbers_are_those_of_the_message():
    assert [kind.value for kind in Kind] == [0, 1, 2]


def test_times_must_be_positive():
    with pytest.raises(ControlError, match='rise_time'):
        Suddenness(1, period=0.01, rise_time=0.0)
