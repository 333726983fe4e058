# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.control.torque_threshold import SILENCE, TorqueThreshold


@pytest.mark.parametrize('check', ['feedback', 'command'])
def test_threshold_names_joint_and_value(check: str) -> None:
    exceeded = getattr(TorqueThreshold(['a', 'b'], np.array([10.0, 5.0])), check)
    kind = 'measured' if check == 'feedback' else 'additive'
    assert exceeded(np.array([10.0, -5.0])) == exceeded(np.array([-10.0, 5.0])) == ''
    for bad in (-5.01, 5.01):
        text = f"the {kind} torque of joint 'b' is {bad}, torque_threshold is 5"
        assert exceeded(np.array([10.0, bad])) == text
    assert "'a' is nan" in exceeded(np.array([np.nan, 0.0]))


def test_silence_before_the_first_and_after_the_last_feedback() -> None:
    now = [100.0]
    watch = TorqueThreshold(['a'], np.ones(1), lambda: now[0])
    assert 'no usable effort' in watch.silence()
    for heard in (lambda: watch.feedback(np.zeros(1)), watch.restart):
        heard()
        now[0] += SILENCE
        assert watch.silence() == ''
        now[0] += 0.01
        assert 'no usable effort' in watch.silence()


def test_without_a_limit_nothing_is_checked() -> None:
    watch = TorqueThreshold(['a'], None)
    assert watch.silence() == watch.feedback(np.full(1, np.nan)) == ''
