# SPDX-License-Identifier: Apache-2.0
"""Settings of collision detection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.control.checks import check_above, per_joint
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array

MOST_DEBOUNCE = 1000
"""Largest number of consecutive samples above a threshold; more would hide collisions."""
LONGEST_DELAY = 0.2
"""Longest time that filters and debounce may delay a collision, in [s]: a joint at 1 rad/s moves
0.2 rad in it, so that longer delays are no detection of collisions."""


@dataclass(frozen=True)
class CollisionSettings:
    """Settings of the detector; one value per joint or one for all.

    :param joints: names of the n joints, in the order of the model
    :param max_torque_error: collision above it (softMC Temax), shape (n,), in [Nm] or [N]
    :param contact_threshold: contact above it, in [Nm] or [N]; None: 70 % of max_torque_error
    :param torque_error_enable: joints to be monitored (softMC Teen), booleans; None: all
    :param torque_error_filter: softMC TEF, 0..1: TE = TEF * current + (1 - TEF) * previous
    :param low_velocity: friction is uncertain below it, in [rad/s] or [m/s]
    :param low_velocity_torque: added to both thresholds below low_velocity, in [Nm] or [N]; it
        fades to zero at twice that velocity, and within low_velocity_hold after standstill
    :param low_velocity_hold: fading time of low_velocity_torque after standstill, in [s]
    :param period: period of the joint states, in [s]
    :param filter_cutoff: low pass of position, velocity and torque, in [Hz]
    :param debounce: consecutive samples above a threshold that set a level
    :param settle_time: time of UNKNOWN after a start or gap, in [s]
    :param stale_timeout: time without a valid sample until UNKNOWN, in [s]
    :param frozen_timeout: time of constant values with advancing stamps until UNKNOWN, in [s];
        0: not checked
    :raises ControlError: values that cannot be used
    """

    joints: Sequence[str]
    max_torque_error: ArrayLike
    contact_threshold: ArrayLike | None = None
    torque_error_enable: Sequence[bool] | None = None
    torque_error_filter: float = 0.5
    low_velocity: ArrayLike = 0.1
    low_velocity_torque: ArrayLike = 0.0
    low_velocity_hold: float = 0.05
    period: float = 0.002
    filter_cutoff: float = 40.0
    debounce: int = 2
    settle_time: float = 0.1
    stale_timeout: float = 0.05
    frozen_timeout: float = 0.2

    def __post_init__(self) -> None:
        """Check."""
        for name in ('period', 'settle_time', 'low_velocity_hold', 'filter_cutoff'):
            check_above(name, getattr(self, name), 0.0)
        check_above('stale_timeout', self.stale_timeout, self.period)
        if self.stale_timeout > 1e5 * self.period:  # after a gap, one step for each period
            raise ControlError(
                f'stale_timeout must be at most 100 000 periods of {self.period:g} s, got '
                f'{self.stale_timeout:g} s'
            )
        if not 0.0 < self.torque_error_filter <= 1.0:
            raise ControlError(
                f'torque_error_filter must be above 0 and at most 1, got '
                f'{self.torque_error_filter}'
            )
        if not 1 <= self.debounce <= MOST_DEBOUNCE or not self.frozen_timeout >= 0.0:
            raise ControlError(
                f'debounce must be from 1 to {MOST_DEBOUNCE} and frozen_timeout at least 0, got '
                f'{self.debounce} and {self.frozen_timeout}'
            )
        if len(self.enabled) != len(self.joints):
            raise ControlError(
                f'torque_error_enable needs one value for each of the {len(self.joints)} joints, '
                f'got {len(self.enabled)}'
            )
        if not self.delay <= LONGEST_DELAY:
            raise ControlError(
                f'filters and debounce delay collisions {self.delay:.3g} s, expected at most '
                f'{LONGEST_DELAY} s: lower debounce or period, or raise torque_error_filter or '
                f'filter_cutoff'
            )
        per_joint('low_velocity', self.low_velocity, self.joints)
        per_joint('low_velocity_torque', self.low_velocity_torque, self.joints, zero=True)
        for joint, contact, most in zip(self.joints, self.contact, self.collision, strict=True):
            if contact > most:
                raise ControlError(
                    f'joint {joint}: contact_threshold {contact:.6g} is above max_torque_error '
                    f'{most:.6g}'
                )

    @property
    def delay(self) -> float:
        """Delay of a collision by filters and debounce, in [s]."""
        shared = self.period / self.torque_error_filter - self.period
        low_pass = np.sqrt(2.0) / (2.0 * np.pi * self.filter_cutoff)
        return (self.debounce - 1) * self.period + float(low_pass) + shared

    @property
    def collision(self) -> Array:
        """Collision thresholds, shape (n,), in [Nm] or [N]."""
        return per_joint('max_torque_error', self.max_torque_error, self.joints)

    @property
    def contact(self) -> Array:
        """Contact thresholds, shape (n,), in [Nm] or [N]."""
        if self.contact_threshold is None:
            return 0.7 * self.collision
        return per_joint('contact_threshold', self.contact_threshold, self.joints)

    @property
    def extra(self) -> Array:
        """Increase of the thresholds near standstill, shape (n,), in [Nm] or [N]."""
        return per_joint('low_velocity_torque', self.low_velocity_torque, self.joints, zero=True)

    @property
    def enabled(self) -> NDArray[np.bool_]:
        """Monitored joints, bool of shape (n,)."""
        given = self.torque_error_enable
        return np.array([True] * len(self.joints) if given is None else list(given), dtype=bool)
