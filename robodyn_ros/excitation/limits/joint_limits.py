# SPDX-License-Identifier: Apache-2.0
"""Joint limits, and checks of motions against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory
from robodyn_ros.long_work import poll
from robodyn_ros.models.interface import sample_blocks
from robodyn_ros.models.serial.urdf_file import UrdfFile, UrdfJoint

QUANTITIES = ('lower', 'upper', 'velocity', 'acceleration', 'jerk', 'effort')
"""Names of the limits of a joint."""
CHECK_PERIOD = 1e-3
"""Sampling period of the checks of a motion, in [s]: the servo period of fast controllers."""
_FEW = 4
"""Number of samples that is too small to estimate the rise between them."""
_CHECKED = ('position', 'velocity', 'acceleration')
_UNITS = {'position': '{}', 'velocity': '{}/s', 'acceleration': '{}/s^2'}


@dataclass(frozen=True)
class JointLimits:
    """Limits of n joints; missing limits are infinite. Arrays of shape (n,), read-only.

    :param units: 'rad' or 'm' for each joint
    :param lower: lowest position, in [rad] or [m]
    :param velocity: largest magnitude, in [rad/s] or [m/s]
    :param acceleration: largest magnitude, in [rad/s^2] or [m/s^2]
    :param jerk: largest magnitude, in [rad/s^3] or [m/s^3]; it shapes moves and is not checked
    :param effort: largest magnitude, in [Nm] or [N]
    :param unused: looser values of a file, which have no effect, as text; '': none
    :raises MotionError: a limit is NaN, not above zero, or lower is above upper
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    effort: Array
    unused: str = field(default='', kw_only=True)

    def __post_init__(self) -> None:
        """Check."""
        for name in QUANTITIES:
            values = np.array(getattr(self, name), dtype=float)
            if values.shape != (len(self.joints),):
                raise MotionError(
                    f'limit {name} must have {len(self.joints)} values, got {values.size}'
                )
            bad = np.isnan(values)
            if name not in ('lower', 'upper'):
                bad |= values <= 0.0
            if bad.any():
                joint = int(np.argmax(bad))
                raise MotionError(
                    f'limit {name} of joint {self.joints[joint]!r} must be above 0, '
                    f'got {values[joint]}'
                )
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        wrong = self.lower >= self.upper
        if wrong.any():
            joint = int(np.argmax(wrong))
            raise MotionError(
                f'joint {self.joints[joint]!r} has the lower limit {self.lower[joint]:g} and the '
                f'upper limit {self.upper[joint]:g}'
            )

    @classmethod
    def from_urdf(cls, urdf: UrdfFile, joints: Sequence[str] | None = None) -> JointLimits:
        """Take the limits of a URDF, which has no acceleration limits.

        :param joints: names in order; None: all moving joints
        :raises MotionError: a joint that the URDF does not have or that does not move
        """
        moving = {joint.name: joint for joint in urdf.joints if joint.type != 'fixed'}
        chosen = [_find(moving, name, urdf.source) for name in joints or moving]
        endless, given = np.full(len(chosen), np.inf), ('lower', 'upper', 'velocity', 'effort')
        values: dict[str, Any] = {
            name: np.array([getattr(joint, name) for joint in chosen]) for name in given
        }
        return cls(
            joints=tuple(joint.name for joint in chosen),
            units=tuple('m' if joint.type == 'prismatic' else 'rad' for joint in chosen),
            acceleration=endless,
            jerk=endless,
            **values,
        )

    def with_default_acceleration(self) -> JointLimits:
        """Set missing acceleration limits so that the velocity limit is reached within 1 s.

        This is intentionally slow, because the robot's acceleration limits are unknown.

        :raises MotionError: a joint has neither a velocity nor an acceleration limit
        """
        missing = np.isinf(self.acceleration)
        unknown = missing & np.isinf(self.velocity)
        if unknown.any():
            joint = self.joints[int(np.argmax(unknown))]
            raise MotionError(
                f'joint {joint!r} has neither a velocity nor an acceleration limit: give '
                'max_velocity in the URDF or max_acceleration in a joint limits file'
            )
        return replace(self, acceleration=np.where(missing, self.velocity, self.acceleration))

    def default_acceleration_note(self) -> str:
        """Return a sentence about what `with_default_acceleration` sets; '': nothing."""
        missing = np.flatnonzero(np.isinf(self.acceleration))
        values = ', '.join(
            f'{self.joints[k]} {self.velocity[k]:.4g} {self.units[k]}/s^2' for k in missing
        )
        return values and (
            f'acceleration limits: none given, assumed are values that reach the velocity limit '
            f'within 1 s: {values}'
        )

    def scale(self, *, velocity: float = 1.0, acceleration: float = 1.0) -> JointLimits:
        """Use a share of the velocity and acceleration limits.

        :raises MotionError: a factor is not within (0, 1]
        """
        for name, factor in (('velocity', velocity), ('acceleration', acceleration)):
            if not 0.0 < factor <= 1.0:
                raise MotionError(f'the {name} scaling factor must be in (0, 1], got {factor}')
        return replace(
            self,
            velocity=self.velocity * velocity,
            acceleration=self.acceleration * acceleration,
        )

    def select(self, joints: Sequence[str]) -> JointLimits:
        """Return the limits of these joints, in this order.

        :raises MotionError: a joint without limits here
        """
        for name in joints:
            if name not in self.joints:
                raise MotionError(f'there are no limits for joint {name!r}, {_have(self.joints)}')
        columns = [self.joints.index(name) for name in joints]
        return JointLimits(
            tuple(joints),
            tuple(self.units[column] for column in columns),
            *(getattr(self, name)[columns] for name in QUANTITIES),
            unused=self.unused,
        )


