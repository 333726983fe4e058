"""Bidirectional friction experiment: every joint forth and back at several constant speeds.

At the same position and opposite velocities, gravity and centrifugal torque are equal and friction
has opposite signs, so that half the difference of the two torques is friction alone
(document double_encoder, Eq. 5 to 8). `analysis.friction_curve` evaluates the recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.ramp import joint_names, per_joint
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array, Motion, Trajectory

PAUSE = 0.2
"""Rest between two passes, in [s]."""


class BidirectionalMotion(Trajectory):
    """Passes of one joint at a time, forth and back over a range, once per speed.

    The other joints are at rest. Every pass has a trapezoidal velocity profile. A pass that is too
    short to reach its speed is refused, because it has no phase of constant speed.
    """

    def __init__(
        self,
        *,
        joints: Sequence[str],
        start: Sequence[float] | Array,
        target: Sequence[float] | Array,
        speeds: Sequence[float],
        max_velocity: Sequence[float] | Array,
        max_acceleration: Sequence[float] | Array,
    ) -> None:
        """Plan the passes.

        :param start: start and rest position of each joint, shape (n,), in [rad] or [m]
        :param target: other end of its range, shape (n,); equal to the start: it does not move
        :param speeds: as shares of `max_velocity`, each above 0 and at most 1
        :param max_velocity: shape (n,), in [rad/s] or [m/s]
        :param max_acceleration: shape (n,), in [rad/s^2] or [m/s^2]
        :raises MotionError: wrong counts, no joint that moves, or a speed that a range is too
            short for
        """
        self.joints = joint_names(joints)
        self.start = per_joint(self.joints, 'start', start)
        self.target = per_joint(self.joints, 'target', target)
        self.max_velocity = per_joint(self.joints, 'max_velocity', max_velocity)
        self.max_acceleration = per_joint(self.joints, 'max_acceleration', max_acceleration)
        self.speeds = tuple(_share(value) for value in speeds)
        self._passes = [
            (joint, self._profile(joint, share), forth)
            for joint in range(len(self.joints))
            if self.start[joint] != self.target[joint]
            for share in self.speeds
            for forth in (True, False)
        ]
        if not self._passes:
            raise MotionError('a bidirectional motion needs a speed and a joint that moves')
        lengths = [profile.duration + PAUSE for _, profile, _ in self._passes]
        self._begins = np.concatenate([[0.0], np.cumsum(lengths)])
        self.duration = float(self._begins[-1])

    def _profile(self, joint: int, share: float) -> SpeedProfile:
        profile = SpeedProfile(
            distance=abs(float(self.target[joint] - self.start[joint])),
            max_velocity=share * float(self.max_velocity[joint]),
            max_acceleration=float(self.max_acceleration[joint]),
        )
        if not profile.cruise_time > 0.0:
            raise MotionError(
                f'joint {self.joints[joint]!r} does not reach '
                f'{share * float(self.max_velocity[joint]):.4g} between '
                f'{self.start[joint]:.4g} and {self.target[joint]:.4g}: a longer range, a lower '
                f'speed or a higher acceleration is needed'
            )
        return profile

    def sample(self, time: Array) -> Motion:
        """Evaluate the pass that each time falls into."""
        time = np.clip(np.asarray(time, dtype=float), 0.0, self.duration)
        position = np.tile(self.start, (len(time), 1))
        velocity, acceleration = np.zeros((2, *position.shape))
        owner = np.searchsorted(self._begins, time, side='right') - 1
        owner = np.clip(owner, 0, len(self._passes) - 1)
        for index, (joint, profile, forth) in enumerate(self._passes):
            rows = np.flatnonzero(owner == index)
            if not len(rows):
                continue
            own = np.clip(time[rows] - self._begins[index], 0.0, profile.duration)
            way, speed, change = profile.sample(own)
            turn = float(np.sign(self.target[joint] - self.start[joint]))
            begin = self.start[joint] if forth else self.target[joint]
            turn = turn if forth else -turn
            position[rows, joint] = begin + turn * way
            resting = time[rows] - self._begins[index] >= profile.duration
            velocity[rows, joint] = np.where(resting, 0.0, turn * speed)
            acceleration[rows, joint] = np.where(resting, 0.0, turn * change)
        return Motion(time, position, velocity, acceleration)

    def describe(self) -> dict[str, object]:
        """Return the arguments of the constructor."""
        return {
            'kind': 'bidirectional',
            'joints': list(self.joints),
            'start': self.start.tolist(),
            'target': self.target.tolist(),
            'speeds': list(self.speeds),
            'max_velocity': self.max_velocity.tolist(),
            'max_acceleration': self.max_acceleration.tolist(),
        }


def _share(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value <= 1.0:
        raise MotionError(
            f'a speed of a bidirectional motion is a share of the largest velocity, above 0 and '
            f'at most 1, got {value!r:.40}'
        )
    return float(value)
