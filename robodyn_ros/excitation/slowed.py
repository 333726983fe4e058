# SPDX-License-Identifier: Apache-2.0
"""The same path at a lower speed, for the first runs of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory


class SlowedTrajectory(Trajectory):
    """A motion with time scaled: q(s t), so velocities scale with s and accelerations with s^2."""

    def __init__(self, *, motion: Trajectory, speed: float) -> None:
        """Slow a motion down.

        :param speed: s, share of its speed
        :raises MotionError: the share is not in (0, 1]
        """
        self.motion, self.speed = motion, check_speed(speed)
        self.joints = motion.joints
        self.duration = motion.duration / self.speed

    @property
    def breaks(self) -> Array:
        """Return the breaks of the motion, later by 1 / s."""
        return self.motion.breaks / self.speed

    def sample(self, time: Array) -> Motion:
        """Evaluate the motion at s t."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        sample = self.motion.sample(np.minimum(self.speed * time, self.motion.duration))
        return Motion(
            time,
            sample.position,
            self.speed * sample.velocity,
            self.speed**2 * sample.acceleration,
        )


def check_speed(speed: float) -> float:
    """Return a share of the speed of a motion.

    :raises MotionError: it is not in (0, 1]
    """
    if not 0.0 < speed <= 1.0:
        raise MotionError(f'the speed must be a share of the planned one in (0, 1], got {speed:g}')
    return float(speed)


def check_speeds(speeds: Sequence[float]) -> tuple[float, ...]:
    """Return the shares of the speed at which a motion runs one after the other.

    :raises MotionError: there is none, one is not in (0, 1], or they do not increase
    """
    checked = tuple(check_speed(speed) for speed in speeds)
    if not checked or list(checked) != sorted(set(checked)):
        raise MotionError(f'speeds must be one or more increasing shares, got {list(checked)}')
    return checked
