# SPDX-License-Identifier: Apache-2.0
"""TorqueThreshold: limit of the torque during a motion (softMC torque related properties)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array

SILENCE = 0.5
"""Longest time without a message that is on its way, as torque feedback, in [s]: a busy computer
delays a process by less."""


class TorqueThreshold:
    """Check of measured and commanded torque, which costs a few comparisons per sample."""

    def __init__(
        self,
        joints: Sequence[str],
        limit: Array | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store the limits, shape (n,), in [Nm] or [N]; None: nothing is checked.

        :param now: return the time of the node, in [s]
        """
        self._now = now
        self.joints = tuple(joints)
        self.limit = None if limit is None else [float(value) for value in limit]
        self._seen = -float('inf')

    def feedback(self, torque: Array) -> Fault:
        """Return the fault of a measured torque beyond the threshold, or NO_FAULT.

        :param torque: shape (n,), in [Nm] or [N]; NaN is beyond the threshold
        """
        self._seen = self._now()
        return self._find_excess(torque, 'measured')

    def command(self, torque: Array) -> Fault:
        """Check an additive torque (softMC: Taddcmd) like `feedback`."""
        return self._find_excess(torque, 'additive')

    def _find_excess(self, torque: Array, kind: str) -> Fault:
        if self.limit is None:
            return NO_FAULT
        for index, value in enumerate(torque.tolist()):
            if not -self.limit[index] <= value <= self.limit[index]:
                return Fault(
                    'torque_threshold',
                    f'the {kind} torque of joint {self.joints[index]!r} is {value:.4g}, '
                    f'torque_threshold is {self.limit[index]:.4g}',
                )
        return NO_FAULT

    def restart(self) -> None:
        """Wait for feedback from now on."""
        self._seen = self._now()

    def silence(self) -> Fault:
        """Return the fault of feedback that has been missing for too long, or NO_FAULT."""
        if self.limit is None or self._now() - self._seen <= SILENCE:
            return NO_FAULT
        return Fault(
            'feedback_missing',
            f'torque_threshold is set, but for {SILENCE} s the joint states have had no usable '
            f'effort of all joints',
        )
