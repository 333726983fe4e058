# SPDX-License-Identifier: Apache-2.0
"""Simulated ros2_control controllers between topics and drives.

There is no controller_manager. A controller becomes active with its first command and takes its
command interface from the controller that has it. `forward_position_controller` takes the position
from the joint_trajectory_controller (JTC), and a new trajectory takes it back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.cell.jtc import JointTrajectoryController, Reference
from robodyn_ros.errors import CellError, MotionError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints

Array = NDArray[np.float64]


class ForwardController:
    """forward_command_controller: the last command remains, without a timeout."""

    def __init__(self, *, name: str, joints: Sequence[str]) -> None:
        """Start without a command."""
        self.name = name
        self.joints = tuple(joints)
        self.active = False
        self.failed = False
        self.command = np.zeros(len(self.joints))

    def accept(self, values: Sequence[float]) -> None:
        """Accept a command, shape (n,); the first one activates the controller.

        :raises CellError: wrong length or not finite, which deactivates the controller; it then
            accepts no command until `reset`, and its last one remains on the interface
        """
        if self.failed:
            raise CellError(f'{self.name} is deactivated, reset the cell to use it again')
        if len(values) != len(self.joints):
            self.failed = True
            raise CellError(
                f'{self.name} needs {len(self.joints)} commands, got {len(values)}: deactivated'
            )
        command = np.array(values, dtype=float)
        if not math.isfinite(command.sum()):
            self.failed = True
            joint = self.joints[int(np.argmin(np.isfinite(command)))]
            raise CellError(
                f'{self.name} got a command for joint {joint!r} that is not finite: deactivated'
            )
        self.command = command
        self.active = True

    def reset(self) -> None:
        """Return to the state without a command."""
        self.active = self.failed = False
        self.command = np.zeros(len(self.joints))


class Controllers:
    """Both controllers and their claimed command interfaces."""

    def __init__(
        self,
        *,
        joints: Sequence[str],
        position: Array,
        position_only: bool = False,
    ) -> None:
        """Hold a position.

        :param position: shape (n,), in [rad] or [m]
        :param position_only: the JTC has no effort interface
        """
        self.trajectory = JointTrajectoryController(
            joints=joints, position=position, position_only=position_only
        )
        self.position = ForwardController(name='forward_position_controller', joints=joints)
        self.reset(position)

    def reset(self, position: Array) -> None:
        """Hold a position without effort, with the forward controller inactive."""
        self.trajectory.reset(position)
        self.position.reset()
        self.reference = self.trajectory.reference
        self._now, self._changed = 0.0, -math.inf

    def accept_trajectory(
        self, points: TrajectoryPoints | None, *, now: float, stamp: float | None = None
    ) -> None:
        """Send the JTC a trajectory; None is one without points.

        :raises MotionError: the JTC refuses it, as the real one refuses a message without points
        """
        if points is None:
            raise MotionError('Empty trajectory received.')
        if self.position.active:
            # The JTC continues from the position that the other controller reached.
            self.trajectory.resume(self.reference.position)
        self.trajectory.accept(points, now=now, stamp=stamp)
        self.position.active = False

    def accept_position(self, values: Sequence[float]) -> None:
        """Send forward_position_controller a command, shape (n,), in [rad] or [m].

        :raises CellError: the command is not usable
        """
        self.position.accept(values)
        if self.trajectory.moving:
            self.trajectory.cancel()

    @property
    def moving(self) -> bool:
        """True if a trajectory is pending or running, or the command changed in the last 0.1 s."""
        return self.trajectory.moving or self._now - self._changed < 0.1

    def update(self, now: float) -> Reference:
        """Return the reference of the cycle at this time."""
        reference = self.trajectory.update(now)
        if self.position.active:
            zero = np.zeros_like(reference.position)
            reference = Reference(self.position.command, zero, zero, zero)
        self._now = now
        if (reference.position != self.reference.position).any():
            self._changed = now
        self.reference = reference
        return reference
