# SPDX-License-Identifier: Apache-2.0
"""Contact or collision: whether the torque error rises slowly or suddenly.

People lean on a robot and guide it with torques that rise within a third of a second and more;
whatever is run into loads it within milliseconds (Golz, Osendorfer and Haddadin, "Using tactile
sensation for learning contact knowledge: discriminate collision from physical interaction", 2015).
A high pass of first order separates them: a ramp that reaches the threshold in the time t0 leaves
T / t0 (1 - exp(-t0 / T)) of it. For information only: it never suppresses an alarm.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from robodyn_ros.control.checks import check_above
from robodyn_ros.models.interface import Array


class Kind(IntEnum):
    """Kind of a contact; the numbers are those of ContactEstimate."""

    NONE = 0
    CONTACT = 1
    COLLISION = 2


class Suddenness:
    """High-passed torque error relative to the thresholds, and its largest value in a contact.

    :ivar peak: largest value since the last quiet sample; at least 0
    """

    def __init__(
        self, width: int, *, period: float, rise_time: float = 0.25, limit: float = 0.5
    ) -> None:
        """Set the time constant so that a ramp of `rise_time` up to the threshold is at the limit.

        :param period: of the samples, in [s]
        :param rise_time: torque that needs less time to reach the threshold is sudden, in [s]
        :param limit: value of the high-passed error, relative to the threshold, that is sudden;
            0.1 to 0.9: a low one follows noise, a high one needs a long memory
        :raises ControlError: times that are not above 0
        """
        check_above('period', period, 0.0)
        check_above('rise_time', rise_time, 0.0)
        self._limit = limit
        self._share = 1.0 - math.exp(-period / time_constant(rise_time, limit))
        self._slow = np.zeros(width)
        self._fast = np.zeros(width)
        self.peak = 0.0

    def restart(self, torque_error: Array) -> None:
        """Start anew with a torque error (n,), which then is no sudden one."""
        self._slow[:] = torque_error
        self.peak = 0.0

    def update(self, torque_error: Array, threshold: Array, *, quiet: bool) -> None:
        """Take the next sample.

        :param torque_error: shape (n,), in [Nm] or [N]
        :param threshold: in force, shape (n,), in [Nm] or [N]
        :param quiet: no joint is in contact: the last contact has ended. The peak then starts
            from this sample, because a threshold is crossed after the torque has risen.
        """
        np.subtract(torque_error, self._slow, out=self._fast)
        self._slow += self._share * self._fast
        np.abs(self._fast, out=self._fast)
        self._fast /= threshold
        now = float(self._fast.max())
        self.peak = now if quiet else max(self.peak, now)

    def kind(self) -> Kind:
        """Return the kind of a contact that there is."""
        return Kind.COLLISION if self.peak >= self._limit else Kind.CONTACT


def time_constant(rise_time: float, limit: float) -> float:
    """Return T in [s] for which a ramp of `rise_time` leaves `limit`: T (1 - e^(-1/T)) = limit.

    Newton's method on 1/T in units of the rise time; the function is convex and falls.
    """
    rate = 1.0 / limit
    for _ in range(20):
        left = -math.expm1(-rate) - limit * rate
        rate -= left / (math.exp(-rate) - limit)
    return rise_time / rate
