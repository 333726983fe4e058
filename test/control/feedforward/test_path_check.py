# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace

import numpy as np
import pytest

from robodyn_ros.control.feedforward.path_check import astray
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.torque_plan import TorquePlan

START = 1000.0
TIME = 0.002 * np.arange(2001)
WAY = np.stack([0.5 * TIME, -0.2 * TIME], axis=1)


@pytest.fixture
def plan():
    zero = np.zeros(WAY.shape)
    return TorquePlan(('a', 'b'), TIME, WAY, zero, zero, zero, zero, 0.002)


def seen(*rows, timeout=1.0):
    """Joint states at times in the plan: position, and velocity if it is known."""
    watch = StateWatch(width=2, timeout=timeout)
    for at, *row in rows:
        watch.read(START + at, START + at, np.array(row[0]), np.zeros(2), *map(np.array, row[1:]))
    return watch


def says(plan, states, now):
    return astray(plan, states, start=START, now=now)


def test_a_robot_on_its_way_or_a_little_behind_may_be_sent_on(plan):
    assert says(plan, seen((0.0, WAY[0]), (1.0, WAY[500])), 1.01) == ''
    assert says(plan, seen((0.0, WAY[0]), (1.0, WAY[455])), 1.01) == ''


def test_a_robot_beside_its_way_is_named_by_its_worst_joint(plan):
    text = says(plan, seen((0.0, WAY[0]), (1.0, WAY[500] - [0.0, 0.07])), 1.01)
    assert text.startswith("joint 'b' was 0.0696 away from it")
    assert says(plan, seen((0.0, WAY[0]), (1.0, WAY[500] - [0.0, 0.04])), 1.01) == ''


def test_a_robot_that_never_began_is_astray_as_soon_as_the_motion_has_left(plan):
    standing = seen((0.0, WAY[0]), (0.5, WAY[0]))
    assert says(plan, standing, 0.015) == ''
    assert "joint 'a' was 0.25 away" in says(plan, standing, 0.5)


def test_a_robot_that_stands_is_astray_and_frozen_values_of_a_moving_one_are_not(plan):
    stopped = ((0.0, WAY[0]), (1.0, WAY[500]), (1.5, WAY[500]))
    assert "joint 'a' was 0.2 away" in says(plan, seen(*stopped), 1.5)
    moving = [(*row, [0.5, -0.2]) for row in stopped]
    assert says(plan, seen(*moving), 1.5) == ''


def test_a_robot_that_nobody_saw_is_not_sent_unless_nobody_looks(plan):
    assert says(plan, seen(), 0.05) == ''
    assert 'no joint state has shown' in says(plan, seen(), 0.5)
    assert says(plan, SimpleNamespace(timeout=0.0), 0.5) == ''
