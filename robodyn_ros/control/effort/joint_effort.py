# SPDX-License-Identifier: Apache-2.0
"""Conversion of effort fields to Nm or N at the joint and back, for fixed joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.effort.units import Drives
from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Array, Joint

UNITS = ('Nm', 'N', 'A', 'permille_rated_current', 'permille_rated_torque', 'SI', 'raw')
"""Units of an effort; SI: Nm or N, depending on the joint; raw: any other, such as counts, whose
torque or force constant is that per unit."""
SIDES = ('joint', 'motor')
GRAVITY = ('included', 'excluded')
NEEDS = {
    'A': ('constant',),
    'permille_rated_current': ('rated_current', 'constant'),
    'permille_rated_torque': ('rated_torque',),
    'raw': ('constant',),
}
"""Drive facts that a unit requires; constant: the torque or the force constant."""
INT16 = float(np.iinfo(np.int16).max)
"""Largest value of a per mille object; drivers cast to int16 without a check."""


class EffortConversion:
    """Conversion for n joints in a fixed order.

    :ivar scale: Nm or N at the joint per unit of the effort field, shape (n,)
    :ivar gravity_excluded: joints whose effort excludes gravity, bool of shape (n,)
    :ivar command_gravity_excluded: joints to whose commands the robot adds gravity, bool of
        shape (n,)
    """

    def __init__(
        self,
        joints: Sequence[str],
        *,
        unit: Sequence[str],
        command_unit: Sequence[str],
        side: Sequence[str],
        gravity: Sequence[str],
        command_gravity: Sequence[str] | None = None,
        direction: ArrayLike,
        drives: Drives,
    ) -> None:
        """Compute the factors; all sequences have one entry per joint.

        :param unit: of the effort field of joint states, from `UNITS`
        :param command_unit: of the effort commands, from `UNITS`
        :param side: side on which the torque acts, from `SIDES`
        :param gravity: inclusion of the gravity torque, from `GRAVITY`
        :param command_gravity: the same for effort commands; None: as `gravity`
        :param direction: 1, or -1 if a positive effort drives the joint backwards
        :raises ConfigError: a fact is missing for a unit, or does not fit it
        """
        self.joints = tuple(joints)
        self.unit, self.command_unit, self.side = tuple(unit), tuple(command_unit), tuple(side)
        self.gravity = tuple(gravity)
        self.command_gravity = self.gravity if command_gravity is None else tuple(command_gravity)
        self.gravity_excluded, self.command_gravity_excluded = (
            np.array([word == 'excluded' for word in words])
            for words in (self.gravity, self.command_gravity)
        )
        self.direction = np.asarray(direction, dtype=float)
        self.drives = drives
        drives.check(self.joints)
        self.scale = self._scales(self.unit)
        self._per_torque = 1.0 / self._scales(self.command_unit)
        permille = np.array([word.startswith('permille') for word in self.command_unit])
        self.command_limit = np.where(permille, INT16, np.inf)
        self.feedback_is_si = bool((self.scale == 1.0).all())
        self.command_is_si = bool((self._per_torque == 1.0).all() and not permille.any())

    def feedback(self, effort: Array) -> Array:
        """Convert efforts, shape (..., n), to Nm or N at the joint, in place."""
        if not self.feedback_is_si:
            np.multiply(effort, self.scale, out=effort)
        return effort

    def commands(self, torque: Array) -> Array:
        """Convert torques at the joint, shape (N, n), in [Nm] or [N], to the unit of commands.

        Per mille values saturate at +-32767.
        """
        if self.command_is_si:
            return torque
        limit = self.command_limit
        result: Array = np.clip(torque * self._per_torque, -limit, limit)
        return result

    def check_limit(self, limit: Array) -> None:
        """Refuse a largest torque that a command cannot represent.

        :param limit: shape (n,), in [Nm] or [N]
        :raises ConfigError: naming the joint
        """
        for joint, unit, value, most in zip(
            self.joints, self.command_unit, np.abs(limit * self._per_torque), self.command_limit,
            strict=True,
        ):  # fmt: skip
            if value > most:
                raise ConfigError(
                    f'max_torque of joint {joint!r} is {value:.0f} {unit}, a drive takes at most '
                    f'{most:.0f}: check the drive facts of effort.*'
                )

    def check_joints(self, joints: Sequence[Joint]) -> None:
        """Refuse a unit that does not fit the type of the joint, if the declaration has one.

        :raises ConfigError: naming the joint and both units
        """
        for index, joint in enumerate(joints):
            declared = self._joint_unit(index)
            if declared not in ('', joint.torque_unit):
                raise ConfigError(
                    f'joint {joint.name!r} is {joint.type}, so its torque is in '
                    f'{joint.torque_unit}; effort.* declares {declared} at the joint'
                )

    def _joint_unit(self, index: int) -> str:
        """Return Nm or N at the joint, as declared; '' if unknown."""
        drives, unit = self.drives, self.unit[index]
        moved = drives.screw_lead[index] or drives.pulley_radius[index]
        if unit == 'SI':
            return ''
        if unit in ('Nm', 'N'):
            return 'N' if self.side[index] == 'motor' and moved else unit
        return 'N' if drives.linear[index] or moved else 'Nm'

    def describe(self, index: int) -> str:
        """Describe the declaration of one joint in words."""
        sign = '' if self.direction[index] > 0.0 else ', direction reversed'
        return (
            f'{self.unit[index]} on the {self.side[index]} side, gravity {self.gravity[index]}'
            f'{sign} ({self.scale[index]:.6g} Nm or N per unit)'
        )

    def _scales(self, units: Sequence[str]) -> Array:
        scales = [self._scale(index, unit) for index, unit in enumerate(units)]
        result: Array = np.array(scales) * self.direction
        return result

    def _scale(self, index: int, unit: str) -> float:
        """Return the torque at the joint per unit, for one joint."""
        drives, joint, motor = self.drives, self.joints[index], self.side[index] == 'motor'
        for need in NEEDS.get(unit, ()):
            if not getattr(drives, need)[index] > 0.0:
                name = 'torque_constant (of a linear motor: effort.force_constant)'
                raise ConfigError(
                    f'the effort of joint {joint!r} is declared in {unit}, which needs '
                    f'effort.{name if need == "constant" else need}'
                )
        if unit in NEEDS and not motor and (drives.transmission[index] != 1.0):
            raise ConfigError(
                f'the effort of joint {joint!r} is declared in {unit} on the joint side, so '
                f'gear, screw and pulley have no effect: remove them, or set effort.side: motor'
            )
        if unit == 'SI' and motor:
            raise ConfigError(
                f'the effort of joint {joint!r} is declared as SI, which is a joint-side unit: '
                f'set Nm, or effort.side: joint'
            )
        if motor and not drives.moved[index]:
            raise ConfigError(
                f'the effort of joint {joint!r} is declared on the motor side, which needs '
                f'effort.gear_ratio, effort.screw_lead or effort.pulley_radius (of a linear '
                f'motor: effort.force_constant); set gear_ratio: 1 for a direct drive'
            )
        at_motor = {
            'A': drives.constant[index],
            'raw': drives.constant[index],
            'permille_rated_current': drives.constant[index] * drives.rated_current[index] * 1e-6,
            'permille_rated_torque': drives.rated_torque[index] * 1e-6,
        }.get(unit, 1.0)
        return float(at_motor * (drives.transmission[index] if motor else 1.0))
