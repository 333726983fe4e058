# SPDX-License-Identifier: Apache-2.0
"""Reactions that stop or move the robot through its joint_trajectory_controller."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from action_msgs.srv import CancelGoal
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.collision.reaction.escape import brake_on_path, leads_away, retract
from robodyn_ros.control.collision.reaction.retry import Retry
from robodyn_ros.control.collision.reaction.travelled_path import TravelledPath
from robodyn_ros.control.collision.reaction.trigger import Detector
from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.braking import braking
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.motions.spline import TrajectoryPoints
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.reactions.service_call import ServiceCall
from robodyn_ros.nodes.robot.trajectory_message import write_points

KINDS = ('hold', 'brake', 'retract')


class RobotMotion:
    """Cancelling of all goals of a controller, and a trajectory to rest.

    A trajectory is sent only if the state of the robot is fresh. It is sent again, from the
    present state, until the robot is at rest in two attempts. `retract` is sent once and not later
    than five periods after the collision: a later motion would be unexpected. `brake` replaces it.

    :ivar result: of the trajectory, for the diagnostics
    """

    def __init__(self, node: Node, kind: str, controller: str, period: float) -> None:
        """Create the clients.

        :param period: time between two attempts, in [s]
        """
        self._node, self._kind = node, kind
        self._publisher = node.create_publisher(
            JointTrajectory, f'{controller}/joint_trajectory', 10
        )
        self._cancel = ServiceCall(
            node, CancelGoal, f'{controller}/follow_joint_trajectory/_action/cancel_goal',
            CancelGoal.Request(), period=period, accepts=lambda _: True,
            then=self._command_if_due,
        )  # fmt: skip
        self._period = period
        self._retry = Retry(period)
        self.result = self._logged = ''

    def build(
        self, inputs: Inputs, limits: JointLimits, distance: Any, low: Any, timeout: float
    ) -> None:
        """Prepare for a model.

        :param distance: how far a joint may go back, shape (n,), in [rad] or [m]
        :param low: velocity that counts as rest, shape (n,), in [rad/s] or [m/s]
        :param timeout: age above which the state of the robot is unknown, in [s]
        """
        self._inputs, self._limits, self._low, self._timeout = inputs, limits, low, timeout
        self._path = TravelledPath(distance)
        self._latched = 0
        self._torque_error = np.zeros(len(limits.joints))
        self.stop()

    def sample(self, detector: Detector) -> None:
        """Remember the path up to a collision, and its torque error; a gap in the data ends it."""
        if self._kind != 'retract':
            return
        valid = detector.settled
        if not valid:
            self._path.clear()
        if detector.latched:
            self._latched += 1
            if self._latched == 1:
                self._torque_error[:] = detector.external_torque * detector.settings.enabled
            return
        if self._latched:  # how the robot came here since the collision is not known
            self._path.clear()
        self._latched = 0
        if valid:
            self._path.add(self._inputs.state.position)

    @property
    def pending(self) -> bool:
        """True until the goals are cancelled and the robot is at rest."""
        return self._retry.pending or self._cancel.pending

    @property
    def details(self) -> dict[str, str]:
        """Results for the diagnostics."""
        return {self._kind: self.result, 'cancel_goals': self._cancel.result}

    def start(self) -> None:
        """Cancel the goals and command the motion.

        The way back is known only at the sample that latched the collision.
        """
        self.stop()
        if self._latched > 1:
            self._path.clear()
        now = time.monotonic()
        self._retry.start(now)
        self._back_until = now + 5.0 * self._period if self._kind == 'retract' else 0.0
        self._rests = 0
        self._cancel.start()
        # A controller that cancels a goal holds its position: the trajectory is sent after that.
        self._until = now + self._period * (self._cancel.available and self._kind != 'hold')
        self.tick()

    def stop(self) -> None:
        """End the attempts; a motion that was commanded goes on."""
        self._retry.stop()
        self._cancel.stop()
        self._until = 0.0
        self.result = ''

    def tick(self) -> None:
        """Cancel and command again if it is time."""
        self._cancel.tick()
        self._command_if_due()

    def _command_if_due(self) -> None:
        now = time.monotonic()
        if (now < self._until and self._cancel.pending) or not self._retry.due(now):
            return
        if self._inputs.age > self._timeout:
            self.result = 'not commanded: the state of the robot is unknown'
        elif not self._braking_time < 30.0:  # its points must fit into memory
            self.result = f'not commanded: braking would take {self._braking_time:.3g} s'
        elif not self._publisher.get_subscription_count():
            self.result = f'not commanded: {self._publisher.topic_name} has no subscriber'
        elif self._retry.attempts > 1 and self._at_rest:
            self._rest()
        else:
            self._command(now)

    def _rest(self) -> None:
        """Count an attempt at which the robot is at rest: at a reversal it is so only once."""
        self._rests += 1
        if self._rests > 1:
            self.result = 'the robot is at rest'
            self._retry.acknowledge()

    @property
    def _braking_time(self) -> float:
        speed = np.abs(self._inputs.state.velocity)
        return float((speed / self._limits.acceleration).max())

    @property
    def _at_rest(self) -> bool:
        return bool((np.abs(self._inputs.state.velocity) <= self._low).all())

    def _command(self, now: float) -> None:
        points, text = self._points(goes_back=now < self._back_until)
        self._path.clear()  # from now on it leads into the contact
        self._publisher.publish(write_points(points))
        self._back_until, self._rests = 0.0, 0
        self.result = f'commanded: {text}'
        # The next attempt is a check: the controller needs this time to come to rest.
        self._retry.wait(now + float(points.time[-1]) + self._period)

    def _points(self, *, goes_back: bool) -> tuple[TrajectoryPoints, str]:
        state, limits = self._inputs.state, self._limits
        q, qd, most = state.position, state.velocity, limits.acceleration
        if goes_back:
            try:
                path = self._path.back(q)
                points = retract(limits.joints, path, qd, limits.velocity, most)
                if not leads_away(path, self._torque_error):
                    raise MotionError('the contact pushes the robot in its direction of motion')
                far = float(np.abs(points.position[-1] - q).max())
                return points, f'retract by {far:.3g} rad or m'
            except MotionError as error:
                return braking(limits.joints, q, qd, most), f'hold, because {error}'
        if self._kind == 'hold':
            return braking(limits.joints, q, qd, most), 'hold'
        return brake_on_path(limits.joints, q, qd, most), 'brake on the path'

    def log(self) -> None:
        """Log the results if they are new; this takes too long for the cycle."""
        self._cancel.log()
        if self.result and self.result != self._logged:
            self._node.get_logger().warning(f'{self._kind}: {self.result}')
        self._logged = self.result
