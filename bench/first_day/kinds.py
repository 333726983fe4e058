# SPDX-License-Identifier: Apache-2.0
"""The fake drivers: a simulated robot each, with the names, units and gravity of a driver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'config' / 'robots'
JTC = 'joint_trajectory_controller'
DRIVES = {
    'rated_torque': [3200.0, 3200.0, 2400.0, 800.0, 800.0, 400.0],    # mNm
    'gear_ratio': [121.0, 131.0, 111.0, 81.0, 81.0, 51.0],
    'direction': [1, -1, 1, 1, -1, 1],
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A driver and the robot that stands for its robot.

    :param robot: robot file of the user, with its variant; '': made from the simulated one
    :param simulated: robot of this package that is simulated
    :param motion: robot file with the motion, where the simulated robot needs another one
    :param friction: share of the friction that its effort has: sensors behind the gears
    :param reach: position limits of its joints, both signs, in [rad]; 0: as they are
    :param joints: pattern of the names of its joints -> names of the driver
    :param driver: section `driver` of the cell
    :param cell: further keys of section `cell`
    :param sections: further sections of the robot file of the user
    :param namespace: of all nodes
    :param joint_states: topic of the joint states
    :param additive: the driver takes additive torque
    """

    robot: str
    simulated: str
    joints: tuple[str, str] = ('(.*)', r'\1')
    driver: Mapping[str, Any] = field(default_factory=dict)
    cell: Mapping[str, Any] = field(default_factory=dict)
    sections: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ''
    joint_states: str = 'joint_states'
    additive: bool = True
    motion: str = ''
    friction: float = 1.0
    reach: float = 0.0

    @property
    def period(self) -> float:
        """Servo period, in [s]."""
        return float(self.cell.get('servo_period', 0.002))

    @property
    def controller(self) -> str:
        """Name of the trajectory controller."""
        return str(self.driver.get('controllers', {}).get(JTC, JTC))

    def name(self, joint: str) -> str:
        """Return the name of a joint with this driver."""
        return re.sub(rf'^{self.joints[0]}$', self._renamed, joint)

    def _renamed(self, match: re.Match[str]) -> str:
        text = match.expand(self.joints[1])
        return re.sub(r'\{(\d+)\+1\}', lambda found: str(int(found[1]) + 1), text)

    def plant(self, folder: Path) -> tuple[Path, Path]:
        """Write URDF and cell configuration of the simulated robot; return both paths."""
        given = yaml.safe_load((PACKAGE / f'{self.simulated}.yaml').read_text())
        text = (PACKAGE / given['urdf']).resolve().read_text()
        text = re.sub(r'(<joint name=")([^"]*)"', lambda m: f'{m[1]}{self.name(m[2])}"', text)
        if self.reach:
            text = re.sub(r'lower="[^"]*"', f'lower="{-self.reach}"', text)
            text = re.sub(r'upper="[^"]*"', f'upper="{self.reach}"', text)
        urdf, cell = folder / 'robot.urdf', folder / 'cell.yaml'
        urdf.write_text(text)
        # Ideal drives: it measures the links, which bend in their gears whatever the torque is.
        content = {**given['cell'], 'profile': 'ideal', **self.cell, 'driver': dict(self.driver)}
        content['joints'] = {
            self.name(joint): {
                key: value * self.friction if key.endswith('_friction') else value
                for key, value in row.items()
            }
            for joint, row in content['joints'].items()
        }
        cell.write_text(yaml.safe_dump(content))
        return urdf, cell

    def file(self, folder: Path) -> str:
        """Write the robot file of the user; return its reference, with the variant."""
        simulated = yaml.safe_load((PACKAGE / f'{self.simulated}.yaml').read_text())
        name, _, variant = self.robot.partition('#')
        given = yaml.safe_load((PACKAGE / f'{name}.yaml').read_text()) if name else simulated
        if self.motion:  # of links with another shape
            other = yaml.safe_load((PACKAGE / f'{self.motion}.yaml').read_text())
            given['excitation']['motion'] = other['excitation']['motion']
        given.pop('cell', None), given.pop('demo', None)
        given.update(urdf='', **self.sections)
        if not name:
            given['limits'] = {self.name(j): row for j, row in given['limits'].items()}
        if variant:
            given['variants'] = {variant: given['variants'][variant]}
            given['variants'][variant]['effort'].update(UR_CURRENT)
        path = folder / 'my_robot.yaml'
        path.write_text(yaml.safe_dump(given))
        return f'{path}#{variant}' if variant else str(path)


SCALED = {'controllers': {JTC: 'scaled_joint_trajectory_controller'}}
UR_JOINTS = [f'{name}_joint' for name in ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1',
                                          'wrist_2', 'wrist_3')]  # fmt: skip
UR_CURRENT = {'joints': UR_JOINTS, 'torque_constant': [0.12, 0.12, 0.11, 0.1, 0.1, 0.1]}
PER_CURRENT = [1.0 / (101.0 * constant) for constant in UR_CURRENT['torque_constant']]
PER_MILLE = (
    1e6 / np.array(DRIVES['rated_torque']) / DRIVES['gear_ratio'] * DRIVES['direction']
).tolist()
KINDS = {
    'ur': Kind(
        'ur10e', 'ur10', driver={**SCALED, 'gravity': 'excluded'}, additive=False,
    ),
    'ur_current': Kind(
        'ur10e#current', 'ur10', driver={**SCALED, 'effort_per_torque': PER_CURRENT},
        additive=False,
    ),
    'franka': Kind(
        'fr3', 'lwr4', (r'lwr_(\d)_joint', r'fr3_joint{\1+1}'),
        {'command_gravity': 'excluded', 'controllers': {JTC: 'fr3_arm_controller'}},
        joint_states='franka/joint_states',
        motion='lbr_iiwa14',
        friction=0.1,
        reach=3.1,
    ),
    'lbr': Kind(
        'lbr_iiwa14', 'lwr4', (r'lwr_(\d)_joint', r'lbr_A{\1+1}'),
        {'command_gravity': 'excluded'}, {'servo_period': 0.01, 'substeps': 20},
        namespace='/lbr',
    ),
    'ethercat': Kind(
        '', 'six_axis', driver={'effort_per_torque': PER_MILLE, 'command_per_torque': PER_MILLE},
        sections={'effort': {
            'joints': [f'joint{k}' for k in range(1, 7)], 'unit': 'permille_rated_torque',
            'side': 'motor', 'gravity': 'included', **DRIVES,
        }},
    ),
}  # fmt: skip
"""All kinds. Numbers of drives and torque constants are those of the fake robots."""
