# SPDX-License-Identifier: Apache-2.0
"""Torque of the trajectories that the feed-forward receives, with its limits, and their size."""

from __future__ import annotations

from functools import partial

import numpy as np
from rclpy.node import Node

from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.control.feedforward.trajectory_effort import arriving_trajectory
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import ControlError
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.wire.cursor import NANOSECONDS
from robodyn_ros.wire.trajectory import write_trajectory


class TrajectoryPlanner:
    """Model, settings and limits of the torque of trajectories."""

    def __init__(
        self,
        torque: ModelTorque,
        settings: FeedforwardSettings,
        threshold: TorqueThreshold,
        *,
        check: PlannedTorque | None,
        hold_at_end: bool,
    ) -> None:
        """Use these.

        :param hold_at_end: keep the torque that holds the robot at the end
        """
        self.torque, self.settings = torque, settings
        self.scale = settings.feedforward_scale
        self._check, self._threshold, self._hold = check, threshold, hold_at_end

    def checked(
        self,
        points: TrajectoryPoints,
        stamp: int,
        now: int,
        running: tuple[TorquePlan | None, int],
        *,
        enabled: bool,
    ) -> tuple[TorquePlan, str]:
        """Plan a trajectory, and compare it with torque_max and torque_threshold.

        One that exceeds them but replaces a running motion has no model torque, because it may
        stop this motion.

        :param stamp: its start, in [ns]; 0: it starts on arrival
        :param now: in [ns]
        :param running: what the controller executes, and the start of it, in [ns]
        :return: the plan, and '' or why it has no model torque
        :raises RobodynError: it cannot be planned, or exceeds a limit and replaces no motion
        """
        before, since = running[0], (now - running[1]) / NANOSECONDS
        initial = np.zeros(len(self.torque.joints)) if before is None else before.effort_at(since)
        plan = partial(
            arriving_trajectory, points, self.torque, self.settings,
            late=(now - stamp) / NANOSECONDS if stamp else None, initial=initial,
            hold_at_end=self._hold,
        )  # fmt: skip
        planned = plan(scale=self.scale if enabled else 0.0)
        try:
            self._check_limits(planned, enabled)
        except ControlError as error:
            if before is None or since >= before.time[-1]:
                raise
            text = 'the trajectory replaces a running one, so it passes without torque'
            return plan(scale=0.0), f'{text}: {error}'
        return planned, ''

    def _check_limits(self, plan: TorquePlan, enabled: bool) -> None:
        """Compare a plan with both limits."""
        if self._check is not None:
            self._check.check(plan)
        threshold = self._threshold
        problem = threshold.command(plan.largest_effort) or threshold.silence() if enabled else ''
        if problem:
            raise ControlError(problem)


def serialised(plan: TorquePlan, stamp: int, effort: EffortConversion) -> bytes:
    """Serialise a plan as a trajectory_msgs/JointTrajectory.

    :param stamp: header stamp, in [ns]
    """
    fields = (plan.position, plan.velocity, plan.acceleration, effort.commands(plan.effort))
    return write_trajectory(stamp=stamp, joints=plan.joints, time=plan.time, fields=fields)


def thinned(plan: TorquePlan, node: Node, topic: str, longest: float) -> TorquePlan:
    """Reduce a plan to the number of points that arrive.

    :param topic: resolved name of the trajectory topic of the controller
    :param longest: longest time between points, in [s]
    :raises ControlError: the points that arrive are too few for the motion
    """
    some = min(len(plan.time), 100)
    fields = [plan.position[:some]] * 4
    sample = write_trajectory(stamp=0, joints=plan.joints, time=plan.time[:some], fields=fields)
    stride = parts(node, topic, len(plan.time) * len(sample) / some)
    if stride == 1:
        return plan
    few = plan.every(stride)
    check_points(float(plan.time[-1]), few.period, plan.distance_to(few), longest=longest)
    node.get_logger().info(
        f'{len(plan.time)} points are too large for one message to the controller: one every '
        f'{1e3 * few.period:.3g} ms is sent'
    )
    return few
