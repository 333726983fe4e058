# SPDX-License-Identifier: Apache-2.0
"""Recordings of the simulated cell without nodes: what its recorder would write."""

import ast
from functools import cache

import numpy as np
from writers import write_rosbag

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.recording.recording import Recording


def recorded(robot, motion, path):
    """Let the cell of a robot file follow a motion, and write its joint states as a bag."""
    declared = EffortDeclaration.from_file(robot).metadata()
    write_rosbag(_states(robot, repr(motion)), path, metadata=declared)


@cache
def _states(robot, text):
    """Simulate a motion once; pages have the same ones."""
    motion = ast.literal_eval(text)
    cell = RobotCell(CellConfig.from_yaml(robot))
    grid = build_motion({**motion, 'joints': list(cell.joints)}).grid(cell.period)
    zero = np.zeros(len(cell.joints))
    start = cell.plant.initial
    for share in np.linspace(
        0.0, 1.0, round(2.0 / cell.period)
    ):  # to the start, from rest to rest
        blend = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        cell.step(start + blend * (grid.position[0] - start), zero)
    states = [cell.step(position, zero) for position in grid.position]
    signals = {
        name: np.array([getattr(state, name) for state in states])
        for name in ('time', 'position', 'velocity', 'torque')
    }
    signals['time'] -= signals['time'][0]
    return Recording(joints=cell.joints, **signals)
