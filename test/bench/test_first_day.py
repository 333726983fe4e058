# SPDX-License-Identifier: Apache-2.0
"""The fake drivers of bench.first_day, and the declarations of the robot files for them."""

import numpy as np
import pytest

from bench.first_day.kinds import KINDS
from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.effort.declaration import EffortDeclaration


@pytest.mark.parametrize('name', KINDS)
def test_the_robot_file_declares_what_the_driver_reports_and_takes(name, tmp_path):
    kind = KINDS[name]
    urdf, file = kind.plant(tmp_path)
    cell = RobotCell(CellConfig.from_yaml(file, urdf=str(urdf)))
    effort = EffortDeclaration.from_file(kind.file(tmp_path)).for_joints(cell.joints)
    position = np.full(len(cell.joints), 0.5)
    weight, torque = cell.plant.gravity(position), np.linspace(1.0, 2.0, len(cell.joints))
    assert np.abs(weight).max() > 10.0
    reported = cell._driver.effort(torque, position)
    expected = torque - effort.gravity_excluded * weight
    np.testing.assert_allclose(effort.feedback(reported.copy()), expected, rtol=1e-9)
    if kind.additive:
        offset = cell._driver.torque(effort.commands(torque[None])[0], position)
        added = effort.command_gravity_excluded * weight
        np.testing.assert_allclose(offset, torque + added, rtol=1e-9)
