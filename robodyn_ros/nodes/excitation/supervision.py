# SPDX-License-Identifier: Apache-2.0
"""Supervision of a robot that runs a motion."""

from __future__ import annotations

from robodyn_ros.errors import ControlError, Fault
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.robot.robot_state import RobotState


class Supervision:
    """Reasons to stop a run."""

    def __init__(
        self,
        state: RobotState,
        limits: JointLimits,
        settings: Settings,
        owner: Owner,
        guard: Guard,
    ) -> None:
        """Store the objects that are supervised."""
        self._state, self._limits, self._settings = state, limits, settings
        self._owner, self._guard = owner, guard

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
