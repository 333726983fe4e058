# SPDX-License-Identifier: Apache-2.0
"""A robot is looked at again before it moves, and stopped for each reason while it moves.

Reasons are states that stay away, a dead owner, torque, and a robot that lags.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.errors import RobodynError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.nodes.excitation.supervision import Supervision

LIMITS = JointLimits(
    joints=('joint1', 'joint2'), units=('rad', 'rad'), lower=-np.ones(2), upper=np.ones(2),
    **dict.fromkeys(('velocity', 'acceleration', 'jerk', 'effort'), np.ones(2)),
)  # fmt: skip
RUN = SimpleNamespace(checked=100.0, setpoint=lambda time: (np.array([0.1, 0.2]), None, None))


@pytest.fixture
def robot():
    return SimpleNamespace(
        position=np.array([0.1, 0.2]), received=101.0, known=True, fresh='', moving='',
        check_fresh=lambda timeout: None, check_rest=lambda threshold: None,
    )  # fmt: skip


@pytest.fixture
def ready(robot):
    settings = SimpleNamespace(state_timeout=0.5, moving_threshold=0.02)
    heard = SimpleNamespace(check_heard=lambda: None)
    return Supervision(robot, LIMITS, settings, heard, None, None)


def test_it_waits_for_a_state_after_the_checks_but_not_for_ever(robot, ready):
    assert not ready.waits(RUN, 100.1)
    robot.received = 99.9
    assert ready.waits(RUN, 100.1) and ready.waits(RUN, 100.5)
    assert not ready.waits(RUN, 100.7)
    robot.received, robot.known = 100.1, False
    assert ready.waits(RUN, 100.2)


def test_a_robot_at_rest_where_its_motion_begins_may_move(robot, ready):
    robot.position[1] += 0.001
    ready.check_again(RUN)


@pytest.mark.parametrize('way', [0.01, -0.01])
def test_a_robot_that_moved_meanwhile_may_not(robot, ready, way):
    robot.position[1] += way
    with pytest.raises(RobodynError, match=r"'joint2' moved by 0\.01 rad while its motion"):
        ready.check_again(RUN)


def test_a_robot_outside_its_limits_may_not(robot, ready):
    robot.position[0] = 1.5
    with pytest.raises(RobodynError, match='joint1'):
        ready.check_again(RUN)
