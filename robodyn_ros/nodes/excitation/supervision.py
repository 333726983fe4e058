# SPDX-License-Identifier: Apache-2.0
"""Supervision of the robot, before a motion starts and while it runs."""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ControlError, Fault
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_position
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.robot.robot_state import WINDOW, RobotState


class Supervision:
    """Conditions under which the robot may start to move, and reasons to stop it.

    The conditions are checked before a motion is planned, and again before it is sent.
    """

    def __init__(
        self,
        state: RobotState,
        limits: JointLimits,
        settings: Settings,
        output: Output,
        owner: Owner,
        guard: Guard,
    ) -> None:
        """Store the objects that are supervised."""
        self._state, self._limits, self._settings = state, limits, settings
        self._output, self._owner, self._guard = output, owner, guard

    def check(self) -> None:
        """Refuse a robot that must not start to move.

        :raises RobodynError: its position is unknown, it moves, it is outside its limits, or the
            command topic has no subscriber
        """
        self._state.check_fresh(self._settings.state_timeout)
        self._state.check_rest(self._settings.moving_threshold)
        check_position(self._state.position, self._limits, 'the robot stands')
        self._output.check_heard()

    def waits(self, run: Run, now: float) -> bool:
        """Return True until a joint state arrives after the check of the motion, or a timeout.

        The check takes seconds, and the processor from the node that reads joint states.

        :param now: by the clock of the node, in [s]
        """
        seen = self._state.received > run.checked and self._state.known
        return not seen and now <= run.checked + self._settings.state_timeout + WINDOW

    def check_again(self, run: Run) -> None:
        """Refuse a robot that must not start to move, or is not at the start of the motion.

        :raises RobodynError: see `check`, or naming the joint that moved
        """
        self.check()
        moved = np.abs(self._state.position - run.setpoint(0.0)[0])
        joint = int(np.argmax(moved))
        if moved[joint] > self._settings.moving_threshold * WINDOW:  # as at rest
            raise ControlError(
                f'joint {self._limits.joints[joint]!r} moved by {moved[joint]:.3g} '
                f'{self._limits.units[joint]} while its motion was checked: start again',
                fault='robot_moves',
            )

    def problem(self, run: Run) -> Fault:
        """Return the reason to stop the run, or NO_FAULT.

        Reasons are missing joint states or torques, the end of the node that started the run, and
        a robot that does not follow.
        """
        try:
            self._state.check_fresh(self._settings.state_timeout)
        except ControlError as error:
            return Fault(error.fault, str(error))
        return self._owner.problem() or self._guard.silence() or self.not_following(run)

    def not_following(self, run: Run) -> Fault:
        """Return the fault of a joint with too large a tracking error, or NO_FAULT."""
        # at the time of the stamp, because joint states may be late on a busy machine
        seen = self._state.stamp - 1e-9 * run.zero
        tolerance = self._settings.following_tolerance
        return run.lagging(self._state.position, seen, tolerance, self._limits)
