# SPDX-License-Identifier: Apache-2.0
"""Position and velocity of the robot, their age, and rest."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.robot.joint_states import JointStateReader

Array = NDArray[np.float64]
WINDOW = 0.1
"""Time over which speeds are measured as the range of positions, in [s]: joint states of 50 Hz
give five positions. Not every robot reports velocities."""
BRIEF = 0.5 * WINDOW
"""Time over which a velocity is measured, in [s]: the resolution of encoders over it is far below
0.02 rad/s, and a robot changes its velocity little."""
LONGEST = 2.0 * WINDOW
"""Longest time that `moving` can look back, in [s]."""


class RobotState:
    """Last positions of some joints, and their recent motion."""

    def __init__(self, joints: Sequence[str], now: Callable[[], float] = time.monotonic) -> None:
        """Prepare for these joints; the position is NaN until the first message.

        :param now: return the time of the node, in [s]
        """
        self._now = now
        self._reader = JointStateReader(joints, required=('position',))
        self._received = -np.inf
        self._problem = ''
        self._recent: deque[tuple[float, Array]] = deque()

    @property
    def position(self) -> Array:
        """Last position, shape (n,), in [rad] or [m]."""
        return self._reader.position

    @property
    def stamp(self) -> float:
        """Time of the position by its stamp, in [s]."""
        return self._reader.stamp

    @property
    def received(self) -> float:
        """Time of reading the last usable message, by the clock of the node, in [s]."""
        return self._received

    @property
    def known(self) -> bool:
        """True if position and motion of the robot are known."""
        return self._range(WINDOW) is not None

    def motion(self, now: float) -> tuple[Array, Array]:
        """Return position and velocity at a ROS time, each of shape (n,), of a `known` robot.

        :param now: in [s], by the clock of the stamps; the position is extrapolated to it, by
            `BRIEF` at most
        """
        moments, positions = self._since(BRIEF)
        velocity = (positions[-1] - positions[0]) / (moments[-1] - moments[0])
        return positions[-1] + velocity * np.clip(now - moments[-1], 0.0, BRIEF), velocity

    def read(self, message: JointState) -> None:
        """Read a message; one that cannot be used is ignored."""
        self._problem = self._reader.read(message)
        if self._problem:
            return
        self._received = self._now()
        # By stamps, because a process that was delayed reads many messages at once.
        moment = self._reader.stamp or self._received
        recent = self._recent
        if recent and not 0.0 <= moment - recent[-1][0] <= 10 * WINDOW:
            recent.clear()
        if recent and moment == recent[-1][0]:
            recent.pop()
        recent.append((moment, self.position.copy()))
        while len(recent) > 1 and moment - recent[1][0] >= LONGEST:
            recent.popleft()

    def _range(self, duration: float) -> Array | None:
        """Return the travel of each joint in the last `duration` [s], (n,); None: unknown."""
        if not self._recent or self._recent[-1][0] - self._recent[0][0] < duration:
            return None
        moved: Array = np.ptp(self._since(duration)[1], axis=0)
        return moved

    def _since(self, duration: float) -> tuple[Array, Array]:
        """Return times (N,) and positions (N, n) of the last `duration` [s], which is known."""
        moments = np.array([moment for moment, _ in self._recent])
        first = np.searchsorted(moments, moments[-1] - duration, side='right') - 1
        return moments[first:], np.array([position for _, position in self._recent])[first:]

    def check_fresh(self, timeout: float) -> None:
        """Refuse joint states older than `timeout` [s].

        :raises ControlError: with the age, and why the last message was not used
        """
        age = self._now() - self._received
        if age <= timeout:
            return
        text = f'there are no joint states for {age:.1f} s'
        if np.isinf(age):
            text = 'there are no joint states yet'
        text += f' (refused: {self._problem})' if self._problem else ''
        raise ControlError(text, fault='state_missing')

    def check_rest(self, threshold: float) -> None:
        """Raise a ControlError if a joint is faster than `threshold` [rad/s or m/s]."""
        if not self.known:
            text = 'it is not known yet whether the robot is at rest'
            raise ControlError(text, fault='robot_moves')
        if problem := self.moving(threshold):
            raise ControlError(problem, fault='robot_moves')

    def moving(self, threshold: float, duration: float = WINDOW) -> str:
        """Return which joint moved faster than `threshold` [rad/s or m/s], or '' at rest.

        :param duration: in [s], up to LONGEST, in which no joint may have moved further than at
            the threshold in WINDOW; an unknown motion counts as motion
        """
        moved = self._range(duration)
        if moved is None:
            return f'there are no joint states of the last {duration:g} s'
        joint = int(np.argmax(moved))
        if moved[joint] <= threshold * WINDOW:
            return ''
        return (
            f'the robot moves: joint {self._reader.joints[joint]!r} at '
            f'{moved[joint] / WINDOW:.3g} per second, {threshold:g} counts as rest'
        )
