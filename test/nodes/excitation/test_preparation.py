# SPDX-License-Identifier: Apache-2.0
"""All that takes time before a motion starts is done here, in a thread of the node."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from excitation_client import HOME, motion, robot_limits
from robodyn_ros.action import Excite

from robodyn_ros.errors import ControlError, RobodynError
from robodyn_ros.nodes.excitation.preparation import Preparation

LIMITS = robot_limits()


class Prepared(Preparation):
    """A preparation without a node, and the record of what was asked."""

    def __init__(self, *, streaming=False, refusal=''):
        self.asked = []

        def allowed():
            self.asked.append('allowed')
            if refusal:
                raise ControlError(refusal)

        def message(trajectory):
            self.asked.append('message')
            return b'motion'

        super().__init__(
            None, LIMITS, SimpleNamespace(pause=0.1, stop_latency=0.15),
            SimpleNamespace(streaming=streaming, spacing=lambda duration: 0.02, message=message),
            SimpleNamespace(check_plan=lambda plan, **_: self.asked.append('torque')),
            SimpleNamespace(
                check_plan=lambda plan: self.asked.append('collisions'), check_allowed=allowed,
                look=lambda: self.asked.append('look'), surroundings='now',
                look_again=self.look_again,
            ),
            SimpleNamespace(
                prepare=lambda request, there: self.asked.append(f'search {there}') or request
            ),
            SimpleNamespace(draw=lambda motion: self.asked.append('path')),
        )  # fmt: skip

    def look_again(self, trajectory):
        self.asked.append('look again')
        self.again = trajectory


def test_a_run_is_checked_and_its_message_made_before_it_starts():
    preparation, goal = Prepared(), object()
    begin = time.monotonic()
    run, advice, _ = preparation.run(motion(), goal, 'file', np.array(HOME), 1.0)
    assert preparation.asked == ['look', 'torque', 'collisions', 'message', 'path', 'look again']
    assert (run.message, run.goal, run.file) == (b'motion', goal, 'file')
    assert run.checked >= begin and advice
    np.testing.assert_allclose(run.setpoint(0.0)[0], HOME, atol=1e-9)


def test_what_is_not_allowed_is_refused_before_anything_is_read():
    preparation = Prepared(refusal='NOT checked')
    with pytest.raises(RobodynError, match='NOT checked'):
        preparation.read(None, '/there/is/no/such/file', np.array(HOME), 1.0)
    with pytest.raises(RobodynError, match='NOT checked'):
        preparation.search(Excite.Goal())
    assert preparation.search(Excite.Goal(design_only=True)).design_only
    assert preparation.asked == [*['look', 'allowed'] * 2, 'look', 'search now']


def test_a_slow_run_is_checked_at_full_speed_too_and_takes_longer():
    preparation = Prepared()
    run, *_ = preparation.run(motion(), None, '', np.array(HOME), 0.25)
    usual, *_ = Prepared().run(motion(), None, '', np.array(HOME), 1.0)
    assert preparation.again.duration == pytest.approx(usual.end)  # the path is the same
    assert preparation.asked[1:-1] == ['torque', 'collisions', 'torque', 'message', 'path']
    assert run.end == pytest.approx(4.0 * usual.end) and run.begin == pytest.approx(
        4 * usual.begin
    )
    for moment in (0.3, 1.7):
        np.testing.assert_allclose(
            run.setpoint(4.0 * moment)[0], usual.setpoint(moment)[0], atol=1e-6
        )
    fast = motion(frequency=[9.0] * 6)
    with pytest.raises(RobodynError, match='breaks a limit'):
        Prepared().run(fast, None, '', np.array(HOME), 0.01)
