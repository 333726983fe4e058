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


def test_positions_outside_the_limits_are_named_with_both_numbers():
    time = np.arange(500) * 0.01
    position = np.stack([1.5 * np.sin(time), np.sin(2.0 * time)], axis=1)
    limits = np.array([[-2.0, 2.0], [-1.2, 1.2]])
    assert not list(limit_findings(('a', 'b'), position, limits))
    (found,) = limit_findings(('a', 'b'), position + np.array([0.0, 0.5]), limits)
    assert (found.code, found.joint, found.severity) == ('outside_limits', 'b', 'warning')
    assert 'to 1.5;' in found.text and '-1.2 and 1.2' in found.text
    unknown = np.tile([-np.inf, np.inf], (2, 1))
    assert not list(limit_findings(('a', 'b'), 100.0 * position, unknown))


def test_the_joint_that_is_farthest_outside_for_its_range_is_named_first():
    position = np.array([[-1.0, 0.0, 0.0], [2.5, 0.16, 1.0]])
    limits = np.array([[-2.0, 2.0], [-0.1, 0.1], [-1.0, 1.0]])
    (found,) = limit_findings(('a', 'b', 'c'), position, limits)
    assert (found.code, found.joint) == ('outside_limits', 'b') and '(also a)' in found.text
