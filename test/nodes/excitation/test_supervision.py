# SPDX-License-Identifier: Apache-2.0
"""Reasons to stop a run: states that stay away, a dead owner, torque, a robot that lags."""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.excitation.supervision import Supervision


def problem(fresh='', owner='', torque='', lag=''):
    def check_fresh(timeout):
        if fresh:
            raise ControlError(fresh)

    def lagging(position, time, tolerance, limits):
        assert time == pytest.approx(2.5) and tolerance == 0.1
        return lag

    state = SimpleNamespace(check_fresh=check_fresh, position=np.zeros(1), stamp=12.5)
    settings = SimpleNamespace(state_timeout=0.5, following_tolerance=0.1)
    watched = SimpleNamespace(problem=lambda: owner), SimpleNamespace(silence=lambda: torque)
    run = SimpleNamespace(zero=10 * 10**9, lagging=lagging)
    return Supervision(state, None, settings, *watched).problem(run)


def test_a_robot_that_follows_goes_on():
    assert problem() == ''


@pytest.mark.parametrize('cause', ['fresh', 'owner', 'torque', 'lag'])
def test_each_cause_stops_it(cause):
    assert problem(**{cause: 'why'}) == 'why'
