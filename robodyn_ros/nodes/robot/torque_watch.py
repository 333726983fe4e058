"""torque_threshold while a robot is driven: which joint is beyond it, and is there feedback."""

from __future__ import annotations

import time
from collections.abc import Sequence

from robodyn_ros.control.torque_limits import TorqueThreshold
from robodyn_ros.models.interface import Array

SILENCE = 0.5
"""Torque feedback may stay away for so long, in [s]."""


class TorqueWatch:
    """Looks at each torque feedback as it comes; the node acts on what it says."""

    def __init__(self, joints: Sequence[str], limit: Array) -> None:
        """Begin.

        :param limit: torque_threshold, shape (n,), in [Nm] or [N]
        """
        self._threshold = TorqueThreshold(joints, limit)
        self._seen = -float('inf')

    def feedback(self, torque: Array) -> str:
        """Say which measured torque (n,), in [Nm] or [N], is beyond the threshold, or nothing."""
        self._seen = time.monotonic()
        return self._threshold.exceeded(torque, 'the measured torque')

    def command(self, torque: Array) -> str:
        """Check an additive torque (softMC: Taddcmd) as `feedback` is checked."""
        return self._threshold.exceeded(torque, 'the additive torque')

    def restart(self) -> None:
        """Give the feedback time to come."""
        self._seen = time.monotonic()

    def silence(self) -> str:
        """Say that the feedback stays away, or nothing."""
        if time.monotonic() - self._seen <= SILENCE:
            return ''
        return (
            f'torque_threshold is set, but for {SILENCE} s the joint states have had no usable '
            f'effort of all joints'
        )
