# SPDX-License-Identifier: Apache-2.0
"""Watchdog of joint states that are missing, frozen, or go back in time."""

from __future__ import annotations

import math

import numpy as np

from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array

CREEP = 0.01
"""Velocity up to which positions may be constant due to resolution, in [rad/s] or [m/s]: 20 urad
in 2 ms, the step of an encoder of 18 bits."""
MOVED = 0.01
"""Travel of the reference, in [rad] or [m], after which positions must have changed: far above
the resolution of encoders and the error of a drive at rest."""


class StateWatch:
    """Check of every joint state while torque is applied; the caller reacts to its messages.

    A joint_state_broadcaster whose hardware read fails publishes old values with new stamps. So
    does a robot at rest. Frozen values are therefore counted only after the reference has moved,
    with time for the robot to follow.
    """

    def __init__(self, *, width: int, timeout: float) -> None:
        """Start without a state.

        :param timeout: longest time without a new state, in [s]; 0: states are not watched
        :ivar position: last known position of the robot, shape (n,); NaN: unknown
        :ivar changed: stamp of the state that reached this position, in [s]; -inf: no motion yet
        :ivar known: stamp of the last state with a valid position, in [s]; a position that does
            not change at a velocity other than zero is not valid
        """
        self.timeout = timeout
        self.position = np.full(width, np.nan)
        self._wanted = np.zeros(width)
        self.restart(0.0)

    def restart(self, now: float) -> None:
        """Forget earlier states and wait for new ones from time `now`, in [s]."""
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
    ) -> Fault:
        """Read a state; return NO_FAULT or why the torque must be removed.

        :param now: time of arrival, in [s]
        :param stamp: of the state, in [s]; a state with the last stamp is not a new one
        :param position: shape (n,), finite, in [rad] or [m]
        :param wanted: position of the reference now, shape (n,), in [rad] or [m]
        :param velocity: measured, shape (n,), in [rad/s] or [m/s]; None: unknown
        """
        step = stamp - self._stamp
        self._repeated = step == 0.0
        if not self.timeout or self._repeated:
            return NO_FAULT
        self._stamp = stamp
        if step < 0.0:
            text = f'the stamp of the joint states went back by {-step:.6g} s'
            return Fault('state_time_back', text)
        self._seen = now
        if position.tobytes() != self.position.tobytes():
            if not math.isnan(self.position[0]):
                self.changed = stamp
            self.known = stamp
            self.position[:] = position
            self._wanted[:] = wanted
            self._left = np.inf
            return NO_FAULT
        if velocity is None or np.abs(velocity).max() <= CREEP:  # standstill, as far as is known
            self.known = stamp
        if self._left == np.inf and np.abs(wanted - self._wanted).max() > MOVED:
            self._left = now
        if now - self._left > self.timeout:
            text = 'the positions in joint states do not change although the reference moves'
            return Fault('state_frozen', text)
        return NO_FAULT

    def silence(self, now: float) -> Fault:
        """Return the fault of states that are missing for too long, or NO_FAULT; `now` in [s]."""
        age = now - self._seen
        if not self.timeout or age <= self.timeout:
            return NO_FAULT
        return Fault(
            'state_missing',
            f'there has been no usable new joint state for {age:.3f} s (state_timeout is '
            f'{self.timeout:g} s){", their stamp does not advance" if self._repeated else ""}',
        )
