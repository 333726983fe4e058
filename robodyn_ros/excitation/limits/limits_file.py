# SPDX-License-Identifier: Apache-2.0
"""Joint limits from a YAML file in the form of MoveIt's joint_limits.yaml, on top of the URDF's.

    default_velocity_scaling_factor: 0.5          # optional, as is the one for acceleration
    joint_limits:
      joint1:
        has_position_limits: true
        min_position: -1.5                        # [rad] or [m]
        max_position: 1.5
        has_velocity_limits: true
        max_velocity: 2.0                         # [rad/s] or [m/s]
        has_acceleration_limits: true
        max_acceleration: 5.0
        has_jerk_limits: true
        max_jerk: 100.0
        has_effort_limits: true
        max_effort: 50.0                          # [Nm] or [N]

A limit is used when its `has_...` is true or not there; `false` leaves the URDF's limit as it is.
Of two limits the stricter one holds: a file can narrow a URDF, never widen it. In place of the
file, the folder of a MoveIt configuration may be named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import ConfigError, MotionError
from robodyn_ros.excitation.limits.joint_limits import QUANTITIES, JointLimits
from robodyn_ros.robot_file import read_part
from robodyn_ros.schema import Finite, convert


@dataclass(frozen=True)
class _Entry:
    """Limits of a joint; MoveIt's setup assistant writes 0 for one that is not there."""

    has_position_limits: bool = True
    has_velocity_limits: bool = True
    has_acceleration_limits: bool = True
    has_jerk_limits: bool = True
    has_effort_limits: bool = True
    min_position: Finite | None = None
    max_position: Finite | None = None
    max_velocity: Finite | None = None
    max_acceleration: Finite | None = None
    max_jerk: Finite | None = None
    max_effort: Finite | None = None


@dataclass(frozen=True)
class _Document:
    joint_limits: dict[str, Any]
    default_velocity_scaling_factor: Finite = 1.0
    default_acceleration_scaling_factor: Finite = 1.0


_VALUES = {
    'min_position': ('has_position_limits', 'lower'),
    'max_position': ('has_position_limits', 'upper'),
    **{
        f'max_{kind}': (f'has_{kind}_limits', kind)
        for kind in ('velocity', 'acceleration', 'jerk', 'effort')
    },
}


def load_limits(
    path: str | Path, base: JointLimits, *, others: Collection[str] = ()
) -> JointLimits:
    """Narrow limits by a file.

    :param path: of such a file, of a robot file with a section `limits`, or of a folder with
        `joint_limits.yaml` or `config/joint_limits.yaml`, as a MoveIt configuration has
    :param others: joints of the robot that are not moved, whose limits are ignored
    :raises ConfigError: the file cannot be read, is no YAML, or see `narrow_limits`
    """
    part = read_part(_find_file(path), 'limits', 'the joint limits file')
    document = {'joint_limits': part.content} if part.robot else part.content
    return narrow_limits(base, document, source=part.source, others=others)


def _find_file(path: str | Path) -> str | Path:
    """Return a file, or the file of a folder."""
    if not Path(path).is_dir():
        return path
    places = [Path(path) / name for name in ('joint_limits.yaml', 'config/joint_limits.yaml')]
    present = [place for place in places if place.is_file()]
    if not present:
        raise ConfigError(f'{path}: this folder has no joint_limits.yaml, also not in config/')
    return present[0]


def narrow_limits(
    base: JointLimits, document: object, *, source: str, others: Collection[str] = ()
) -> JointLimits:
    """Narrow limits by the content of such a file.

    :raises ConfigError: a key that means nothing, a joint the robot does not have, a value that
        is no number or not above zero, a `has_...` without its value
    """
    content = convert(document, _Document, source, ConfigError)
    arrays: dict[str, Any] = {name: np.array(getattr(base, name)) for name in QUANTITIES}
    unused = []
    for joint, entry in content.joint_limits.items():
        if joint not in base.joints and joint in others:
            continue
        if joint not in base.joints:
            raise ConfigError(
                f'{source}: the robot has no joint {joint!r}, it has: {", ".join(base.joints)}'
            )
        column = base.joints.index(joint)
        for name, value in _read_joint(entry, f'{source}: joint {joint!r}').items():
            stricter, known = max if name == 'lower' else min, arrays[name][column]
            arrays[name][column] = stricter(known, value)
            # rounded values of the same limit are no contradiction
            if arrays[name][column] != value and not np.isclose(known, value, rtol=0.01):
                unused.append(f'{joint} {name} {value:.4g} (URDF: {known:.4g})')
    try:
        arrays['unused'] = ', '.join(unused)
        return replace(base, **arrays).scale(
            velocity=content.default_velocity_scaling_factor,
            acceleration=content.default_acceleration_scaling_factor,
        )
    except MotionError as error:
        raise ConfigError(f'{source}: {error}') from error


def _read_joint(entry: object, where: str) -> dict[str, float]:
    """Return the limits of a joint that are used, by the names of `JointLimits`."""
    given = convert(entry, _Entry, where, ConfigError)
    result = {}
    for key, (flag, name) in _VALUES.items():
        value = getattr(given, key)
        if not getattr(given, flag):
            continue
        if value is None:
            if isinstance(entry, Mapping) and flag in entry:
                raise ConfigError(f'{where}: {flag} is true, but {key} is not given')
            continue
        if name not in ('lower', 'upper') and value <= 0.0:
            raise ConfigError(f'{where}: {key} must be above 0, got {value:g}')
        result[name] = value
    return result
