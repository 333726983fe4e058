# SPDX-License-Identifier: Apache-2.0
"""Start of a designed motion: the middle of the range that the rules leave free."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.excitation.design.rest_position import rest_position
from robodyn_ros.excitation.limits.constraints import Excess, Rule, check_rest
from robodyn_ros.excitation.limits.joint_limits import JointLimits


class Forbidden(Rule):
    """The first joint must be above 0.5 where the second is below 1, else above -0.5."""

    def excess(self, motion):
        first, second = motion.position[0, :2]
        return Excess(float(first < (0.5 if second < 1.0 else -0.5)), 'forbidden')


def limits_between(lower, upper):
    names = tuple(f'joint{number}' for number in range(6))
    endless = np.full(6, np.inf)
    sides = (np.full(6, float(lower)), np.full(6, float(upper)))
    return JointLimits(names, ('rad',) * 6, *sides, endless, endless, endless, endless)


def test_rest_position_is_the_middle_or_as_near_to_zero_as_can_be():
    limits = limits_between(-1.0, 1.0)
    low, high = limits.lower.copy(), limits.upper.copy()
    low[:3], high[:3] = [-np.inf, 1.0, -np.inf], [np.inf, np.inf, -1.0]
    low[3:], high[3:] = [-1.0, 0.0, 2.0], [2.0, 1.0, 3.0]
    position = rest_position(replace(limits, lower=low, upper=high), None)
    np.testing.assert_allclose(position[[0, 3, 4, 5]], [0.0, 0.5, 0.5, 2.5])
    assert position[1] > 1.0 and position[2] < -1.0


def test_a_joint_begins_in_the_middle_of_the_longest_part_that_is_free():
    limits = limits_between(-2.0, 2.0)
    position = rest_position(limits, None, [Forbidden()])
    check_rest([Forbidden()], position)
    assert position[0] == pytest.approx(1.25, abs=0.05)
    np.testing.assert_array_equal(position[1:], 0.0)
    given = rest_position(limits, [0.1] * 6, [Forbidden()])
    np.testing.assert_array_equal(given, 0.1)  # what the user gives is kept
