# SPDX-License-Identifier: Apache-2.0
"""Reactions to a collision: stop of the robot through its controller, and call of a service."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from action_msgs.srv import CancelGoal
from rclpy.node import Node
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.checks import per_joint
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.braking import plan_braking
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.parameters import REACTION, STOPS
from robodyn_ros.nodes.robot.model_node import ModelNode
from robodyn_ros.nodes.robot.trajectory_message import write_points
from robodyn_ros.paths import resource

ANSWER = 0.1
"""Longest wait for the answer of a controller before it is commanded to brake, in [s]: an answer
takes milliseconds, and a robot at 1 m/s moves by 0.1 m."""


class Reactions:
    """All chosen reactions: started together, repeated until each is acknowledged.

    :ivar reason: why they started; '': they have not
    :ivar period: time between two attempts, in [s]
    """

    def __init__(self, node: ModelNode) -> None:
        """Declare the parameters and create the clients.

        :raises ConfigError: an unknown reaction
        """
        self._node, self._chosen = node, (chosen := node.declare_rows(REACTION))
        self.period = period = chosen['retry_period']
        if chosen['reaction'] not in STOPS:
            raise ConfigError(
                f"parameter 'reaction' must be one of {', '.join(STOPS)}, got "
                f'{chosen["reaction"]!r:.80}'
            )
        self._stop = None
        self._all: dict[str, RobotStop | ServiceCall] = {}
        if chosen['reaction'] == 'stop':
            self._stop = RobotStop(node, chosen['controller'], period)
            self._all |= {'cancel_goals': self._stop.cancel, 'stop': self._stop}
        if chosen['stop_service']:
            self._all['stop_service'] = ServiceCall(
                node, Trigger, chosen['stop_service'], period,
                lambda answer: bool(answer.success) or self._inputs.at_rest(self._low),
            )  # fmt: skip
        self.reason = ''

    def build(self, model: IdentifiedModel, settings: CollisionSettings, inputs: Inputs) -> None:
        """Prepare for a model.

        :raises RobodynError: parameters that do not fit it
        """
        low = per_joint('low_velocity', settings.low_velocity, model.joints)
        if self._stop is not None:
            self._stop.build(inputs, self._limits(model), low)
        # Only now: a model that is refused leaves the one before as it is.
        self._inputs, self._low = inputs, low
        self.clear()

    def _limits(self, model: IdentifiedModel) -> JointLimits:
        """Return the limits of the motion to rest, as the excitation node uses them."""
        chosen, body = self._chosen, rigid_part(model.model)
        limits = model_limits(model.model) if body is None else JointLimits.from_urdf(body.urdf)
        if chosen['joint_limits']:
            limits = load_limits(resource(chosen['joint_limits']), limits)
        limits = limits.scale(velocity=1.0, acceleration=chosen['acceleration_scaling'])
        return limits.select(model.joints).with_default_acceleration()

    def start(self, reason: str) -> None:
        """Start all reactions."""
        self.reason = reason
        for reaction in self._all.values():
            reaction.start()
        self._node.get_logger().error(reason)

    def tick(self) -> None:
        """Repeat what was not acknowledged, and log new results."""
        for name, reaction in self._all.items():
            if self.reason and (news := reaction.tick()):
                self._node.get_logger().warning(f'{name}: {news}')

    def clear(self) -> None:
        """End all attempts and prepare for the next collision."""
        self.reason = ''
        self.end()

    def end(self) -> None:
        """End all attempts."""
        for reaction in self._all.values():
            reaction.end()

    def details(self) -> dict[str, object]:
        """Return the reason and the result of each reaction, for the diagnostics."""
        results = {name: reaction.result for name, reaction in self._all.items()}
        return {'reaction': self.reason, 'stop_service': '', **results}


class _Attempts:
    """Attempts that are repeated with a period until one is acknowledged.

    :ivar result: of the last one, for the diagnostics
    """

    def __init__(self, node: Node, period: float) -> None:
        self._node, self._period = node, period
        self.end()

    def start(self) -> None:
        """Make the first attempt now."""
        self.end()
        self._pending, self._due = True, now(self._node)
        self._attempt_if_due()

    def end(self) -> None:
        """End the attempts and forget their result."""
        self._pending, self._due, self.count = False, 0.0, 0
        self.result = self._logged = ''

    def tick(self) -> str:
        """Make an attempt if one is due; return the result if it is new, or ''."""
        self._attempt_if_due()
        news = self.result if self.result != self._logged else ''
        self._logged = self.result
        return news

    def _attempt_if_due(self) -> None:
        if self._pending and now(self._node) >= self._due:
            self.count += 1
            self._due = now(self._node) + self._period
            self._attempt()

    def _attempt(self) -> None:
        raise NotImplementedError


class RobotStop(_Attempts):
    """Trajectory that brakes the robot through its joint_trajectory_controller.

    It is sent when the controller has cancelled its goals, because a cancel that the controller
    reads later would replace it, and at the latest after `ANSWER`. It is sent only if the state of
    the robot is fresh, and again, from the present state, until the robot is at rest in two
    attempts: at a reversal it is so only once.

    :ivar cancel: call that cancels the goals, to be started first
    """

    def __init__(self, node: Node, controller: str, period: float) -> None:
        """Create the publisher and the client."""
        self._topic = f'{controller}/joint_trajectory'
        self._publisher = node.create_publisher(JointTrajectory, self._topic, 10)
        service = f'{controller}/follow_joint_trajectory/_action/cancel_goal'
        self.cancel = ServiceCall(node, CancelGoal, service, period, self._on_cancelled)
        super().__init__(node, period)

    def start(self) -> None:
        """Brake, now or when the goals were cancelled."""
        self.end()
        self._pending, self._due = True, now(self._node)
        if self.cancel.waits:
            self._due += ANSWER
            self.result = 'waits for the cancel of goals'
        self._attempt_if_due()

    def _on_cancelled(self, _: Any) -> bool:
        """Brake now, again if a trajectory was sent before; the answer is accepted."""
        self._due = now(self._node)
        self._attempt_if_due()
        return True

    def build(self, inputs: Inputs, limits: JointLimits, low: Any) -> None:
        """Prepare for a model.

        :param low: largest velocity at rest, shape (n,), in [rad/s] or [m/s]
        """
        self._inputs, self._limits, self._low = inputs, limits, low

    def end(self) -> None:
        """End the attempts; a motion that was commanded goes on."""
        super().end()
        self._rests = 0

    def _attempt(self) -> None:
        state, most = self._inputs.state, self._limits.acceleration
        duration = float((np.abs(state.velocity) / most).max())
        if not self._inputs.fresh:
            self.result = 'not commanded: the state of the robot is unknown'
        elif not duration < 30.0:  # its points must fit into memory
            self.result = f'not commanded: braking would take {duration:.3g} s'
        elif not self._publisher.get_subscription_count():
            self.result = f'not commanded: {self._topic} has no subscriber'
        elif self.count > 1 and self._inputs.at_rest(self._low):
            self._rests += 1
            if self._rests > 1:
                self.result, self._pending = 'the robot is at rest', False
        else:
            points = plan_braking(self._limits.joints, state.position, state.velocity, most)
            self._publisher.publish(write_points(points))
            self.result, self._rests = 'commanded', 0
            # The next attempt is a check: the controller needs this time to come to rest.
            self._due += float(points.time[-1])


class ServiceCall(_Attempts):
    """Call of a service until an answer is accepted.

    An answer to any of the last calls counts, so that a slow service is acknowledged too. A
    service that ended loses its calls; the next one reaches the service that replaces it.
    """

    def __init__(
        self, node: Node, kind: Any, service: str, period: float, accepts: Callable[[Any], bool]
    ) -> None:
        """Create the client.

        :param accepts: returns True for an answer that ends the calls
        """
        self._request, self._accepts = kind.Request(), accepts
        self._client = node.create_client(kind, service)
        self._open: deque[Any] = deque()
        super().__init__(node, period)

    @property
    def waits(self) -> bool:
        """True while a call has no answer."""
        return bool(self._open)

    def end(self) -> None:
        """End the calls and forget their result."""
        super().end()
        self._forget(0)

    def _attempt(self) -> None:
        if not self._client.service_is_ready():
            self.result = f'{self._client.srv_name} is not available'
            return
        if not self._open:
            self.result = 'called, no answer yet'
        future = self._client.call_async(self._request)
        self._open.append(future)
        future.add_done_callback(self._on_answer)
        self._forget(10)

    def _forget(self, most: int) -> None:
        while len(self._open) > most:
            self._client.remove_pending_request(self._open.popleft())

    def _on_answer(self, future: Any) -> None:
        if future not in self._open:  # of an earlier reaction
            return
        self._open.remove(future)
        answer = future.result()
        success = getattr(answer, 'success', True)
        self.result = f'success {success}: {getattr(answer, "message", "")}'.rstrip(': ')
        if self._pending and self._accepts(answer):
            self._pending = False
            self._forget(0)
