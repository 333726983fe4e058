# SPDX-License-Identifier: Apache-2.0
"""Driver of the robot: meaning of efforts between ROS and the drives of the cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import CellError

Array = NDArray[np.float64]
WORDS = ('included', 'excluded')


@dataclass(frozen=True)
class DriverConfig:
    """Section `driver` of a cell; the default reports and takes Nm or N with gravity.

    These are factors, not the words of section `effort` of the robot file, so that the cell is an
    independent check of that declaration.

    :param gravity: gravity torque in the effort of joint states, from `WORDS`
    :param command_gravity: the same in effort commands; excluded: the robot adds it
    :param effort_per_torque: effort in joint states per Nm or N at the joint, one or one per joint
    :param command_per_torque: effort command per Nm or N at the joint, one or one per joint
    :param controllers: name of a controller of the cell -> its name with this driver
    """

    gravity: str = 'included'
    command_gravity: str = 'included'
    effort_per_torque: Sequence[float] = (1.0,)
    command_per_torque: Sequence[float] = (1.0,)
    controllers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], where: str) -> DriverConfig:
        """Build from plain values, as in a YAML file.

        :raises CellError: an unknown entry, or one that cannot be used
        """
        known = [item.name for item in fields(cls)]
        for name, value in content.items():
            if name not in known:
                raise CellError(f'{where}: unknown entry {name!r}, expected some of {known}')
            if name.endswith('gravity') and value not in WORDS:
                raise CellError(f'{where}: {name} must be one of {WORDS}, got {value!r}')
        factors = {
            name: _factors(content[name], f'{where}: {name}')
            for name in known
            if name in content and name.endswith('per_torque')
        }
        return cls(**{**content, **factors, 'controllers': _names(content, where)})

    def controller(self, name: str) -> str:
        """Return the name of a controller of the cell with this driver."""
        return self.controllers.get(name, name)


class Driver:
    """Conversion between efforts in ROS messages and torque at the joints; arrays (n,)."""

    def __init__(
        self, config: DriverConfig, joints: Sequence[str], gravity: Callable[[Array], Array]
    ) -> None:
        """Check the number of factors.

        :param gravity: from positions to gravity torque in [Nm] or [N]
        :raises CellError: as many factors as the robot has joints are needed, or one
        """
        self._effort = _broadcast('effort_per_torque', config.effort_per_torque, joints)
        self._command = _broadcast('command_per_torque', config.command_per_torque, joints)
        self._reports_gravity = config.gravity == 'included'
        self._adds_gravity = config.command_gravity == 'excluded'
        self._gravity = gravity

    def torque(self, command: Array, position: Array) -> Array:
        """Return the torque offset of the drives in [Nm] or [N].

        :param command: effort command as the driver takes it
        :param position: measured, in [rad] or [m]
        """
        torque: Array = command / self._command
        return torque + self._gravity(position) if self._adds_gravity else torque

    def effort(self, torque: Array, position: Array) -> Array:
        """Return the effort of joint states for a measured motor torque in [Nm] or [N]."""
        if not self._reports_gravity:
            torque = torque - self._gravity(position)
        effort: Array = torque * self._effort
        return effort


def _factors(value: Any, where: str) -> tuple[float, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    for item in values:
        number = isinstance(item, (int, float)) and not isinstance(item, bool)
        if not number or not np.isfinite(item) or item == 0.0:
            raise CellError(f'{where} must be a number other than 0, or a list, got {item!r}')
    return tuple(float(item) for item in values)


def _names(content: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the names of controllers."""
    given = content.get('controllers', {})
    words = (*given, *given.values()) if isinstance(given, Mapping) else (None,)
    if not all(isinstance(word, str) and word for word in words):
        raise CellError(f'{where}: controllers must be a mapping of names to names, got {given!r}')
    return dict(given)


def _broadcast(name: str, values: Sequence[float], joints: Sequence[str]) -> Array:
    if len(values) not in (1, len(joints)):
        raise CellError(
            f'driver: {name} needs one number, or one for each of the {len(joints)} joints '
            f'{list(joints)}, got {len(values)}'
        )
    return np.broadcast_to(np.array(values, dtype=float), (len(joints),))
