# SPDX-License-Identifier: Apache-2.0
import numpy as np
from robots import SIX_AXIS

from robodyn_ros.identification.fit.success import rated_torque, success_rule
from robodyn_ros.models.catalog import build_model, robot_model


def test_the_rated_torque_is_the_effort_of_the_urdf_or_the_largest_of_the_recording():
    arm = robot_model(SIX_AXIS)
    assert rated_torque(arm, np.ones(6)).tolist() == [1100.0, 1400.0, 650.0, 110.0, 100.0, 55.0]
    scara = build_model({
        'kind': 'scara', 'dynamic_model': 1, 'joints': [f'joint{k}' for k in range(1, 5)],
        'geometry': {'L1': 0.3, 'L2': 0.25},
    })  # fmt: skip
    # joint 3 is linear: newtons are not compared with newton metres
    found = rated_torque(scara, np.array([40.0, 20.0, 90.0, 3.0]))
    assert found.tolist() == [40.0, 40.0, 90.0, 40.0]


def test_the_rule_is_that_of_the_kind_of_model():
    arm = robot_model(SIX_AXIS)
    assert [success_rule(rule, arm) for rule in ('auto', 'softmc')] == ['torque', 'softmc']
    axis = build_model({'kind': 'axis', 'joints': ['j'], 'type': 'rotary', 'dynamic_model': 1})
    assert [success_rule(rule, axis) for rule in ('auto', 'torque')] == ['softmc', 'torque']
