# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.errors import ControlError

JOINTS = ('joint1', 'joint2')
LIMIT = np.array([60.0, 30.0])
PERIOD = 0.002


def make(**changes: object) -> FeedforwardSettings:
    options: dict[str, object] = {
        'max_torque': LIMIT, 'max_torque_rate': 50.0 * LIMIT, 'ramp_down_time': 0.03, **changes
    }  # fmt: skip
    return FeedforwardSettings(JOINTS, **options)  # type: ignore[arg-type]


def test_rate_and_limit_are_one_number_or_one_per_joint_and_the_rate_has_a_default() -> None:
    for ramp, seconds in ((0.03, 0.03), (0.0319, 0.03), (0.1, 0.05), (PERIOD, PERIOD)):
        found = make(max_torque=60.0, max_torque_rate=None, ramp_down_time=ramp)
        np.testing.assert_array_equal(found.limit, [60.0, 60.0])
        np.testing.assert_allclose(found.rate, 60.0 / seconds, rtol=1e-12)
    assert make(max_torque_rate=LIMIT / 0.03).ramp_down_cycles == 15
    usual = FeedforwardSettings(JOINTS, LIMIT)
    assert (usual.period, usual.additive_torque_delay, usual.feedforward_scale) == (0.002, 3, 1.0)
    assert (usual.ramp_up_time, usual.ramp_down_time) == (0.25, 0.1)


BAD_TIMES = (0.0, -1.0, 0.0019, 60.1, 1e6, np.nan, np.inf)


@pytest.mark.parametrize(
    ('changes', 'text'),
    [
        ({'max_torque': [1.0]}, 'max_torque needs one value for each of the 2 joints, got 1'),
        ({'max_torque': [1.0, -1.0]}, 'max_torque of joint joint2 must be above 0, got -1.0'),
        ({'max_torque': [np.inf, 1.0]}, 'max_torque of joint joint1 must be above 0, got inf'),
        ({'max_torque': [0.0, 1.0]}, 'max_torque of joint joint1 must be above 0, got 0.0'),
        ({'max_torque_rate': [1.0, np.nan]}, 'max_torque_rate of joint joint2'),
        ({'max_torque_rate': [1.0, np.inf]}, 'max_torque_rate of joint joint2'),
        ({'feedforward_scale': 1.1}, 'feedforward_scale must be from 0.0 to 1.0, got 1.1'),
        ({'additive_torque_delay': -1}, 'additive_torque_delay must be'),
        ({'ramp_down_time': 0.01}, 'joint1: max_torque 60 cannot fall to zero within'),
        # Ten whole cycles of ramp: the torque of 10.75 cycles would have to leave in them.
        ({'ramp_down_time': 0.0215, 'max_torque_rate': LIMIT / 0.0211}, 'cannot fall to zero'),
        ({'period': np.nan}, 'period must be'),
        ({'period': 9e-6}, 'period must be from 1e-05 to 1.0'),
        ({'additive_torque_delay': 1001}, 'must be from 0 to 1000, got 1001'),
        *(
            ({name: time}, f'{name} must be from 0.002 to 60.0, got {time}')
            for time in BAD_TIMES
            for name in ('ramp_up_time', 'ramp_down_time')
        ),
    ],
)
def test_settings_that_cannot_hold_are_refused(changes: dict[str, object], text: str) -> None:
    with pytest.raises(ControlError, match=text):
        make(**changes)


def test_a_refused_joint_has_no_torque_and_does_not_shorten_the_others_ramp() -> None:
    found, usual = make(refused=('joint2',)), make()
    np.testing.assert_array_equal(found.limit, [60.0, 0.0])
    np.testing.assert_array_equal(found.rate, usual.rate)
    assert make(refused=('joint1', 'joint2'), max_torque_rate=None).rate.all()
