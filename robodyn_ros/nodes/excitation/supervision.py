"""Supervision of a robot that runs a motion."""

from __future__ import annotations

from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.nodes.base.presence import Owner
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.parameters import Settings
from robodyn_ros.nodes.excitation.run import Run
from robodyn_ros.nodes.robot.robot_state import RobotState


class Supervision:
    """Tells why a run has to stop."""

    def __init__(
        self,
        state: RobotState,
        limits: JointLimits,
        settings: Settings,
        owner: Owner,
        guard: Guard,
    ) -> None:
        """Take what is watched."""
        self._state, self._limits, self._settings = state, limits, settings
        self._owner, self._guard = owner, guard

    def problem(self, run: Run) -> str:
        """Return why the run has to stop, or ''.

        Joint states or torques stay away, the node that asked for it is gone, or the robot does
        not follow.
        """
        try:
            self._state.check_fresh(self._settings.state_timeout)
        except ControlError as error:
            return str(error)
        return self._owner.problem() or self._guard.silence() or self.not_following(run)

    def not_following(self, run: Run) -> str:
        """Return which joint is not where it should have been lately, or ''."""
        # by their stamp, because joint states of a busy machine may be late
        seen = self._state.stamp - 1e-9 * run.zero
        tolerance = self._settings.following_tolerance
        return run.lagging(self._state.position, seen, tolerance, self._limits)
