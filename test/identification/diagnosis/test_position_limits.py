# SPDX-License-Identifier: Apache-2.0
"""Position limits for the diagnosis: URDF, joint limits file, or both."""

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm

from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.diagnosis.position_limits import limit_findings, position_limits
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.models.serial.urdf_file import parse_urdf

SCARA = {'kind': 'scara', 'dynamic_model': 1, 'joints': ['a', 'b', 'c'],
         'geometry': {'L1': 0.3, 'L2': 0.25}}  # fmt: skip


def limits_file(folder, **joints):
    entries = {
        name: {'has_position_limits': True, 'min_position': low, 'max_position': high}
        for name, (low, high) in joints.items()
    }
    path = folder / 'limits.yaml'
    path.write_text(yaml.safe_dump({'joint_limits': entries}))
    return path


def urdf(lower, upper):
    return parse_urdf(
        '<robot name="r"><link name="base"/><link name="l"/><joint name="a" type="revolute">'
        '<parent link="base"/><child link="l"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="0" velocity="0"/></joint></robot>'
    )


def test_a_file_alone_limits_a_model_without_urdf(tmp_path):
    model = build_model(SCARA)
    assert position_limits(model) == {}
    path = limits_file(tmp_path, a=(-1.0, 2.0), c=(0.0, 0.2))
    assert position_limits(model, file=path) == {'a': (-1.0, 2.0), 'c': (0.0, 0.2)}
    with pytest.raises(ConfigError, match="has no joint 'd', it has: a, b, c"):
        position_limits(model, file=limits_file(tmp_path, d=(0.0, 1.0)))


def test_a_file_narrows_a_urdf(tmp_path):
    model = build_model(SCARA)
    assert position_limits(model, urdf(-1.0, 2.0)) == {'a': (-1.0, 2.0)}
    path = limits_file(tmp_path, a=(-3.0, 1.5))
    assert position_limits(model, urdf(-1.0, 2.0), path) == {'a': (-1.0, 1.5)}


def test_without_another_the_urdf_of_the_model_counts(tmp_path):
    model, _ = arm(random_urdf(2, 3, types=('revolute',)))
    body = rigid_part(model)
    assert body is not None
    known = body.urdf.position_limits
    assert len(known) == 2 and position_limits(model) == known
    name, (lower, upper) = next(iter(known.items()))
    path = limits_file(tmp_path, **{name: (lower - 1.0, upper - 0.01)})
    assert position_limits(model, file=path)[name] == pytest.approx((lower, upper - 0.01))


def test_positions_in_degrees_and_outside_the_limits_are_named_with_both_numbers():
    time = np.arange(500) * 0.01
    position = np.stack([1.5 * np.sin(time), np.sin(2.0 * time)], axis=1)
    limits = {'a': (-2.0, 2.0), 'b': (-1.2, 1.2)}
    assert not list(limit_findings(('a', 'b'), position, limits))
    (found,) = limit_findings(('a', 'b'), np.rad2deg(position), limits)
    assert (found.code, found.joint, found.severity) == ('positions_in_degrees', 'b', 'error')
    assert 'from -57.29 to 57.29' in found.text and 'are -1.2 and 1.2' in found.text
    (found,) = limit_findings(('a', 'b'), position + np.array([0.0, 0.5]), limits)
    assert (found.code, found.joint, found.severity) == ('outside_limits', 'b', 'warning')
    assert 'to 1.5;' in found.text and '-1.2 and 1.2' in found.text
    assert not list(limit_findings(('a', 'b'), 100.0 * position, {}))


@pytest.mark.parametrize('width', [4.0, 0.4])
@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_hundredth_of_the_range_beyond_a_limit_is_not_outside(width, side):
    position = 0.5 * width * side * np.array([[-0.9], [0.0], [1.0]])
    limits = {'a': (-0.5 * width, 0.5 * width)}
    assert not list(limit_findings(('a',), position + 0.009 * width * side, limits))
    (found,) = limit_findings(('a',), position + 0.011 * width * side, limits)
    assert found.code == 'outside_limits'


