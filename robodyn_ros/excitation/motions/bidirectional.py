# SPDX-License-Identifier: Apache-2.0
"""Bidirectional friction experiment: each joint back and forth at several constant speeds.

At the same position and opposite velocities, gravity and centrifugal torque are equal and friction
has opposite signs, so that half the difference of the two torques is friction alone
(document double_encoder, Eq. 5 to 8). `robodyn friction` evaluates the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.arguments import joint_names, per_joint
from robodyn_ros.excitation.motions.joint_moves import JointMoves
from robodyn_ros.excitation.motions.point_to_point import PointToPoint
from robodyn_ros.excitation.motions.speed_profile import SpeedProfile
from robodyn_ros.excitation.trajectory import Array, Chain, Trajectory

PAUSE = 0.2
"""Standstill between two passes, in [s]: time for oscillations to decay."""


class BidirectionalMotion(Chain):
    """Passes of one joint at a time, forth and back over a range, once per speed.

    The other joints are at rest. Every pass has a trapezoidal velocity profile. A pass that is too
    short to reach its speed is refused, because it has no phase of constant speed.
    """

    kind = 'bidirectional'

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
        parts: list[Trajectory] = []
        for joint in np.flatnonzero(self.start != self.target):
            for share in self.speeds:
                parts += self._passes(int(joint), share)
        if not parts:
            raise MotionError('a bidirectional motion needs a speed and a joint that moves')
        super().__init__(parts=parts)

    def _passes(self, joint: int, share: float) -> Iterator[Trajectory]:
        """Yield a pass forth and a pass back, each with a pause after it."""
        profile = self._profile(joint, share)
        for ends in ((self.start, self.target), (self.target, self.start)):
            points = np.tile(self.start, (2, 1))
            points[:, joint] = [end[joint] for end in ends]
            yield JointMoves(
                joints=self.joints,
                points=points,
                durations=[profile.duration],
                ramp=profile.ramp_time / profile.duration,
                rise=0.0,
            )
            rest = points[1]
            yield PointToPoint(joints=self.joints, start=rest, target=rest, duration=PAUSE)

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


def _share(value: float) -> float:
    if not 0.0 < value <= 1.0:
        raise MotionError(
            f'a speed of a bidirectional motion is a share of the largest velocity, above 0 and '
            f'at most 1, got {value!r:.40}'
        )
    return float(value)
