# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from robots import SIX_AXIS

from robodyn_ros.identification.fit.fit_report import FitReport
from robodyn_ros.identification.fit.success import (
    rated_torque,
    reference_torque,
    relative_error,
)
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


def report(rms, error, usual):
    rms, error, usual = (np.array(each, dtype=float) for each in (rms, error, usual))
    return replace(
        FitReport.empty('run', len(rms)),
        rms_error=error, joint_relative_residual=error / rms, usual_torque=usual,
    )  # fmt: skip


def test_an_error_is_relative_to_the_rms_torque_or_a_share_of_the_rating():
    found = report([300.0, 500.0, 200.0, 4.0, 20.0, 0.5], [30.0] * 3 + [1.0] * 3, [900.0] * 6)
    arm = robot_model(SIX_AXIS)
    reference = reference_torque(found, arm)
    np.testing.assert_allclose(reference, [300.0, 500.0, 200.0, 5.5, 20.0, 2.75])
    np.testing.assert_allclose(relative_error(found, arm), found.rms_error / reference)


@pytest.mark.parametrize('largest', [10.0, 20.0])
def test_a_rating_that_no_motion_comes_near_is_a_placeholder(largest):
    """A pure noise of 10 Nm would be small beside 5 % of 1100 Nm."""
    found = report([5.0] * 5 + [0.1], [5.0] * 5 + [0.1], [largest] * 6)
    np.testing.assert_allclose(reference_torque(found, robot_model(SIX_AXIS))[0], 5.0)
    assert relative_error(found, robot_model(SIX_AXIS))[0] == pytest.approx(1.0)
    assert reference_torque(found, robot_model(SIX_AXIS))[5] == pytest.approx(0.1 * largest)
