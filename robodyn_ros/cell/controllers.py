"""What stands between the topics and the drives: the controllers of ros2_control.

There is no controller_manager here. A controller becomes active when its first command arrives,
and takes its command interface from the one that held it: `forward_position_controller` takes
the position from the joint_trajectory_controller (JTC) and a new trajectory takes it back;
`forward_effort_controller` takes the effort for good, which leaves the JTC position-only until
`reset`, with all that follows from it for trajectories that carry effort.
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
    """forward_command_controller: the last command stays, there is no time-out."""

    def __init__(self, *, name: str, joints: Sequence[str]) -> None:
        """Wait for a first command."""
        self.name = name
        self.joints = tuple(joints)
        self.active = False
        self.failed = False
        self.command = np.zeros(len(self.joints))

    def accept(self, values: Sequence[float]) -> None:
        """Take a command, shape (n,); the first one activates the controller.

        :raises CellError: wrong length or not finite, which deactivates the controller; it then
            takes no command until `reset` and its last one stays on the interface
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
        """Wait for a first command again."""
        self.active = self.failed = False
        self.command = np.zeros(len(self.joints))


class Controllers:
    """The three controllers and who holds which command interface."""

    def __init__(
        self,
        *,
        joints: Sequence[str],
        position: Array,
        position_only: bool = False,
        effort_limit: Array | None = None,
    ) -> None:
        """Hold a position.

        :param position: shape (n,), in [rad] or [m]
        :param position_only: the JTC has no effort interface
        :param effort_limit: what effort commands are clipped to, shape (n,), in [Nm] or [N], as
            ros2_control does with `enforce_command_limits`; None: they pass as they are, which
            is Jazzy's default
        """
        self._position_only = position_only
        self._effort_limit = effort_limit
        self.trajectory = JointTrajectoryController(joints=joints, position=position)
        self.position = ForwardController(name='forward_position_controller', joints=joints)
        self.effort = ForwardController(name='forward_effort_controller', joints=joints)
        self.reset(position)

    def reset(self, position: Array) -> None:
        """Hold a position without effort, all forward controllers waiting."""
        self.trajectory.reset(position)
        self.trajectory.position_only = self._position_only
        self.position.reset()
        self.effort.reset()
        self.reference = self.trajectory.reference

    def accept_trajectory(
        self, points: TrajectoryPoints | None, *, now: float, stamp: float | None = None
    ) -> None:
        """Give the JTC a trajectory; None is one without points.

        :raises MotionError: the JTC refuses it, as the real one refuses a message without points
        """
        if points is None:
            raise MotionError('Empty trajectory received.')
        if self.position.active:
            # The JTC goes on from where the other controller left the robot.
            self.trajectory.resume(self.reference.position)
        self.trajectory.accept(points, now=now, stamp=stamp)
        self.position.active = False

    def accept_position(self, values: Sequence[float]) -> None:
        """Give forward_position_controller a command, shape (n,), in [rad] or [m].

        :raises CellError: the command is not usable
        """
        self.position.accept(values)
        if self.trajectory.moving:
            self.trajectory.cancel()

    def accept_effort(self, values: Sequence[float]) -> None:
        """Give forward_effort_controller a command, shape (n,), in [Nm] or [N].

        :raises CellError: the command is not usable
        """
        self.effort.accept(values)
        self.trajectory.position_only = True

    def states(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Lifecycle state and claimed command interfaces of each controller.

        A controller that takes its interfaces with its next command counts as active and as
        having them.
        """
        kinds = ('position',) if self.trajectory.position_only else ('position', 'effort')
        found = {'joint_trajectory_controller': ('active', self._names(*kinds))}
        for controller, kind in ((self.position, 'position'), (self.effort, 'effort')):
            failed = controller.failed
            found[controller.name] = ('inactive', ()) if failed else ('active', self._names(kind))
        return found

    def _names(self, *kinds: str) -> tuple[str, ...]:
        return tuple(f'{joint}/{kind}' for kind in kinds for joint in self.effort.joints)

    def update(self, now: float) -> Reference:
        """Return what is commanded in the cycle at this time."""
        reference = self.trajectory.update(now)
        if self.position.active:
            zero = np.zeros_like(reference.position)
            reference = Reference(self.position.command, zero, zero, zero)
        if self.effort.active:
            reference = reference._replace(effort=self.effort.command)
        if self._effort_limit is not None:
            clipped = np.clip(reference.effort, -self._effort_limit, self._effort_limit)
            reference = reference._replace(effort=clipped)
        self.reference = reference
        return reference
