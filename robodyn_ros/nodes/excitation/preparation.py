# SPDX-License-Identifier: Apache-2.0
"""Preparation of a motion or of a search: all that takes time before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from visualization_msgs.msg import Marker

from robodyn_ros.action import Excite
from robodyn_ros.excitation.advice import advise
from robodyn_ros.excitation.limits.joint_limits import CHECK_PERIOD, JointLimits, check_motion
from robodyn_ros.excitation.motions.sine import SineMotion
from robodyn_ros.excitation.plan import Plan, plan_excitation
from robodyn_ros.excitation.trajectory import Array, Trajectory
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.excitation.collisions import CollisionGuard
from robodyn_ros.nodes.excitation.design import Designer, Prepared
from robodyn_ros.nodes.excitation.guard import Guard
from robodyn_ros.nodes.excitation.output import Output
from robodyn_ros.nodes.excitation.parameters import Settings, read_motion
from robodyn_ros.nodes.excitation.path_marker import PathMarker
from robodyn_ros.nodes.excitation.run import Run

Checked = tuple[Run, Sequence[str], Marker | None]
"""A checked run, advice about its motion, and its path, which is published when it starts."""


class Preparation:
    """Functions for the thread of `Checking`, one at a time.

    They publish nothing, and end at the next `poll` when the check is cancelled.
    """

    def __init__(
        self,
        node: Node,
        limits: JointLimits,
        settings: Settings,
        output: Output,
        guard: Guard,
        collisions: CollisionGuard,
        designer: Designer,
        path: PathMarker,
    ) -> None:
        """Store the objects that check."""
        self._node, self._limits, self._settings, self._output = node, limits, settings, output
        self._guard, self._collisions, self._designer = guard, collisions, designer
        self._path = path

    def search(self, request: Excite.Goal) -> Prepared:
        """Prepare the search for a motion.

        :raises RobodynError: parameters that cannot be used
        """
        self._collisions.look()
        if not request.design_only:  # better refused now than after the search
            self._collisions.check_allowed()
        return self._designer.prepare(request, self._collisions.surroundings)

    def read(self, goal: Any, file: str, position: Array, speed: float) -> Checked:
        """Read the motion of a file, or of the parameters, and prepare its run.

        :raises RobodynError: the motion cannot be read, see `run`
        """
        self._collisions.look()
        self._collisions.check_allowed()
        motion = read_motion(self._node, file, self._limits)
        return self._run(motion, goal, file, position, speed)

    def run(
        self, motion: Trajectory, goal: Any, file: str, position: Array, speed: float
    ) -> Checked:
        """Check a motion at its full speed, and prepare its run.

        A slow run is refused if the motion cannot be run at full speed, which is tried next.

        :param goal: goal handle of the action; None if a service started the run
        :param position: of the robot, shape (n,), in the order of the limits
        :param speed: share of the speed of the run, in (0, 1]
        :raises RobodynError: it breaks a limit or collides
        """
        self._collisions.look()
        return self._run(motion, goal, file, position, speed)

    def _run(
        self, motion: Trajectory, goal: Any, file: str, position: Array, speed: float
    ) -> Checked:
        """Do what `run` does, in the surroundings that were read last."""
        known = self._limits.joints
        columns = [known.index(name) for name in motion.joints if name in known]
        plan = plan_excitation(motion, position[columns], self._limits, pause=self._settings.pause)
        self._guard.check_plan(plan)
        self._collisions.check_plan(plan)  # another speed is on the same path
        full = plan.trajectory
        plan = self._at(speed, plan)
        streaming = self._output.streaming
        current = Run(
            plan,
            known,
            self._limits.acceleration,
            spacing=self._output.spacing(plan.duration),
            latency=0.0 if streaming else self._settings.stop_latency,
            goal=goal,
            file=file,
        )
        if not streaming:
            current.message = self._output.message(current.full)
        path = self._path.draw(motion)
        lines = advise(motion, self._limits).lines if isinstance(motion, SineMotion) else ()
        self._collisions.look_again(full)
        current.checked = now(self._node)
        return current, lines, path

    def _at(self, speed: float, plan: Plan) -> Plan:
        """Return a checked plan at a share of its speed."""
        slow = plan.slow_down(speed)
        if slow is not plan:
            check_motion(slow.trajectory, self._limits, period=CHECK_PERIOD / speed)
            self._guard.check_plan(slow, spacing=0.002 / speed)
        return slow