def check_motion(
    trajectory: Trajectory, limits: JointLimits, *, period: float = CHECK_PERIOD
) -> None:
    """Refuse a motion that breaks a position, velocity or acceleration limit.

    The motion is sampled every `period` (finer if it is short), and at its breaks. An eighth of
    the second difference is added for what happens between samples, but for kinks.

    :param limits: for the trajectory's joints at least; matched by name
    :raises MotionError: naming the joint, the time, the value and the limit it exceeds most
    """
    limits = limits.select(trajectory.joints)
    worst = (0.0, '')
    for block in blocks(trajectory, min(period, trajectory.duration / 200.0)):
        for name in _CHECKED:
            worst = max(worst, _worst(block, limits, name))
    if worst[1]:
        raise MotionError(worst[1])


def check_position(position: Array, limits: JointLimits, what: str) -> None:
    """Refuse a position (n,) outside the limits.

    :param what: begins the sentence, for example 'the robot stands'
    :raises MotionError: naming joint, value and limit
    """
    outside = np.maximum(limits.lower - position, position - limits.upper)
    joint = int(np.argmax(outside))
    if outside[joint] > 0.0:
        unit = limits.units[joint]
        raise MotionError(
            f'{what} outside the limits: joint {limits.joints[joint]!r} is at '
            f'{position[joint]:.4g} {unit}, allowed is {limits.lower[joint]:.4g} to '
            f'{limits.upper[joint]:.4g} {unit}'
        )


def blocks(trajectory: Trajectory, period: float) -> Iterator[Motion]:
    """Yield samples in blocks of bounded size, each with a few samples of its neighbours.

    The last blocks are the breaks of the motion, so small that `rise_between` adds nothing.

    :raises CancelledError: the work is cancelled, see `poll`
    """
    count = int(np.ceil(trajectory.duration / period)) + 1
    time = np.linspace(0.0, trajectory.duration, count)
    for block in sample_blocks(count):
        yield trajectory.sample(time[max(0, block.start - 3) : block.stop + 3])
    breaks = trajectory.breaks
    for first in range(0, len(breaks), _FEW):
        poll()
        yield trajectory.sample(breaks[first : first + _FEW])


def _worst(motion: Motion, limits: JointLimits, name: str) -> tuple[float, str]:
    """Return the largest relative excess of one quantity, and the sentence about it."""
    values: Array = getattr(motion, name)
    bound = limits.upper if name == 'position' else getattr(limits, name)
    lower = limits.lower if name == 'position' else -bound
    if not np.isfinite(values).all():
        row, joint = (int(index) for index in np.argwhere(~np.isfinite(values))[0])
        return np.inf, _sentence(motion, limits, name, (row, joint), values[row, joint], np.inf)
    margin = rise_between(values)
    above, below = values + margin - bound, lower - values + margin
    excess = np.maximum(above, below) / _scale(limits, name)
    row, joint = (int(index) for index in np.unravel_index(np.argmax(excess), excess.shape))
    if excess[row, joint] <= 1e-9:
        return 0.0, ''
    side, limit = (1.0, bound) if above[row, joint] >= below[row, joint] else (-1.0, lower)
    value = values[row, joint] + side * margin[row, joint]
    sentence = _sentence(motion, limits, name, (row, joint), value, limit[joint])
    return float(excess[row, joint]), sentence


def _scale(limits: JointLimits, name: str) -> Array:
    """Return the scale of an excess for comparison: the limit, or the range of positions."""
    scale = limits.upper - limits.lower if name == 'position' else getattr(limits, name)
    return np.where(np.isfinite(scale), scale, 1.0)


def rise_between(values: Array) -> Array:
    """Return the rise of smooth values between samples: an eighth of the second difference.

    The smallest of three neighbouring differences is taken: a kink or step affects at most two.
    """
    margin = np.zeros_like(values)
    if len(values) > _FEW:
        second = np.abs(np.diff(values, n=2, axis=0)) / 8.0
        margin[2:-2] = np.minimum(np.minimum(second[:-2], second[1:-1]), second[2:])
    return margin


def _sentence(
    motion: Motion,
    limits: JointLimits,
    name: str,
    place: tuple[int, int],
    value: float,
    limit: float,
) -> str:
    row, joint = place
    unit = _UNITS[name].format(limits.units[joint])
    return (
        f'the motion breaks a limit: joint {limits.joints[joint]!r} reaches the {name} '
        f'{value:.5g} {unit} at t = {motion.time[row]:.3f} s, the limit is {limit:.5g} {unit}'
    )


def _find(moving: dict[str, UrdfJoint], name: str, source: str) -> UrdfJoint:
    if name not in moving:
        raise MotionError(f'{source} has no moving joint {name!r}, {_have(tuple(moving))}')
    return moving[name]


def _have(names: Sequence[str]) -> str:
    return f'there are: {", ".join(names)}'
