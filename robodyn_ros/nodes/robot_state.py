"""Where the robot is, how fresh that is, and whether it is at rest."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from robodyn_ros.errors import ControlError
from robodyn_ros.nodes.joint_states import JointStateReader

Array = NDArray[np.float64]
WINDOW = 0.1
"""Speeds are means over at least this time [s]: positions are always there, velocities not."""


class RobotState:
    """The last positions of some joints, and their mean speed over the last moment."""

    def __init__(self, joints: Sequence[str]) -> None:
        """Prepare for these joints; the position is NaN until the first message."""
        self._reader = JointStateReader(joints, required=('position',))
        self._received = -np.inf
        self._problem = ''
        self._before = (-np.inf, self._reader.position.copy())
        self._speed: Array | None = None

    @property
    def position(self) -> Array:
        """Shape (n,), in [rad] or [m]."""
        return self._reader.position

    @property
    def stamp(self) -> float:
        """Time of the position by its stamp, in [s]."""
        return self._reader.stamp

    @property
    def known(self) -> bool:
        """Tell whether enough has been received to say where the robot is and how it moves."""
        return self._speed is not None

    def read(self, message: JointState) -> None:
        """Take over a message; one that cannot be used counts as none."""
        self._problem = self._reader.read(message)
        if self._problem:
            return
        now = time.monotonic()
        if now - self._received > 10 * WINDOW:
            self._before, self._speed = (now, self.position.copy()), None
        self._received = now
        then, position = self._before
        if now - then >= WINDOW:
            self._speed = np.abs(self.position - position) / (now - then)
            self._before = (now, self.position.copy())

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
        if self._speed is None:
            raise ControlError('it is not known yet whether the robot is at rest')
        joint = int(np.argmax(self._speed))
        if self._speed[joint] > threshold:
            raise ControlError(
                f'the robot moves: joint {self._reader.joints[joint]!r} at '
                f'{self._speed[joint]:.3g} per second, {threshold:g} counts as rest'
            )
