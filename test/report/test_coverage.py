# SPDX-License-Identifier: Apache-2.0
"""Limits of the joints from URDF, robot file, or both."""

import numpy as np
import pytest
from robots import UR10

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.report.coverage import coverage, list_limits
from robodyn_ros.report.source import ReportSignals

SCARA = {'kind': 'scara', 'dynamic_model': 1, 'joints': ['a', 'b', 'c'],
         'geometry': {'L1': 0.3, 'L2': 0.25}}  # fmt: skip


def urdf(limit='lower="-1" upper="2" effort="1" velocity="3"'):
    return parse_urdf(
        '<robot name="r"><link name="base"/><link name="l"/><joint name="a" type="revolute">'
        f'<parent link="base"/><child link="l"/><limit {limit}/></joint></robot>'
    )


def test_accelerations_come_from_the_robot_file_which_narrows_the_urdf():
    model, robot = robot_model(UR10), UR10.parents[1] / 'config' / 'robots' / 'ur10.yaml'
    alone = list_limits(model)['elbow_joint']
    assert alone.keys() == {'position', 'velocity'} and alone['velocity'][1] > 3.0
    both = list_limits(model, file=robot)['elbow_joint']
    assert both['acceleration'] == (-5.0, 5.0) and both['velocity'] == (-3.0, 3.0)
    assert both['position'] == alone['position']


def test_a_model_without_urdf_has_the_limits_of_the_urdf_beside_it(tmp_path):
    model, path = build_model(SCARA), tmp_path / 'joint_limits.yaml'
    assert list_limits(model) == {'a': {}, 'b': {}, 'c': {}}
    found = list_limits(model, urdf())
    assert found == {'a': {'position': (-1.0, 2.0), 'velocity': (-3.0, 3.0)}, 'b': {}, 'c': {}}
    assert list_limits(model, urdf('lower="0" upper="0" effort="0" velocity="0"'))['a'] == {}
    path.write_text('joint_limits: {c: {max_acceleration: 7}}')
    assert list_limits(model, urdf(), path)['c'] == {'acceleration': (-7.0, 7.0)}
    path.write_text('joint_limits: {d: {max_acceleration: 7}}')
    with pytest.raises(ConfigError, match="no joint 'd'"):
        list_limits(model, urdf(), path)


def test_coverage_is_the_share_of_these_limits():
    model, samples = build_model(SCARA), np.linspace(-1.0, 1.0, 9)[:, None] * np.ones(3)
    signals = ReportSignals(np.arange(9.0), *(samples for _ in range(5)))
    limits = {'b': {'acceleration': [-4.0, 4.0]}}
    rows = {(row['joint'], row['quantity']): row for row in coverage(model, signals, limits)}
    row = rows['b', 'acceleration']
    assert (row['low'], row['high'], row['used']) == (-4.0, 4.0, 0.25)
    assert (row['start'], row['end']) == (-4.0, 4.0)
    assert rows['a', 'acceleration']['used'] is None
