# SPDX-License-Identifier: Apache-2.0
"""Facts of a robot for the demonstration: section `demo` of the robot file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from robodyn_ros.errors import ConfigError
from robodyn_ros.robot_file import RobotFile

MOTIONS = ('validation', 'tracking')


@dataclass(frozen=True)
class PushFacts:
    """Push of the moving robot.

    :param force: force on its centre of mass, world frame, in [N]
    :param torque: torque on it, world frame, in [Nm]
    """

    link: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __str__(self) -> str:
        """Return the push as text."""
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

    torque_error: float = 0.04
    tracking_cut: float = 0.7
    alarm_latency: float = 0.02
    unmonitored: float = 0.01


@dataclass(frozen=True)
class Facts:
    """Facts of one robot."""

    pushes: tuple[PushFacts, ...]
    motions: Mapping[str, Path]
    limits: Limits = field(default_factory=Limits)


def read_facts(robot: RobotFile) -> Facts:
    """Read section `demo` of a robot file.

    :raises ConfigError: it is missing, or an entry is unknown, missing or of the wrong form
    """
    where = f'{robot.path}: section demo'
    content = _mapping(
        robot.section('demo', 'the demonstration'), ('pushes', 'limits', *MOTIONS), where
    )
    pushes = content.get('pushes')
    if not isinstance(pushes, list) or not pushes:
        raise ConfigError(f'{where}: pushes must be a list with at least one push, got {pushes!r}')
    return Facts(
        tuple(_push(push, f'{where}: push {number}') for number, push in enumerate(pushes, 1)),
        {name: _motion(robot, content.get(name), f'{where}: {name}') for name in MOTIONS},
        _limits(content.get('limits') or {}, f'{where}: limits'),
    )


def _motion(robot: RobotFile, name: Any, where: str) -> Path:
    if not isinstance(name, str):
        raise ConfigError(f'{where} must be the path of a motion file, got {name!r}')
    return Path(robot.file(name))


def _push(value: Any, where: str) -> PushFacts:
    push = _mapping(value, [item.name for item in fields(PushFacts)], where)
    if not isinstance(push.get('link'), str) or not push['link']:
        raise ConfigError(f'{where}: link must name a body, got {push.get("link")!r}')
    vectors = {name: _vector(push[name], f'{where}: {name}') for name in push if name != 'link'}
    if not any(any(vector) for vector in vectors.values()):
        raise ConfigError(f'{where}: a push needs a force or a torque')
    return PushFacts(push['link'], **vectors)


def _limits(value: Any, where: str) -> Limits:
    values = _mapping(value, [item.name for item in fields(Limits)], where)
    return Limits(**{name: _number(number, f'{where}: {name}') for name, number in values.items()})


def _vector(value: Any, where: str) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != 3:
        raise ConfigError(f'{where} must be three numbers, got {value!r}')
    x, y, z = (_number(number, where) for number in value)
    return x, y, z


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigError(f'{where}: expected a number, got {value!r}')
    return float(value)


def _mapping(value: Any, known: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f'{where}: expected names with values, got {value!r}')
    for name in value:
        if name not in known:
            raise ConfigError(f'{where}: unknown entry {name!r}, expected some of {list(known)}')
    return value
