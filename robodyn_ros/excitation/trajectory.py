# SPDX-License-Identifier: Apache-2.0
"""Interface of motions as functions of time."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError

Array = NDArray[np.float64]
ROUNDING = 1e-6
"""Step in [rad] or [m] between two motions, and velocity (per second) at their ends, that count as
rounding: below any encoder's step."""


@dataclass(frozen=True)
class Motion:
    """Samples of a trajectory.

    :param time: shape (N,), in [s]
    :param position: shape (N, n), in [rad] or [m]
    :param velocity: shape (N, n), in [rad/s] or [m/s]
    :param acceleration: shape (N, n), in [rad/s^2] or [m/s^2]
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array


class Trajectory(ABC):
    """A motion of n joints between t = 0 and `duration`; at rest before and after.

    Every argument of a constructor is kept in an attribute of the same name, see `describe`.

    :cvar kind: name of this kind of motion in a description
    """

    kind: ClassVar[str]
    joints: tuple[str, ...]
    duration: float

    @property
    def breaks(self) -> Array:
        """Return times (K,), in [s], at which the acceleration jumps or has a kink.

        It may be largest there; between them it is smooth.
        """
        return np.empty(0)

    @abstractmethod
    def sample(self, time: Array) -> Motion:
        """Evaluate at the given times.

        :param time: shape (N,), in [s]; times outside [0, duration] are clamped to the ends
        """

    def describe(self) -> dict[str, Any]:
        """Return the kind and the arguments of the constructor, YAML-safe."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {'kind': self.kind, **{name: _plain(getattr(self, name)) for name in names}}

    def grid(self, period: float) -> Motion:
        """Sample every `period` seconds from 0 to `duration`, both ends included.

        :raises MotionError: the period is not positive
        """
        if not period > 0.0:
            raise MotionError(f'the sampling period must be positive, got {period} s')
        steps = max(1, int(np.ceil(self.duration / period - 1e-9)))
        return self.sample(np.linspace(0.0, self.duration, steps + 1))


class Chain(Trajectory):
    """A sequence of motions; each starts at the end of the previous one."""

    kind = 'chain'

    def __init__(self, *, parts: Sequence[Trajectory]) -> None:
        """Join the parts.

        :raises MotionError: no parts, other joints, or a step in position between two parts
        """
        if not parts:
            raise MotionError('a chain of motions needs at least one part')
        self.parts = tuple(parts)
        self.joints = parts[0].joints
        self.duration = float(sum(part.duration for part in parts))
        self._starts = np.cumsum([0.0, *(part.duration for part in parts)])
        for before, after in zip(self.parts, self.parts[1:], strict=False):
            self._check_joint(before, after)

    @property
    def breaks(self) -> Array:
        """Return the breaks of the parts, and the times at which parts meet."""
        starts = self._starts[:-1]
        return np.concatenate(
            [
                starts[1:],
                *(part.breaks + start for part, start in zip(self.parts, starts, strict=True)),
            ]
        )

    def _check_joint(self, before: Trajectory, after: Trajectory) -> None:
        if after.joints != self.joints:
            raise MotionError(
                f'all parts of a chain must have the joints {list(self.joints)}, '
                f'got {list(after.joints)}'
            )
        end = before.sample(np.array([before.duration])).position[0]
        start = after.sample(np.array([0.0])).position[0]
        step = np.abs(end - start)
        if (step > ROUNDING).any():
            joint = int(np.argmax(step))
            raise MotionError(
                f'joint {self.joints[joint]!r} jumps from {end[joint]:.6g} to '
                f'{start[joint]:.6g} where two parts of the motion meet'
            )

    def sample(self, time: Array) -> Motion:
        """Evaluate each part in its time."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        owner = np.clip(
            np.searchsorted(self._starts, time, side='right') - 1, 0, len(self.parts) - 1
        )
        shape = (len(time), len(self.joints))
        position, velocity, acceleration = np.empty(shape), np.empty(shape), np.empty(shape)
        for index, part in enumerate(self.parts):
            rows = owner == index
            if rows.any():
                motion = part.sample(time[rows] - self._starts[index])
                position[rows] = motion.position
                velocity[rows] = motion.velocity
                acceleration[rows] = motion.acceleration
        return Motion(time, position, velocity, acceleration)


def _plain(value: Any) -> Any:
    """Convert an argument to types that YAML can hold."""
    if hasattr(value, 'describe'):
        return value.describe()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value
