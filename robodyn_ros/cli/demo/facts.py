# SPDX-License-Identifier: Apache-2.0
"""Facts of a robot for the demonstration: section `demo` of the robot file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from robodyn_ros.errors import ConfigError
from robodyn_ros.robot_file import RobotFile
from robodyn_ros.schema import Finite, Vector, convert

MOTIONS = ('validation', 'tracking')


@dataclass(frozen=True)
class PushFacts:
    """Push of the moving robot.

    :param force: force on its centre of mass, world frame, in [N]
    :param torque: torque on it, world frame, in [Nm]
    """

    link: Annotated[str, Meta(min_length=1)]
    force: Vector = (0.0, 0.0, 0.0)
    torque: Vector = (0.0, 0.0, 0.0)

    def __str__(self) -> str:
        parts = [f'{list(self.force)} N'] if any(self.force) else []
        parts += [f'{list(self.torque)} Nm'] if any(self.torque) else []
        return f'{self.link} with {" and ".join(parts)}'


@dataclass(frozen=True)
class Limits:
    """Limits of the figures.

    :param torque_error: largest torque error on another motion, relative to the RMS torque
    :param tracking_cut: smallest relative reduction of the tracking error by the additive torque
    :param alarm_latency: longest time from a push to its alarm, in [s]
    :param unmonitored: largest share of samples without monitoring in that motion
    """

    torque_error: Finite = 0.04
    tracking_cut: Finite = 0.7
    alarm_latency: Finite = 0.02
    unmonitored: Finite = 0.01


@dataclass(frozen=True)
class Facts:
    """Section `demo` of a robot file.

    :param validation: path of a motion file; of `tracking` too
    """

    pushes: Annotated[tuple[PushFacts, ...], Meta(min_length=1)]
    validation: Path
    tracking: Path
    limits: Limits = field(default_factory=Limits)

    @property
    def motions(self) -> Mapping[str, Path]:
        """Motions by their purpose."""
        return {'validation': self.validation, 'tracking': self.tracking}


def read_facts(robot: RobotFile) -> Facts:
    """Read section `demo` of a robot file.

    :raises ConfigError: it is missing, or an entry is unknown, missing or of the wrong form
    """
    where = f'{robot.path}: section demo'
    content = dict(robot.section('demo', 'the demonstration'))
    pushes, limits = content.get('pushes'), content.get('limits') or {}
    if isinstance(pushes, list):
        content['pushes'] = [
            _push(push, f'{where}: push {number}') for number, push in enumerate(pushes, 1)
        ]
    content['limits'] = convert(limits, Limits, f'{where}: limits', ConfigError)
    for name in MOTIONS:
        if isinstance(content.get(name), str):
            content[name] = Path(robot.file(content[name]))
    return convert(content, Facts, where, ConfigError)


def _push(value: Any, where: str) -> PushFacts:
    push = convert(value, PushFacts, where, ConfigError)
    if not any((*push.force, *push.torque)):
        raise ConfigError(f'{where}: a push needs a force or a torque')
    return push