def test_only_joints_that_turn_can_be_in_degrees():
    time = np.arange(500) * 0.01
    position = np.stack([1.5 * np.sin(time), 0.5 * np.sin(2.0 * time)], axis=1)
    limits = {'a': (-2.0, 2.0), 'z': (0.0, 0.2)}
    (found,) = limit_findings(('a', 'z'), position, limits, {'z'})
    assert (found.code, found.joint) == ('outside_limits', 'z')
    position[:, 0] = np.rad2deg(position[:, 0])
    (found,) = limit_findings(('a', 'z'), position, limits, {'z'})
    assert (found.code, found.joint) == ('positions_in_degrees', 'a')


def test_the_joint_that_is_farthest_outside_for_its_range_is_named_first():
    position = np.array([[-1.0, 0.0, 0.0], [2.5, 0.16, 1.0]])
    limits = {'a': (-2.0, 2.0), 'b': (-0.1, 0.1), 'c': (-1.0, 1.0)}
    (found,) = limit_findings(('a', 'b', 'c'), position, limits)
    assert (found.code, found.joint) == ('outside_limits', 'b') and '(also a)' in found.text


def test_one_joint_with_another_zero_is_not_in_degrees_and_one_that_moves_too_far_is():
    time = np.arange(500) * 0.01
    position = 0.9 * np.sin(time[:, None] * [1.0, 2.0, 3.0])
    limits = dict.fromkeys('abc', (-2.0, 2.0))
    (found,) = limit_findings(('a', 'b', 'c'), position + 2 * np.pi * np.eye(3)[1], limits)
    assert (found.code, found.joint) == ('outside_limits', 'b')
    position[:, [0, 2]] *= 1e-4  # two joints rest at zero
    position[:, 1] = np.rad2deg(position[:, 1])
    (found,) = limit_findings(('a', 'b', 'c'), position, limits)
    assert (found.code, found.joint) == ('positions_in_degrees', 'b')
    at_rest = np.rad2deg([1.5, 1.0, 0.1]) + position * 1e-4
    (found,) = limit_findings(('a', 'b', 'c'), at_rest, limits)
    assert (found.code, found.joint) == ('positions_in_degrees', 'a')


@pytest.mark.parametrize(
    ('width', 'beyond', 'code'),
    [
        (4.0, 0.35, 'positions_in_degrees'),
        (4.0, 0.45, 'outside_limits'),  # a tenth of the range
        (0.2, 0.055, 'positions_in_degrees'),
        (0.2, 0.07, 'outside_limits'),  # a hundredth of a turn
    ],
)
def test_positions_in_degrees_lie_within_the_limits_when_converted(width, beyond, code):
    radians = np.linspace(-0.5 * width, 0.5 * width + beyond, 9)[:, None]
    (found,) = limit_findings(('a',), np.rad2deg(radians), {'a': (-0.5 * width, 0.5 * width)})
    assert found.code == code


@pytest.mark.parametrize(('joints', 'code'), [
    ('abc', 'positions_in_degrees'), ('abcd', 'outside_limits'),
])  # fmt: skip
def test_most_of_the_joints_at_rest_are_far_outside_in_degrees(joints, code):
    at_rest = np.tile(np.rad2deg([1.5, 1.0, 0.01, 0.01])[: len(joints)], (9, 1))
    limits = dict.fromkeys(joints, (-2.0, 2.0))
    (found,) = limit_findings(tuple(joints), at_rest, limits)
    assert (found.code, found.joint) == (code, 'a') and found.text.count('(also b)') == 1


def test_a_joint_beside_its_limit_hides_no_degrees():
    position = 1.5 * np.sin(np.arange(500)[:, None] * [0.01, 0.02])
    limits = {'a': (-2.0, 2.0), 'b': (-1.3, 1.7)}
    (found,) = limit_findings(('a', 'b'), position, limits)
    assert (found.code, found.joint) == ('outside_limits', 'b')
    (found,) = limit_findings(('a', 'b'), np.rad2deg(position), limits)
    assert found.code == 'positions_in_degrees'
