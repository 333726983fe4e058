# SPDX-License-Identifier: Apache-2.0
"""Joint states and references that the collision monitor receives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn_ros.control.collision.change_at_rest import ReferenceRest
from robodyn_ros.control.torque.delay import DelayLine
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.wire.commands import CommandReader
from robodyn_ros.wire.cursor import NANOSECONDS


class Inputs:
    """Last sample of the robot, and the motion that its model torque is computed from.

    :ivar motion: position and velocity of the delayed reference; None: those of the sample
    :ivar received: time of the last usable sample, by `time.monotonic`, in [s]; 0: none yet
    """

    def __init__(self, joints: Sequence[str], *, source: str, delay: int) -> None:
        """Prepare for these joints.

        :param delay: cycles between a reference and its effect
        """
        self.state = JointStateReader(joints)
        self._from_reference = source == 'reference'
        self._reference = JointStateReader(joints, required=('position', 'velocity'))
        self._commands, self._rest = CommandReader(joints), ReferenceRest(len(joints))
        self._delay = DelayLine(width=2 * len(joints), cycles=delay)
        self.restart()

    def restart(self) -> None:
        """Forget all samples."""
        self.motion: tuple[Array, Array] | None = None
        self.received = self._reference_time = 0.0
        self._delay.clear()
        self._rest.restart()

    @property
    def stamp(self) -> int:
        """Stamp of the last sample, in [ns]."""
        seconds, nanoseconds = self.state.clock
        return seconds * NANOSECONDS + nanoseconds

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
    def age(self) -> float:
        """Time since the last usable sample, in [s]."""
        return time.monotonic() - self.received

    def read_state(self, serialised: bytes, timeout: float) -> Fault:
        """Read a sample of the joint states; return NO_FAULT or why it cannot be used.

        :param timeout: largest age of the reference, in [s]
        """
        if problem := self.state.read_bytes(serialised):
            return Fault('state_refused', problem)
        if not self._reference_fresh(timeout):
            return Fault('reference_missing', 'there is no usable reference')
        self.received = time.monotonic()
        return NO_FAULT

    def read_reference(self, serialised: bytes) -> str:
        """Read a reference, and delay it like the drives; return '' or why it is refused."""
        reference, before = self._reference, self._reference.stamp
        problem = reference.read_bytes(serialised)
        if problem or reference.stamp <= before:
            return f'reference refused: {problem or "its stamp does not advance"}'
        self._reference_time = time.monotonic()
        width = len(reference.joints)
        delayed = self._delay.push(np.concatenate([reference.position, reference.velocity]))
        self.motion = (delayed[:width].copy(), delayed[width:].copy())
        return ''

    def read_commands(self, serialised: bytes) -> None:
        """Read commanded positions: whether they rest. Messages without all joints are ignored."""
        if (found := self._commands.read(serialised)) is not None:
            self._rest.update(*found)

    def silence(self, timeout: float) -> Fault:
        """Return why there was no usable sample for longer than `timeout` [s], or NO_FAULT."""
        age = self.age
        if age <= timeout:
            return NO_FAULT
        text = f'no joint states for {age:.2f} s' if self.received else 'no joint states yet'
        return Fault('state_missing', text)

    def _reference_fresh(self, timeout: float) -> bool:
        unused = not self._from_reference
        return unused or time.monotonic() - self._reference_time <= timeout
