# SPDX-License-Identifier: Apache-2.0
"""Joint states and references that the collision monitor receives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn_ros.control.collision.states.reference_rest import ReferenceRest
from robodyn_ros.control.torque.delay import DelayLine
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.wire.commands import CommandReader


class Inputs:
    """Last sample of the robot, and the motion that its model torque is computed from.

    :ivar motion: position and velocity of the delayed reference; None: those of the sample
    """

    def __init__(
        self, joints: Sequence[str], now: Callable[[], float], *, source: str, delay: int,
        timeout: float,
    ) -> None:  # fmt: skip
        """Prepare for these joints.

        :param now: time of the node's clock, in [s]
        :param source: of the motion: 'feedback' or 'reference'
        :param delay: cycles between a reference and its effect
        :param timeout: largest age of a sample and of the reference, in [s]
        """
        self._now, self._timeout = now, timeout
        self.state = JointStateReader(joints)
        self._from_reference = source == 'reference'
        self._reference = JointStateReader(joints, required=('position', 'velocity'))
        self._commands, self._rest = CommandReader(joints), ReferenceRest(len(joints))
        self._delay = DelayLine(width=2 * len(joints), cycles=delay)
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self.motion: tuple[Array, Array] | None = None
        self._received = self._reference_time = -math.inf
        self._problem = ''
        self._delay.clear()
        self._rest.restart()

    @property
    def time(self) -> Any:
        """Stamp of the last sample as a message."""
        return self.state.time

    @property
    def reference_rests(self) -> bool:
        """True if commanded positions are known and rest; then a push shows in the torque."""
        return self._rest.rests(self.state.stamp)

    @property
    def reference_known(self) -> bool:
        """True if there were commanded positions since the start."""
        return self._rest.known

    @property
    def fresh(self) -> bool:
        """True if the last usable sample is not older than the timeout."""
        return self._now() - self._received <= self._timeout

    def at_rest(self, low: Array) -> bool:
        """Return True if the robot is known to be at rest.

        :param low: largest velocity at rest, shape (n,), in [rad/s] or [m/s]
        """
        return self.fresh and bool((np.abs(self.state.velocity) <= low).all())

    def read_state(self, serialised: bytes) -> Fault:
        """Read a sample of the joint states; return NO_FAULT or why it cannot be used."""
        if problem := self.state.read_bytes(serialised):
            self._problem = f' (refused: {problem})'
            return Fault('state_refused', problem)
        if self._from_reference and self._now() - self._reference_time > self._timeout:
            return Fault('reference_missing', 'there is no usable reference')
        self._received, self._problem = self._now(), ''
        return NO_FAULT

    def read_reference(self, serialised: bytes) -> str:
        """Read a reference, and delay it like the drives; return '' or why it is refused."""
        reference, before = self._reference, self._reference.stamp
        problem = reference.read_bytes(serialised)
        if problem or reference.stamp <= before:
            return f'reference refused: {problem or "its stamp does not advance"}'
        self._reference_time = self._now()
        width = len(reference.joints)
        delayed = self._delay.push(np.concatenate([reference.position, reference.velocity]))
        self.motion = (delayed[:width].copy(), delayed[width:].copy())
        return ''

    def read_commands(self, serialised: bytes) -> None:
        """Read commanded positions: whether they rest. Messages without all joints are ignored."""
        if (command := self._commands.read(serialised)) is not None:
            self._rest.update(*command)

    def silence(self) -> Fault:
        """Return that there was no usable sample for longer than the timeout, or NO_FAULT."""
        if self.fresh:
            return NO_FAULT
        age = self._now() - self._received
        text = f'no joint states for {age:.2f} s' if age < math.inf else 'no joint states yet'
        return Fault('state_missing', f'{text}{self._problem}')
