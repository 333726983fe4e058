# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from control_arm import small_arm

from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import SumModel
from robodyn_ros.nodes.robot.model_node import effort_limits, single

pytestmark = pytest.mark.ros


def test_effort_limits_come_from_the_urdf_in_the_model():
    model, _ = small_arm()
    assert effort_limits(model) == [100.0, 100.0]
    assert effort_limits(SumModel(parts=[model])) == [100.0, 100.0]
    assert effort_limits(FrictionModel(joints=model.joints)) == [0.0]


def test_one_value_stands_for_all_joints():
    assert single([0.5]) == 0.5
    np.testing.assert_array_equal(single([0.5, 0.6]), [0.5, 0.6])
