"""Is the robot still there: joint states that stay away, go back in time or stand still."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.control.feedforward.reference import CREEP
from robodyn_ros.models.interface import Array

MOVED = 0.01
"""Way of the reference, in [rad] or [m], in which no position may stay the very same."""


class StateWatch:
    """Looks at every joint state while torque is applied; the caller acts on what it says.

    A joint_state_broadcaster whose read fails publishes the old values with a new stamp. A robot
    that stands still does so too, so that frozen values count only from when the reference has
    moved; a robot may have stood for long, and takes time to follow.
    """

    def __init__(self, *, width: int, timeout: float) -> None:
        """Begin.

        :param width: number n of joints
        :param timeout: longest time without a new state, in [s]; 0: nothing is watched
        :ivar position: where the robot was seen at last, shape (n,); NaN: nowhere yet
        :ivar changed: stamp of the state with which it came there, in [s]; -inf: it has not moved
        :ivar known: stamp of the last state that tells where it is, in [s]: not of one whose
            position is the old one while its velocity says that it moves
        """
        self.timeout = timeout
        self.position = np.full(width, np.nan)
        self.changed = self.known = -np.inf
        self._wanted = np.zeros(width)
        self.restart(0.0)

    def restart(self, now: float) -> None:
        """Forget what was seen and give the states time to come; `now` in [s]."""
        self._stamp = -np.inf
        self._repeated = False
        self._seen = now
        self._left = np.inf
        self.changed = self.known = -np.inf
        self.position[:] = np.nan

    def read(
        self,
        now: float,
        stamp: float,
        position: Array,
        wanted: Array,
        velocity: Array | None = None,
    ) -> str:
        """Take a state over; return '' or why the torque must go.

        :param now: time of arrival, in [s]
        :param stamp: of the state, in [s]; one that repeats the last stamp is no new state
        :param position: shape (n,), finite, in [rad] or [m]
        :param wanted: position of the reference now, shape (n,), in [rad] or [m]
        :param velocity: measured, shape (n,), in [rad/s] or [m/s]; None: unknown
        """
        if not self.timeout:
            return ''
        step = stamp - self._stamp
        self._repeated = step == 0.0
        if self._repeated:
            return ''
        self._stamp = stamp
        if step < 0.0:
            return f'the stamp of the joint states went back by {-step:.6g} s'
        self._seen = now
        if position.tobytes() != self.position.tobytes():
            if not math.isnan(self.position[0]):
                self.changed = stamp
            self.known = stamp
            self.position[:] = position
            self._wanted[:] = wanted
            self._left = np.inf
            return ''
        if velocity is None or np.abs(velocity).max() <= CREEP:  # it stands, as far as is known
            self.known = stamp
        if self._left == np.inf and np.abs(wanted - self._wanted).max() > MOVED:
            self._left = now
        if now - self._left > self.timeout:
            return 'the positions in joint states do not change although the reference moves'
        return ''

    def silence(self, now: float) -> str:
        """Say that there has been no new state for too long, or nothing; `now` in [s]."""
        age = now - self._seen
        if not self.timeout or age <= self.timeout:
            return ''
        return (
            f'there has been no usable new joint state for {age:.3f} s (state_timeout is '
            f'{self.timeout:g} s){", their stamp stays the same" if self._repeated else ""}'
        )
