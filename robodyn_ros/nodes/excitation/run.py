# SPDX-License-Identifier: Apache-2.0
"""One run of an excitation: its trajectory, its progress and its stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.action import Excite
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.spline import SplineTrajectory
from robodyn_ros.excitation.plan import Plan, points_of
from robodyn_ros.excitation.stopping import StoppedMotion
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.faults import number_of
from robodyn_ros.nodes.base.clock import to_duration, to_stamp

Array = NDArray[np.float64]
FOLLOWING_TIME = 0.5
"""Largest delay of a drive, in [s]: a robot follows if it is at a position of this window."""


class Run:
    """Plan in execution; t = 0 is the start of the move to the start position.

    A stop follows the motion for `latency` seconds before it brakes, so that it can take over
    without a step until then.

    :ivar checked: end of its checks, by the clock of the node, in [s]
    :ivar message: serialised motion; None for set points
    :ivar sent: True if the motion was sent
    :ivar zero: ROS time of t = 0, in [ns]
    """

    def __init__(
        self,
        plan: Plan,
        joints: tuple[str, ...],
        max_acceleration: Array,
        *,
        spacing: float,
        latency: float,
        goal: Any = None,
        file: str = '',
    ) -> None:
        """Compute the points that are sent.

        :param max_acceleration: for stopping, shape (n,), in that order
        :param spacing: of the points, in [s]
        :param latency: of a stop, in [s]
        :param goal: goal handle of the action; None if a service started the run
        :param file: file of the motion; '' if there is none
        """
        self.checked = 0.0
        self.goal = goal
        self.file = file
        self.begin = plan.begin
        self.full = SplineTrajectory(points=points_of(plan.trajectory, spacing).select(joints))
        self.active: Trajectory = self.full
        self.offset = 0.0
        self.time = 0.0
        self.reason = NO_FAULT
        self.sent = False
        self.message: bytes | None = None
        self.zero = 0
        self.stamps: dict[str, int] = {}
        self._limit = max_acceleration
        self._latency = latency

    @property
    def end(self) -> float:
        """Return the time of rest, in [s]; a stop changes it."""
        return self.offset + self.active.duration

    @property
    def stopping(self) -> bool:
        """Return True if the braking trajectory has taken over."""
        return self.active is not self.full

    def setpoint(self, time: float) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at a time of the run, each of shape (n,)."""
        if isinstance(self.active, SplineTrajectory):
            return self.active.at(min(time, self.active.duration))
        motion = self.active.sample(np.array([time - self.offset]))
        return motion.position[0], motion.velocity[0], motion.acceleration[0]

    def recent(self, window: float, time: float) -> tuple[Array, Array]:
        """Return the lowest and highest position in `window` seconds before a time, each (n,).

        :param time: of the run, in [s]; not later than the present
        """
        end = min(time, self.time)
        moments = np.linspace(end - window, end, 11)
        position = self.full.sample(moments).position
        if self.stopping:  # joint states that are late refer to a time before the stop
            later = moments >= self.offset
            position[later] = self.active.sample(moments[later] - self.offset).position
        return position.min(axis=0), position.max(axis=0)

    def lagging(
        self, position: Array, time: float, tolerance: float, limits: JointLimits
    ) -> Fault:
        """Return the fault of a joint that does not follow the motion, or NO_FAULT.

        :param position: measured at the time, shape (n,)
        :param time: of the run, in [s]
        :param tolerance: in [rad] or [m]; 0: not checked
        """
        low, high = self.recent(FOLLOWING_TIME, time)
        distance = np.maximum(low - position, position - high)
        joint = int(np.argmax(distance))
        if tolerance <= 0.0 or distance[joint] <= tolerance:
            return NO_FAULT
        return Fault(
            'not_following',
            f'joint {limits.joints[joint]!r} does not follow: it is '
            f'{distance[joint]:.3g} {limits.units[joint]} from where it should be',
        )

    def off_target(self, position: Array, tolerance: float, limits: JointLimits) -> Fault:
        """Return the fault of a joint that is not at its end, or NO_FAULT; see `lagging`."""
        distance = np.abs(position - self.setpoint(self.end)[0])
        joint = int(np.argmax(distance))
        if distance[joint] <= tolerance:
            return NO_FAULT
        name, unit = limits.joints[joint], limits.units[joint]
        return Fault(
            'not_at_goal',
            f'joint {name!r} is {distance[joint]:.3g} {unit} from the end of the motion, '
            f'allowed is {tolerance:.3g} {unit}: is the controller running?',
        )

    def advance(self, time: float, now: int) -> None:
        """Set the time of the run [s] and the ROS time [ns]; store start and end stamps."""
        self.time = time
        for name, moment in (('started', self.begin), ('finished', self.end)):
            if time >= moment and name not in self.stamps and self._reaches(moment):
                self.stamps[name] = now - round((time - moment) * 1e9)

    def _reaches(self, moment: float) -> bool:
        """Return True if the excitation itself runs at that time; a stop may come before."""
        return moment >= self.begin and (not self.stopping or self.offset >= self.begin)

    def stop(self, reason: Fault, moment: Callable[[], float]) -> None:
        """Let a braking trajectory take over. It is computed here, which takes milliseconds.

        :param moment: returns the time of the run now, in [s]
        """
        self.reason = reason
        while True:
            stop = StoppedMotion(
                motion=self.full,
                time=moment(),
                max_acceleration=self._limit,
                follow=self._latency,
            )
            late = moment() - stop.time > 0.7 * self._latency  # it would arrive while braking
            if not late or stop.time >= self.full.duration:
                break
            self._latency *= 2.0  # the machine stood still meanwhile
        self.active, self.offset = stop, stop.time

    def feedback(self) -> Excite.Feedback:
        """Return phase and progress."""
        if self.reason:
            phase, first, last = Excite.Feedback.STOPPING, self.offset, self.end
        elif self.time >= self.begin:
            phase, first, last = Excite.Feedback.EXCITING, self.begin, self.end
        else:
            phase, first, last = Excite.Feedback.MOVING_TO_START, 0.0, self.begin
        share = float(np.clip((self.time - first) / max(last - first, 1e-9), 0.0, 1.0))
        remaining = max(0.0, self.end - max(self.time, 0.0))
        return Excite.Feedback(phase=phase, progress=share, remaining=to_duration(remaining))

    def result(self, success: bool, text: str, now: int) -> Excite.Result:
        """Return the result of an ended run.

        :param text: a `Fault` gives its code
        :param now: ROS time in [ns], the end of a motion that was stopped
        """
        result = Excite.Result(
            success=success, message=text, fault_code=number_of(text), motion_file=self.file
        )
        if 'started' in self.stamps:
            result.started = to_stamp(self.stamps['started'])
            result.finished = to_stamp(self.stamps.get('finished', now))
        return result
