# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of recordings of the simulated cells, with drives in closed loop.

`python bench/bench_diagnosis_cells.py [ROBOT ...]` runs each robot's excitation program in
its cell, identifies, and prints the findings; exits with 1 if a finding has severity error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.robot_cell import RobotCell
from robodyn_ros.excitation.catalog import build_motion
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.recording import Recording
from robodyn_ros.robot_file import RobotFile, load_robot

ROOT = Path(__file__).resolve().parent.parent
ROBOTS = ('axis', 'scara3', 'scara', 'delta3', 'delta', 'six_axis', 'puma', 'puma#semi_static')
APPROACH = 3.0
"""Duration of the move to the start, in [s]."""


def file_of(name: str) -> RobotFile:
    """Return a robot file; the name may end in #VARIANT."""
    robot, _, variant = name.partition('#')
    return load_robot(f'{ROOT}/config/robots/{robot}.yaml#{variant}')


def model_of(name: str) -> DynamicModel:
    """Return the model of a robot file, or of its URDF."""
    file = file_of(name)
    return load_model(file.reference) if 'model' in file.content else robot_model(file.urdf)


def recorded(name: str, model: DynamicModel) -> Recording:
    """Return the recording of the excitation of a robot, without its ramps."""
    file = file_of(name)
    wanted = file.content['excitation']['motion']
    motion = build_motion({**wanted, 'joints': list(model.joint_names)})
    config = CellConfig.from_yaml(file.reference, profile='ideal')
    cell, period = RobotCell(config), config.servo_period
    time = np.arange(0.0, motion.duration, period)
    commands = motion.sample(time).position
    share = np.arange(0.0, APPROACH, period)[:, None] / APPROACH
    start, free = np.array(cell.state.position), np.zeros(len(model.joints))
    for command in start + share**3 * (10 - 15 * share + 6 * share**2) * (commands[0] - start):
        cell.step(command, free)
    states = [cell.step(command, free) for command in commands]
    kept = slice(int(2.0 / period), len(time) - int(1.0 / period))
    return Recording(
        time=time[kept],
        joints=model.joint_names,
        position=np.array([state.position for state in states])[kept],
        torque=np.array([state.torque for state in states])[kept],
        source=f'cell of {name}',
    )


def main() -> int:
    """Print the findings of every robot."""
    failed = False
    for name in sys.argv[1:] or ROBOTS:
        model = model_of(name)
        result = identify(recorded(name, model), model)
        found = [f'{item.severity} {item.code} {item.joint}' for item in result.findings]
        print(f'{name}: {"; ".join(found) or "no finding"}', flush=True)
        failed |= not result.success
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
