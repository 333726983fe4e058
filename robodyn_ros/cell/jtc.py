# SPDX-License-Identifier: Apache-2.0
"""Simulation of the joint_trajectory_controller (JTC) of ros2_controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints

Array = NDArray[np.float64]
POSITION_ONLY = (
    "Trajectories with effort fields are only supported for controllers using the 'effort' "
    'command interface'
)

REST = float(np.finfo(np.float32).eps)
"""Largest velocity of the last point, as in the C++ source, in [rad/s] or [m/s]."""


class Reference(NamedTuple):
    """Commands of one cycle; arrays of shape (n,), SI."""

    position: Array
    velocity: Array
    acceleration: Array
    effort: Array


class JointTrajectoryController:
    """Controller with command interfaces position and effort, and one trajectory at a time.

    Its behaviour is that of ros2_controllers 4.42 with `interpolate_from_desired_state`:

    - Effort is interpolated linearly; a point without effort counts as 0.
    - A new trajectory replaces the running one immediately. To a first point in the future it
      goes from the last command. The real one dates that command by a cycle too early, and
      without the option goes from the measured state.
    - After its end the last point is held, with its effort.
    - A cancel holds the position and commands the final effort of the last trajectory that
      reached its end.
    """

    def __init__(
        self, *, joints: Sequence[str], position: Array, position_only: bool = False
    ) -> None:
        """Hold a position.

        :param position: shape (n,), in [rad] or [m]
        """
        self.joints = tuple(joints)
        self.position_only = position_only
        self.reset(position)

    def reset(self, position: Array) -> None:
        """Clear the state and hold this position without effort."""
        zero = np.zeros(len(self.joints))
        self._commanded = 0.0
        self.reference = Reference(np.array(position), zero, zero, zero)
        self._finished_effort = zero
        self._drop()

    def _drop(self) -> None:
        self._spline: SplineTrajectory | None = None
        self._begin = 0.0

    def _check_rest(self, velocity: Array) -> None:
        moving = np.abs(velocity) > REST
        if moving.any():
            joint = int(np.argmax(moving))
            raise MotionError(
                f'the velocity of the last point must be 0, joint {self.joints[joint]!r} has '
                f'{velocity[joint]:.6g}'
            )

    @property
    def moving(self) -> bool:
        """True if a trajectory is pending or running."""
        return self._spline is not None

    def accept(self, points: TrajectoryPoints, *, now: float, stamp: float | None = None) -> None:
        """Accept a trajectory, which replaces the running one.

        :param now: time of the current cycle, in [s]
        :param stamp: start time of the points, in [s]; None: now. As in the JTC the motion to
            the first point starts on arrival, even if its time is far ahead
        :raises MotionError: the trajectory has other joints, has effort for a position-only
            controller, does not end at rest, or has already ended
        """
        if self.position_only and points.effort is not None:
            raise MotionError(POSITION_ONLY)
        points = points.select(self.joints)
        if points.velocity is not None:
            self._check_rest(np.nan_to_num(points.velocity[-1]))
        lead = 0.0 if stamp is None else stamp - now
        if lead + points.time[-1] < 0.0:
            raise MotionError(
                f'the trajectory ended {-lead - points.time[-1]:.3f} s before it arrived'
            )
        time = points.time + lead
        # Future points are approached from the last command; a started trajectory continues.
        self._begin = now + time[0] if time[0] <= 0.0 else self._commanded or now
        points = replace(points, time=time + now - self._begin).with_start(*self.reference)
        self._spline = SplineTrajectory(points=points)

    def cancel(self) -> None:
        """Stop: hold the commanded position (see the class for the effort)."""
        zero = np.zeros(len(self.joints))
        self.reference = Reference(self.reference.position, zero, zero, self._finished_effort)
        self._drop()

    def resume(self, position: Array) -> None:
        """Hold a position that another controller has reached, shape (n,)."""
        self.reference = self.reference._replace(position=np.array(position))
        self.cancel()

    def update(self, now: float) -> Reference:
        """Return the reference of the cycle at this time, in [s]."""
        spline, self._commanded = self._spline, now
        if spline is None:
            return self.reference
        time = now - self._begin
        if time > spline.duration - 1e-9:  # a cycle at the end, up to rounding, ends it
            time = spline.duration
        effort = spline.points.effort_at(np.array([time]))[0]
        self.reference = Reference(*spline.at(time), effort)
        if time == spline.duration:
            zero = np.zeros(len(self.joints))
            self.reference = Reference(self.reference.position, zero, zero, effort)
            self._finished_effort = effort
            self._drop()
        return self.reference
