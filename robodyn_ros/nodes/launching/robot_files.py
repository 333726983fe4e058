"""Which files of this package belong to a robot, and which of its nodes reads which."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.base.common import resource

NODES = ('cell', 'excitation', 'recorder', 'identification', 'feedforward', 'collision_monitor')

OWN_FORM = {'cell': ('cell', 'config'), 'identification': ('model', 'model_file')}
"""Node -> KIND of a config/KIND_ROBOT.yaml that is no ROS parameter file, and the parameter of
the node that names it."""

NO_EFFORT = ('cell',)
"""Nodes that do not ask what the robot's effort means: the cell is the robot."""

SENDERS = ('excitation', 'feedforward')
"""Nodes that publish trajectories, which may be large: see config/fastdds.xml."""

PROFILE = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name a profile of Fast DDS; the second one is the older name."""


def environment(node: str) -> dict[str, str]:
    """Variables to start a node with: the profile for large messages, unless one is set."""
    if node not in SENDERS or any(name in os.environ for name in PROFILE):
        return {}
    return {PROFILE[0]: str(_folder('config') / 'fastdds.xml')}


@dataclass(frozen=True)
class RobotFiles:
    """urdf/ROBOT.urdf and config/*_ROBOT.yaml of this package.

    :param robot: '' is a robot of which this package knows nothing
    :param variant: config/NODE_ROBOT_VARIANT.yaml are read on top, and a model of it in place of
        the robot's
    :param effort: file that declares the effort, in place of config/effort_ROBOT.yaml
    """

    robot: str
    variant: str = ''
    effort: str = ''

    def check(self) -> None:
        """Make sure that there are such a robot and variant.

        :raises ConfigError: there are none; listing what there is
        """
        if self.robot and not self._urdf.is_file():
            known = ', '.join(sorted(path.stem for path in _folder('urdf').glob('*.urdf')))
            raise ConfigError(
                f'there is no robot {self.robot!r} in this package, only {known}: give '
                f'urdf:=FILE, and no robot, for a robot of your own'
            )
        if self.variant and not any(self._of_variant.config(node) for node in NODES):
            raise ConfigError(
                f'robot {self.robot!r} has no variant {self.variant!r}: there is no '
                f'config/NODE_{self.robot}_{self.variant}.yaml'
            )

    @property
    def urdf(self) -> Path:
        """Its URDF.

        :raises ConfigError: as `check`
        """
        self.check()
        return self._urdf

    def config(self, kind: str) -> Path | None:
        """Path of config/KIND_ROBOT.yaml; None: there is none."""
        path = _folder('config') / f'{kind}_{self.robot}.yaml'
        return path if self.robot and path.is_file() else None

    def parameter_files(self, node: str) -> list[Path]:
        """ROS parameter files for a node; what comes later wins."""
        found: list[Path | None] = []
        if node not in NO_EFFORT:
            found.append(Path(self.effort) if self.effort else self.config('effort'))
        if OWN_FORM.get(node, ('',))[0] != node:
            found.append(self.config(node))
            found.append(self._of_variant.config(node) if self.variant else None)
        return [path for path in found if path is not None]

    def parameters(self, node: str) -> dict[str, str]:
        """Parameters of a node that name its files of other forms."""
        kind, parameter = OWN_FORM.get(node, ('', ''))
        # a parameter holds one file, so that of the variant comes in its place
        path = (self._of_variant.config(kind) if self.variant else None) or self.config(kind)
        return {} if path is None else {parameter: str(path)}

    @property
    def _urdf(self) -> Path:
        return _folder('urdf') / f'{self.robot}.urdf'

    @property
    def _of_variant(self) -> RobotFiles:
        return replace(self, robot=f'{self.robot}_{self.variant}', variant='')


def _folder(name: str) -> Path:
    return resource(f'package://robodyn_ros/{name}')
