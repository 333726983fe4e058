# SPDX-License-Identifier: Apache-2.0
"""Limits in degrees, and limits of a file without effect."""

from pathlib import Path

import numpy as np
import pytest
from motions import limits

from robodyn_ros.excitation.limits.doubts import find_doubts
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits, narrow_limits
from robodyn_ros.models.serial.urdf_file import parse_urdf, read_urdf
from robodyn_ros.robot_file import load_robot

ROOT = Path(__file__).parents[3]


def of_urdf(limit, kind='revolute'):
    """Return the limits of a URDF with one joint."""
    return JointLimits.from_urdf(
        parse_urdf(
            f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">'
            f'<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit {limit} effort="1"/>'
            '</joint></robot>'
        )
    )


@pytest.mark.parametrize(
    ('limit', 'words'),
    [
        ('lower="-170" upper="170" velocity="98"', 'j: range 340 rad, velocity 98 rad/s. Are'),
        ('lower="-170" upper="170" velocity="1.7"', 'j: range 340 rad. Are'),
        ('lower="-2.97" upper="2.97" velocity="98"', 'j: velocity 98 rad/s. Are'),
        ('lower="-20" upper="20" velocity="3"', 'j: range 40 rad. Are'),
    ],
)
def test_limits_in_degrees_give_one_sentence(limit, words):
    (text,) = find_doubts(of_urdf(limit))
    assert text.startswith('limits that hardly any joint has: ') and words in text
    assert 'in degrees' in text


@pytest.mark.parametrize(
    ('limit', 'kind'),
    [
        ('lower="-12.57" upper="12.57" velocity="45"', 'revolute'),
        ('lower="-0.95" upper="0.95" velocity="52.4"', 'revolute'),
        ('lower="-1e16" upper="1e16" velocity="3"', 'revolute'),
        ('lower="-7" upper="7" velocity="75"', 'revolute'),
        ('velocity="98"', 'continuous'),
        ('lower="0" upper="100" velocity="98"', 'prismatic'),
    ],
)
def test_wrists_motors_and_endless_joints_give_none(limit, kind):
    assert list(find_doubts(of_urdf(limit, kind))) == []


def test_an_acceleration_in_degrees_is_noticed():
    base = of_urdf('lower="-2.97" upper="2.97" velocity="1.71"')
    given = {'joint_limits': {'j': {'max_velocity': 98, 'max_acceleration': 300}}}
    first, second = find_doubts(narrow_limits(base, given, source='f.yaml'))
    assert 'j: acceleration 300 rad/s^2. Are' in first
    assert second == (
        'limits without effect, because the URDF has stricter ones: j velocity 98 (URDF: 1.71)'
    )
    given['joint_limits']['j'] = {'max_velocity': 1.7, 'max_acceleration': 15.0}
    assert list(find_doubts(narrow_limits(base, given, source='f.yaml'))) == []


def test_rounded_limits_of_the_urdf_have_no_remark():
    given = {'joint_limits': {'a': {'max_velocity': 3.01, 'min_position': -3.0}}}
    assert narrow_limits(limits(), given, source='f.yaml').unused == ''
    given = {'joint_limits': {'a': {'min_position': -170, 'max_position': 1.0}}}
    found = narrow_limits(limits(), given, source='f.yaml').select(['a'])
    assert found.unused == 'a lower -170 (URDF: -3)' and np.array_equal(found.upper, [1.0])


@pytest.mark.parametrize('robot', sorted((ROOT / 'config' / 'robots').glob('*.yaml')))
def test_robots_of_this_package_give_none(robot):
    file = load_robot(robot)
    if not file.urdf or 'xacro' in file.urdf or file.urdf.startswith('package://'):
        pytest.skip('its URDF is in another package')
    urdf = read_urdf(file.urdf)
    found = JointLimits.from_urdf(urdf)
    if 'limits' in file.content:
        found = load_limits(file.path, found, others=[joint.name for joint in urdf.joints])
    assert list(find_doubts(found)) == []
