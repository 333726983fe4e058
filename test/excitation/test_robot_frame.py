"""Limits and the drawn frame of a model."""

import numpy as np
from published import robot

from robodyn_ros.excitation.constraints import frame_points
from robodyn_ros.excitation.robot_frame import model_limits, shown_frame
from robodyn_ros.models.catalog import build_model, with_friction

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
        np.testing.assert_array_equal(shown_frame(PUMA, asked)(q), expected)
    tool = shown_frame(SCARA)(np.zeros((1, 4)))[0, 0]
    np.testing.assert_allclose(tool[:2], [0.5, 0.0], atol=1e-12)
    assert shown_frame(AXIS) is None and shown_frame(PUMA, ['hand']) is None
