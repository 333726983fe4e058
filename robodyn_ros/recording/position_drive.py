# SPDX-License-Identifier: Apache-2.0
"""Drives that control position only: their error of position is the signal of their torque.

    torque(t) = gain (command(t - delay) - position(t)) - damping velocity(t)

The damping of the drive acts as viscous friction of the joint, and is a part of it everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.recording.storage import blockwise

Array = NDArray[np.float64]

POSITION_ERROR = 'position_error'
"""Unit of a torque that is commanded minus measured position, in [rad] or [m]."""


@dataclass(frozen=True)
class PositionDrive:
    """Proportional drives of n joints.

    :param gain: torque per error, in [Nm/rad] or [N/m], shape (n,); 1: the torque is the error
    :param delay: from a command to its effect, in [s], shape (n,)
    :param known: the gain is known
    :param delay_error: standard error of the delay, in [s]
    """

    gain: Array
    delay: Array
    known: bool
    delay_error: float = 0.0

    def torque(self, time: Array, command: Array, position: Array) -> Array:
        """Return the torque (N, n), in the unit of the gain.

        :param time: shape (N,), in [s], strictly increasing
        :param command: shape (N, n); the first one is held before the start
        """
        late = command
        if self.delay.any():
            late = np.column_stack(
                [
                    np.interp(time - delay, time, each)
                    for delay, each in zip(self.delay, np.asarray(command).T, strict=True)
                ]
            )
        return blockwise(lambda *parts: self.gain * (parts[0] - parts[1]), late, position)

    def select(self, columns: Sequence[int]) -> PositionDrive:
        """Return the drives of some joints."""
        columns = list(columns)
        return replace(self, gain=self.gain[columns], delay=self.delay[columns])
