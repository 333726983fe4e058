# SPDX-License-Identifier: Apache-2.0
"""One call designs a motion within the limits that are given in any form."""

import numpy as np
import pytest
from robots import SINGLE_ROTARY_AXIS

from robodyn_ros.errors import ConfigError, MotionError
from robodyn_ros.excitation.design_motion import design_motion
from robodyn_ros.excitation.limits.joint_limits import check_motion
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.models.catalog import load_model

MODEL = load_model(SINGLE_ROTARY_AXIS)
NAME = MODEL.joint_names[0]
QUICK = {'duration': 3.0, 'harmonics': 2, 'starts': 2, 'time': 20.0}
SLOW = {'joint_limits': {NAME: {'max_velocity': 0.5, 'max_acceleration': 1.0}}}


def reached(trajectory):
    motion = trajectory.grid(0.01)
    return np.abs(motion.velocity).max(), np.abs(motion.acceleration).max()


def test_limits_are_those_of_the_urdf_with_slow_accelerations_by_default():
    motion = design_motion(MODEL, **QUICK).trajectory
    limits = model_limits(MODEL).with_default_acceleration()
    assert motion.joints == MODEL.joint_names and motion.duration == 3.0
    check_motion(motion, limits)
    assert reached(motion)[0] > 0.2 * limits.velocity[0]


@pytest.mark.parametrize('form', ['mapping', 'file', 'limits'])
def test_limits_narrow_the_motion_in_every_form(tmp_path, form):
    limits = SLOW
    if form == 'file':
        limits = tmp_path / 'joint_limits.yaml'
        limits.write_text(
            f'joint_limits: {{{NAME}: {{max_velocity: 0.5, max_acceleration: 1.0}}}}'
        )
    elif form == 'limits':
        limits = model_limits(MODEL).with_default_acceleration().scale(velocity=0.05)
    velocity, acceleration = reached(design_motion(MODEL, limits, **QUICK).trajectory)
    if form == 'limits':
        assert velocity <= limits.velocity[0] * (1.0 + 1e-9)
    else:
        assert velocity <= 0.5 * (1.0 + 1e-9) and acceleration <= 1.0 + 1e-9


def test_progress_is_reported_and_cancel_ends_the_search():
    seen = []
    result = design_motion(
        MODEL, SLOW, progress=lambda share, value: seen.append(share), cancel=lambda: True, **QUICK
    )
    assert not result.complete and seen and 0.0 <= seen[-1] <= 1.0


def test_bad_limits_and_options_are_named():
    with pytest.raises(ConfigError, match="limits: the robot has no joint 'elbow'"):
        design_motion(MODEL, {'joint_limits': {'elbow': {'max_velocity': 1.0}}})
    with pytest.raises(MotionError, match="no option 'color'"):
        design_motion(MODEL, SLOW, color=1)
