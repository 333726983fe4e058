# SPDX-License-Identifier: Apache-2.0
"""Move from rest to rest along a straight line in joint space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.arguments import joint_names, per_joint
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory

SHORTEST = 0.1
"""Duration of the smallest move, in [s]."""
SLACK = 1.001
"""Factor on the shortest duration of a move, so that rounding does not exceed a limit."""


class PointToPoint(Trajectory):
    """Quintic move of all joints together, without steps in velocity or acceleration."""

    kind = 'move'

    def __init__(
        self,
        *,
        joints: Sequence[str],
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
        duration: float,
    ) -> None:
        """Check and store the arguments.

        :param start: shape (n,), in [rad] or [m]
        :param target: shape (n,), in [rad] or [m]; equal to the start: standstill
        :param duration: in [s]
        :raises MotionError: wrong counts, or no positive duration
        """
        self.joints = joint_names(joints)
        self.start = per_joint(self.joints, 'start', start)
        self.target = per_joint(self.joints, 'target', target)
        if not (np.isfinite(duration) and duration > 0.0):
            raise MotionError(f'the duration of a move must be above 0 s, got {duration}')
        self.duration = float(duration)

    @classmethod
    def within(
        cls,
        limits: JointLimits,
        *,
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
    ) -> PointToPoint:
        """Make the shortest such move within velocity, acceleration and jerk limits."""
        distance = np.abs(
            per_joint(limits.joints, 'target', target) - per_joint(limits.joints, 'start', start)
        )
        needed = (  # by the largest derivatives of 10 x^3 - 15 x^4 + 6 x^5 on [0, 1]
            15.0 / 8.0 * distance / limits.velocity,
            np.sqrt(10.0 / np.sqrt(3.0) * distance / limits.acceleration),
            np.cbrt(60.0 * distance / limits.jerk),
        )
        duration = max(SHORTEST, *(SLACK * float(time.max()) for time in needed))
        return cls(joints=limits.joints, start=start, target=target, duration=duration)

    def sample(self, time: Array) -> Motion:
        """Evaluate the quintic."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        x = (time / self.duration)[:, None]
        way = (self.target - self.start)[None, :]
        return Motion(
            time,
            self.start + way * (x**3 * (10.0 + x * (-15.0 + 6.0 * x))),
            way / self.duration * (30.0 * (x * (1.0 - x)) ** 2),
            way / self.duration**2 * (60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)),
        )
