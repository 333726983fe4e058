# SPDX-License-Identifier: Apache-2.0
"""The softMC document's example programs, on our simulated robots and without ROS.

`make demo` runs them, and identifies the models.
"""

from pathlib import Path

import numpy as np
import pytest

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.excitation.catalog import build_motion, load_motion
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.robot_file import load_robot

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'config'
ROBOT_FILES = CONFIG / 'robots'
DEGREES = np.pi / 180
ROBOTS = ('axis', 'scara3', 'scara', 'delta3', 'delta', 'puma')
RATIOS = (1, 1.27, 1.43, 1.13)
PUMA = (1.56, 1, 1.31, 1.47, 1.21, 1.17)
TURNING = {
    'axis': ([-350], [350], [1.5]),
    'scara': ([-160, -160, 0, -350], [160, 160, 0.15 / DEGREES, 350], 0.3 * np.array(RATIOS)),
    'delta': ([-30, -30, -30, -350], [70, 70, 70, 350], 0.3 * np.array(RATIOS)),
    'puma': (
        [-100, -170, 100, -60, -60, -100],
        [100, -40, 235, 60, 60, 100],
        0.15 * np.array(PUMA),
    ),
}
"""From the document: start, target in degrees (0.15 m for the quill), frequencies in Hz."""


def parameters(node, name):
    """Section of a robot file; the name may end in #VARIANT."""
    robot, _, variant = name.partition('#')
    return load_robot(f'{ROBOT_FILES}/{robot}.yaml#{variant}').content[node]


def program(name, joints, **changes):
    return build_motion({**parameters('excitation', name)['motion'], 'joints': joints, **changes})


def limits(robot):
    urdf = parse_urdf((ROOT / 'urdf' / f'{robot}.urdf').read_text(), source=robot)
    return load_limits(ROBOT_FILES / f'{robot}.yaml', JointLimits.from_urdf(urdf))


@pytest.mark.parametrize('name', [*ROBOTS, 'puma#semi_static'])
def test_program_is_the_documents_and_keeps_a_margin_to_the_limits(name):
    robot = name.removesuffix('#semi_static')
    bounds = limits(robot)
    motion = program(name, bounds.joints)
    count = len(bounds.joints)
    start, target, frequency = (np.array(row)[:count] for row in TURNING[robot.rstrip('3')])
    if name != robot:
        frequency = frequency * (0.02 / 0.15)
    np.testing.assert_allclose(motion.start, start * DEGREES, rtol=1e-5)
    np.testing.assert_allclose(motion.target, target * DEGREES, rtol=1e-5)
    np.testing.assert_allclose(motion.frequency, frequency, rtol=1e-12)
    assert motion.duration - motion.lead_in - motion.lead_out == (20.0 if name == robot else 120.0)
    assert motion.lead_in == 2.0
    room = bounds.upper - bounds.lower
    assert (np.minimum(start, target) * DEGREES > bounds.lower + 0.02 * room).all()
    assert (np.maximum(start, target) * DEGREES < bounds.upper - 0.02 * room).all()
    check_motion(motion, bounds.scale(velocity=0.9, acceleration=0.9))
    if robot != 'puma':  # its gears resonate below the document's 80 Hz
        assert parameters('identification', name)['filter_cutoff_frequency'] == 80.0


@pytest.mark.parametrize('robot', ROBOTS)
def test_motions_and_lists_fit_the_robot(robot):
    bounds = limits(robot)
    for what in ('validation', 'tracking'):
        check_motion(load_motion(CONFIG / 'motions' / f'{robot}_{what}.yaml'), bounds)
    axes = RobotCell(CellConfig.from_yaml(ROBOT_FILES / f'{robot}.yaml')).axes
    feedforward = parameters('feedforward', robot)
    np.testing.assert_array_equal(feedforward['max_torque'], axes['max_torque'])
    np.testing.assert_array_equal(feedforward['max_torque'], bounds.effort)
    monitor = parameters('collision_monitor', robot)
    np.testing.assert_allclose(monitor['max_torque_error'], 0.1 * axes['rated_torque'])
    for lists in (feedforward, monitor):
        for key in ('velocity_window', 'contact_threshold', 'low_velocity', 'low_velocity_torque'):
            assert len(lists.get(key, [0])) in (1, len(bounds.joints))
