# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pinocchio as pin
import pytest
from robots import random_urdf

from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.kinematics import ScaraKinematics
from robodyn_ros.report.robot.bodies import bodies
from robodyn_ros.report.robot.capsules import capsules
from robodyn_ros.report.robot.poses import poses
from robodyn_ros.report.robot.view import robot_view
from robodyn_ros.report.source import ReportSignals

RANDOM = np.random.default_rng(4)


def test_poses_are_those_of_pinocchio():
    model = robot_model(random_urdf(5, 8, types=('revolute', 'prismatic')))
    tree, q = bodies(model), RANDOM.normal(size=(3, 5))
    other = pin.buildModelFromXML(model.parts[0].urdf.xml)
    data = other.createData()
    found = poses(tree, q)
    for sample in range(3):
        pin.forwardKinematics(other, data, q[sample])
        for number in range(5):
            np.testing.assert_allclose(found[sample, number], data.oMi[number + 1], atol=1e-12)


def test_a_scara_is_drawn_where_its_kinematics_has_it():
    geometry = {'L1': 0.4, 'L2': 0.3, 's4': -1.0, 'z_sense': -1.0}
    joints = ['a', 'b', 'c', 'd']
    model = build_model(
        {'kind': 'scara', 'dynamic_model': 1, 'joints': joints, 'geometry': geometry}
    )
    q = RANDOM.normal(size=(4, 4))
    wanted = ScaraKinematics(geometry=geometry, axes=4).forward(q)
    tip = poses(bodies(model), q)[:, 3]
    np.testing.assert_allclose(tip[:, :2, 3], wanted[:, :2], atol=1e-12)
    assert np.ptp(tip[:, 2, 3] - wanted[:, 2]) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(tip[:, 0, 0], np.cos(wanted[:, 3]), atol=1e-12)
    drawn = capsules(bodies(model), q)
    tool = next(each for each in drawn if each.body == 3 and not each.joint)
    assert tool.ends[1][2] < 0.0, 'its tool hangs down'
    assert {each.body for each in drawn if each.joint} == {0, 1, 2}, 'one marker for the quill'


def test_a_model_without_lengths_has_no_view():
    model = build_model({'kind': 'puma', 'dynamic_model': 1, 'joints': list('abcdef')})
    signals = ReportSignals(np.arange(9.0), *(np.zeros((9, 6)) for _ in range(5)))
    assert robot_view(model, signals) is None
