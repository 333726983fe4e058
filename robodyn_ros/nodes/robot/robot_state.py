"""Where the robot is, how fresh that is, and whether it is at rest."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.robot.joint_states import JointStateReader

Array = NDArray[np.float64]
WINDOW = 0.1
"""Speeds are the range of positions in this time [s]; not every robot gives velocities."""
LONGEST = 0.2
"""Longest time that `moving` can look back, in [s]."""


class RobotState:
    """The last positions of some joints, and how far they moved in the last moment."""

    def __init__(self, joints: Sequence[str]) -> None:
        """Prepare for these joints; the position is NaN until the first message."""
        self._reader = JointStateReader(joints, required=('position',))
        self._received = -np.inf
        self._problem = ''
        self._recent: deque[tuple[float, Array]] = deque()

    @property
    def position(self) -> Array:
        """Shape (n,), in [rad] or [m]."""
        return self._reader.position

    @property
    def stamp(self) -> float:
        """Time of the position by its stamp, in [s]."""
        return self._reader.stamp

    @property
    def received(self) -> float:
        """Return when the last usable message was read, by `time.monotonic`, in [s]."""
        return self._received

    @property
    def known(self) -> bool:
        """Tell whether enough has been received to say where the robot is and how it moves."""
        return self._range(WINDOW) is not None

    def read(self, message: JointState) -> None:
        """Take over a message; one that cannot be used counts as none."""
        self._problem = self._reader.read(message)
        if self._problem:
            return
        self._received = time.monotonic()
        # A process that was held up reads many messages at once: their stamps tell them apart.
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
        """Return how far each joint moved in the last `duration` [s], (n,); None: not known."""
        moments = np.array([moment for moment, _ in self._recent])
        if not len(moments) or moments[-1] - moments[0] < duration:
            return None
        first = np.searchsorted(moments, moments[-1] - duration, side='right') - 1
        positions = np.array([position for _, position in self._recent])[first:]
        moved: Array = np.ptp(positions, axis=0)
        return moved

    def check_fresh(self, timeout: float) -> None:
        """Refuse joint states older than `timeout` [s].

        :raises ControlError: saying how old, and why the last message was not used
        """
        age = time.monotonic() - self._received
        if age <= timeout:
            return
        text = f'there are no joint states for {age:.1f} s'
        if np.isinf(age):
            text = 'there are no joint states yet'
        raise ControlError(text + (f' (refused: {self._problem})' if self._problem else ''))

    def check_rest(self, threshold: float) -> None:
        """Refuse a robot that moves faster than `threshold` [rad/s or m/s].

        :raises ControlError: naming the joint and its speed
        """
        if not self.known:
            raise ControlError('it is not known yet whether the robot is at rest')
        if problem := self.moving(threshold):
            raise ControlError(problem)

    def moving(self, threshold: float, duration: float = WINDOW) -> str:
        """Return which joint moved faster than `threshold` [rad/s or m/s], or '' at rest.

        :param duration: in [s], up to LONGEST, in which no joint may have moved further than at
            the threshold in WINDOW; what is not known so long counts as motion
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
