# SPDX-License-Identifier: Apache-2.0
"""Conditions under which the robot may start to move."""

from __future__ import annotations

import numpy as np

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_position
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.robot.robot_state import WINDOW, RobotState


class Readiness:
    """Checks the robot before a motion is planned, and again before it is sent."""

    def __init__(
        self,
        state: RobotState,
        limits: JointLimits,
        settings: Settings,
        output: Output,
    ) -> None:
        """Store the objects that are checked."""
        self._state, self._limits, self._settings = state, limits, settings
        self._output = output

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

        :param now: by `time.monotonic`, in [s]
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
