# SPDX-License-Identifier: Apache-2.0
"""Start of a designed motion: the middle of the range that the rules leave free."""

from dataclasses import replace

import numpy as np
import pytest
from robots import URDF_FOLDER

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit
from robodyn_ros.excitation.design.rest_position import rest_position
from robodyn_ros.excitation.limits.constraints import Excess, Rule, check_rest
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.models.serial.urdf_file import read_urdf


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


def test_an_arm_begins_where_each_joint_has_room_on_both_sides():
    path = URDF_FOLDER / 'ur10.urdf'
    limits = JointLimits.from_urdf(read_urdf(path))
    rule = SelfCollisionLimit(str(path)).rule(UrdfModel.from_file(path))
    position = rest_position(limits, None, [rule])
    check_rest([rule], position)
    lift = limits.joints.index('shoulder_lift_joint')

    def free(centre):
        return [centre_is_free(rule, centre, lift, other) for other in np.linspace(-1.0, 1.0, 21)]

    assert all(free(position)) and not all(free(np.zeros(6)))  # 0: the middle of the ranges


def centre_is_free(rule, centre, joint, other):
    moved = centre.copy()
    moved[joint] += other
    try:
        check_rest([rule], moved)
    except MotionError:
        return False
    return True
