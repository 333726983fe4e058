# SPDX-License-Identifier: Apache-2.0
"""Torque law of trajectories, and the checks of joint states while it is applied."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.control.feedforward.trajectory_effort import TrajectoryPlanner
from robodyn_ros.control.feedforward.trajectory_state import ActivePlan
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.long_work import Steps
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.nodes.robot.joint_states import JointStateReader


@dataclass(frozen=True)
class Law:
    """Planner, units and watches of one model.

    :param effort: conversion to the unit of the drives
    :param states: watch over joint states
    """

    planner: TrajectoryPlanner
    effort: EffortConversion
    states: StateWatch

    def problem(
        self,
        robot: JointStateReader,
        run: ActivePlan | None,
        *,
        at: int,
        clock: float,
        has_effort: bool,
    ) -> Fault:
        """Return why the last joint states must remove the torque, or NO_FAULT.

        :param run: execution whose torque is applied; None: there is none
        :param at: their stamp, in [ns]
        :param clock: time of arrival, in [s]
        :param has_effort: they have usable efforts
        """
        problem = NO_FAULT
        if run is None:
            self.states.restart(clock)
        elif 'position' not in robot.missing:
            velocity = None if 'velocity' in robot.missing else robot.velocity
            wanted = run.plan.position[run.plan.row(run.time_at(at))]
            problem = self.states.read(clock, robot.stamp, robot.position, wanted, velocity)
        if has_effort:
            problem = self.planner.threshold.feedback(robot.effort) or problem
        return problem

    def silence(self, applied: bool, clock: float) -> Fault:
        """Return which joint states are missing for too long while torque is applied.

        :param clock: time in [s]
        """
        if not applied:
            self.states.restart(clock)
            return NO_FAULT
        return self.planner.threshold.silence() or self.states.silence(clock)

    def thin(self, plan: TorquePlan, size: int, node: Node, topic: str) -> Steps[TorquePlan]:
        """Reduce a plan to the points that arrive at a controller.

        :param size: of its message, in [bytes]
        :raises ControlError: the points that arrive are too few for the motion
        """
        few = plan.every(parts(node, topic, size))
        if few is plan:
            return plan
        distance = yield from plan.distance_to(few)
        longest = self.planner.settings.ramp_down_time
        check_points(float(plan.time[-1]), few.period, distance, longest=longest)
        node.get_logger().info(
            f'{len(plan.time)} points are too large for one message to the controller: one every '
            f'{1e3 * few.period:.3g} ms is sent'
        )
        return few
