# SPDX-License-Identifier: Apache-2.0
"""Driver of the robot: meaning of efforts between ROS and the drives of the cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from robodyn_ros.errors import CellError
from robodyn_ros.schema import Finite, convert

Array = NDArray[np.float64]
Name = Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True)
class DriverConfig:
    """Section `driver` of a cell; the default reports and takes Nm or N with gravity.

    These are factors, not the words of section `effort` of the robot file, so that the cell is an
    independent check of that declaration.

    :param gravity: gravity torque in the effort of joint states
    :param command_gravity: the same in effort commands; excluded: the robot adds it
    :param effort_per_torque: effort in joint states per Nm or N at the joint, one or one per joint
    :param command_per_torque: effort command per Nm or N at the joint, one or one per joint
    :param controllers: name of a controller of the cell -> its name with this driver
    """

    gravity: Literal['included', 'excluded'] = 'included'
    command_gravity: Literal['included', 'excluded'] = 'included'
    effort_per_torque: Finite | list[Finite] = 1.0
    command_per_torque: Finite | list[Finite] = 1.0
    controllers: Mapping[str, Name] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], where: str) -> DriverConfig:
        """Build from plain values, as in a YAML file.

        :raises CellError: an unknown entry, or one that cannot be used
        """
        config = convert(content, cls, where, CellError)
        for name in ('effort_per_torque', 'command_per_torque'):
            if not np.all(getattr(config, name)):
                raise CellError(f'{where}: {name} must not be 0, got {content[name]!r:.60}')
        return config

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


def _broadcast(name: str, given: float | Sequence[float], joints: Sequence[str]) -> Array:
    values = np.atleast_1d(np.asarray(given, dtype=float))
    if len(values) not in (1, len(joints)):
        raise CellError(
            f'driver: {name} needs one number, or one for each of the {len(joints)} joints '
            f'{list(joints)}, got {len(values)}'
        )
    return np.broadcast_to(values, (len(joints),))
