# SPDX-License-Identifier: Apache-2.0
"""Torque units of drives: current to torque, and motor side to joint side.

The factors follow the softMC document, section "Torque Units". Its TorqueFactor (TFac) divides
the drive's value: TFb = CurrentActualValue / TFac. For a rotary motor with a lead screw the
document prints TFac = 1e6 SL / (MKT MICONT GR pi). The work of one revolution, 2 pi tau = SL F,
requires 2 pi instead of pi, which this module uses. Quantities of a drive have the unit of the
drive object that they are read from (see `OBJECTS`); all others are SI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.interface import Array

OBJECTS = {
    'rated_current': (0x6075, 'mA'),
    'rated_torque': (0x6076, 'mNm'),
    'peak_current': (0x2036, 'mA'),
    'torque_constant': (0x2039, 'Nm/A'),
    'force_constant': (0x2038, 'N/A'),
}
"""Facts of a drive: name -> CiA 402 object and unit (0x2036, 0x2038, 0x2039: CDHD drives).

Process data: current actual value 0x6078 in per mille of the rated current; torque offset 0x60B2
and torque actual value 0x6077 in per mille of the rated torque.
"""
MECHANICS = {'gear_ratio': '1', 'screw_lead': 'm/rev', 'pulley_radius': 'm'}
"""Facts of the transmission from motor to joint: name -> unit."""

LEAST = {'rated_current': 50.0, 'peak_current': 50.0, 'rated_torque': 10.0}
"""Smallest plausible values: a smaller one is probably in A or Nm."""


@dataclass(frozen=True)
class Drives:
    """Motors and transmissions; arrays of shape (n,), 0: not given.

    :param rated_current: MICONT, in [mA]
    :param peak_current: MIPEAK, in [mA]
    :param rated_torque: in [mNm], of a linear motor in [mN]
    :param torque_constant: MKT, in [Nm/A]
    :param force_constant: MKF of a linear motor, in [N/A]
    :param gear_ratio: GR, revolutions of the motor per revolution of the joint (or screw); 0: 1
    :param screw_lead: SL, travel of the joint per revolution of the screw, in [m/rev]
    :param pulley_radius: instead of a screw, in [m]
    """

    rated_current: Array
    peak_current: Array
    rated_torque: Array
    torque_constant: Array
    force_constant: Array
    gear_ratio: Array
    screw_lead: Array
    pulley_radius: Array

    @classmethod
    def of(cls, count: int, **facts: ArrayLike) -> Drives:
        """Make the drives of `count` joints from facts with one number or one per joint."""
        names = (*OBJECTS, *MECHANICS)
        arrays = {
            name: np.array(np.broadcast_to(np.asarray(facts.get(name, 0.0), dtype=float), count))
            for name in names
        }
        return cls(**arrays)

    @property
    def linear(self) -> Array:
        """Joints with a linear motor, bool of shape (n,)."""
        return np.asarray(self.force_constant > 0.0)

    @property
    def constant(self) -> Array:
        """Torque or force of the motor per current, (n,), in [Nm/A] or [N/A]; 0: not given."""
        return np.where(self.linear, self.force_constant, self.torque_constant)

    @property
    def moved(self) -> Array:
        """Joints with a declared transmission, bool of shape (n,)."""
        facts = (self.gear_ratio, self.screw_lead, self.pulley_radius, self.force_constant)
        return np.asarray(np.any([fact > 0.0 for fact in facts], axis=0))

    @property
    def transmission(self) -> Array:
        """Torque or force at the joint per torque or force of the motor, shape (n,)."""
        gear = np.where(self.gear_ratio > 0.0, self.gear_ratio, 1.0)
        lead = np.where(self.pulley_radius > 0, 2.0 * np.pi * self.pulley_radius, self.screw_lead)
        screw = 2.0 * np.pi / np.where(lead > 0.0, lead, 2.0 * np.pi)
        result: Array = gear * screw
        return result

    def torque_factor(self) -> Array:
        """TorqueFactor of softMC: 0x6078 divided by it is Nm or N at the joint, shape (n,).

        rotary: 1e6 / (MKT MICONT GR), with a screw: 1e6 SL / (MKT MICONT GR 2 pi), linear motor:
        1e6 / (MKF MICONT); a pulley is equivalent to a screw of lead 2 pi r.
        """
        result: Array = 1e6 / (self.constant * self.rated_current * self.transmission)
        return result

    def continuous_torque(self) -> Array:
        """Continuous torque of the motor at the joint, shape (n,), in [Nm] or [N].

        It follows from the rated torque, or else from MICONT: 1000 / TFac. 0: neither is given.
        """
        by_current = self.constant * self.rated_current
        motor = np.where(self.rated_torque > 0.0, self.rated_torque, by_current)
        result: Array = 1e-3 * motor * self.transmission
        return result

    def peak(self) -> Array:
        """Torque at the joint by MIPEAK, shape (n,), in [Nm] or [N].

        1000 MIPEAK / (TFac MICONT), softMC document, section "softMC torque related properties".
        """
        result: Array = 1e3 * self.peak_current / (self.torque_factor() * self.rated_current)
        return result

    def check(self, joints: Sequence[str]) -> None:
        """Raise a ConfigError if a fact is impossible; it names the joint."""
        for index, joint in enumerate(joints):
            facts = {name: float(getattr(self, name)[index]) for name in (*OBJECTS, *MECHANICS)}
            _check_numbers(joint, facts)
            _check_kind(joint, facts)


def _check_numbers(joint: str, facts: dict[str, float]) -> None:
    for name, value in facts.items():
        if not (np.isfinite(value) and value >= 0.0):
            raise ConfigError(f'effort.{name} of joint {joint!r} must be above 0, got {value:g}')
        if 0.0 < value < LEAST.get(name, 0.0):
            index, unit = OBJECTS[name]
            raise ConfigError(
                f'effort.{name} of joint {joint!r} is the value of object {index:#06x} in {unit}, '
                f'at least {LEAST[name]:g}, got {value:g}: is that in {unit[1:]}?'
            )
    if 0.0 < facts['peak_current'] < facts['rated_current']:
        raise ConfigError(
            f'effort.peak_current of joint {joint!r} is {facts["peak_current"]:g} mA, below its '
            f'rated_current of {facts["rated_current"]:g} mA'
        )


def _check_kind(joint: str, facts: dict[str, float]) -> None:
    if facts['screw_lead'] and facts['pulley_radius']:
        raise ConfigError(
            f'joint {joint!r} has both effort.screw_lead and effort.pulley_radius: give one'
        )
    rotary = [name for name in ('torque_constant', *MECHANICS) if facts[name]]
    if facts['force_constant'] and rotary:
        raise ConfigError(
            f'joint {joint!r} has effort.force_constant, which is of a linear motor, and '
            f'effort.{rotary[0]}, which is of a rotary one'
        )
