# SPDX-License-Identifier: Apache-2.0
"""Limits and the drawn frame of a robot."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from published import robot

from robodyn_ros.excitation.limits.constraints import frame_points
from robodyn_ros.excitation.robot_frame import (
    choose_frame,
    frame_in_urdf,
    model_limits,
    tip_link,
)
from robodyn_ros.models.catalog import build_model, load_model, with_friction
from robodyn_ros.models.serial.urdf_file import read_urdf

FOLDER = Path(__file__).parents[2]

PUMA = robot('puma')
SCARA = build_model({'kind': 'scara', 'dynamic_model': 1, 'joints': ['a', 'b', 'c', 'd'],
                     'geometry': {'L1': 0.3, 'L2': 0.2}})  # fmt: skip
AXIS = build_model({'kind': 'axis', 'dynamic_model': 3, 'type': 'rotary', 'joints': ['a']})


def test_limits_are_those_of_the_urdf_or_none():
    limits = model_limits(with_friction(PUMA, ['viscous']))
    by_name = {joint.name: joint for joint in PUMA.urdf.joints}
    for name, upper in zip(limits.joints, limits.upper, strict=True):
        assert upper == by_name[name].upper
    none = model_limits(SCARA)
    assert none.joints == SCARA.joint_names and none.units == ('rad', 'rad', 'm', 'rad')
    assert np.isinf([none.lower, none.upper, none.velocity, none.acceleration]).all()


def test_the_last_link_the_one_asked_for_the_tool_or_nothing():
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 6))
    for asked, link in (((), 'link6'), (('link4', 'link6'), 'link4')):
        expected = frame_points(PUMA, [link])(q)
        np.testing.assert_array_equal(choose_frame(PUMA, asked)(q), expected)
    tool = choose_frame(SCARA)(np.zeros((1, 4)))[0, 0]
    np.testing.assert_allclose(tool[:2], [0.5, 0.0], atol=1e-12)
    assert choose_frame(AXIS) is None and choose_frame(PUMA, ['hand']) is None


@pytest.mark.parametrize('name', ['ur10', 'scara'])
def test_the_tip_of_an_arm_is_drawn_where_its_urdf_has_it(name):
    path = FOLDER / 'urdf' / f'{name}.urdf'
    urdf, own = read_urdf(path), pin.buildModelFromUrdf(str(path))
    joints = tuple(own.names[1:])
    assert tip_link(urdf, joints[-1]) == 'tool0'
    q, data = np.random.default_rng(0).uniform(-1.0, 1.0, (4, own.nq)), own.createData()
    for order in (joints, joints[::-1]):  # a motion may name them in any order
        columns = [joints.index(joint) for joint in order]
        places = frame_in_urdf(urdf, order)(q[:, columns])[:, 0]
        for row, place in zip(q, places, strict=True):
            pin.framesForwardKinematics(own, data, row)
            expected = data.oMf[own.getFrameId('tool0')].translation
            np.testing.assert_allclose(place, expected, atol=1e-12)
    assert frame_in_urdf(urdf, joints, link='nothing') is None


def test_the_platform_of_a_delta_needs_its_model():
    urdf = read_urdf(FOLDER / 'urdf' / 'delta.urdf')
    model = load_model(FOLDER / 'config' / 'robots' / 'delta.yaml')
    q = np.random.default_rng(0).uniform(0.0, 0.6, (4, 4))
    assert frame_in_urdf(urdf, model.joint_names) is None
    swapped = [1, 0, 2, 3]
    names = [model.joint_names[index] for index in swapped]
    expected = frame_points(model, ['tool'])(q)
    np.testing.assert_array_equal(frame_in_urdf(urdf, names, model=model)(q[:, swapped]), expected)
