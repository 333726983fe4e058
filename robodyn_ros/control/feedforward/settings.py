# SPDX-License-Identifier: Apache-2.0
"""Settings of the additive torque."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn_ros.control.checks import check_between, per_joint
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array


@dataclass(frozen=True)
class FeedforwardSettings:
    """Limits, delay and ramps of the additive torque; joint order is that of the model.

    :param joints: names of the n joints
    :param max_torque: largest additive torque, shape (n,), in [Nm] or [N]
    :param refused: names of joints that get no torque
    :param max_torque_rate: shape (n,), in [Nm/s] or [N/s]; None: max_torque in 50 ms
    :param period: servo period, in [s]
    :param additive_torque_delay: cycles between a command and its effect in the drive
    :param feedforward_scale: share of the model torque that is applied, 0..1
    :param ramp_up_time: time from zero to full model torque, and from one scale or payload to
        another, in [s]
    :param ramp_down_time: time from any torque to zero, in [s]
    :param friction_fade_time: standstill after which no friction torque remains, in [s]
    :raises ControlError: values that cannot be used, such as a ramp_down_time that is too short
        for max_torque_rate
    """

    joints: Sequence[str]
    max_torque: ArrayLike
    max_torque_rate: ArrayLike | None = None
    period: float = 0.002
    additive_torque_delay: int = 3
    feedforward_scale: float = 1.0
    ramp_up_time: float = 0.25
    ramp_down_time: float = 0.1
    friction_fade_time: float = 0.5
    refused: Collection[str] = ()

    def __post_init__(self) -> None:
        """Check."""
        check_between('period', self.period, 1e-5, 1.0)
        check_between('additive_torque_delay', self.additive_torque_delay, 0, 1000)
        check_between('feedforward_scale', self.feedforward_scale, 0.0, 1.0)
        for name in ('ramp_up_time', 'ramp_down_time', 'friction_fade_time'):
            check_between(name, getattr(self, name), self.period, 60.0)
        for joint, torque, slope in zip(self.joints, self._given, self.rate, strict=True):
            if torque > slope * self.period * self.ramp_down_cycles * (1.0 + 1e-9):
                raise ControlError(
                    f'joint {joint}: max_torque {torque:.6g} cannot fall to zero within '
                    f'ramp_down_time {self.ramp_down_time:.6g} s at max_torque_rate {slope:.6g}; '
                    f'at least {torque / slope:.6g} s are needed'
                )

    @cached_property
    def limit(self) -> Array:
        """Largest additive torque, shape (n,), in [Nm] or [N]; 0 for refused joints."""
        return np.where([name in self.refused for name in self.joints], 0.0, self._given)

    @cached_property
    def _given(self) -> Array:
        return per_joint('max_torque', self.max_torque, self.joints)

    @cached_property
    def rate(self) -> Array:
        """Largest change of the additive torque, shape (n,), in [Nm/s] or [N/s]."""
        if self.max_torque_rate is None:
            return self._given / min(0.05, self.period * self.ramp_down_cycles)
        return per_joint('max_torque_rate', self.max_torque_rate, self.joints)

    @property
    def ramp_down_cycles(self) -> int:
        """Cycles of the ramp, rounded down, so that it ends within ramp_down_time."""
        return max(1, int(self.ramp_down_time / self.period + 1e-9))
