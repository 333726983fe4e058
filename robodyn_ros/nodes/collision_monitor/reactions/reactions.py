# SPDX-License-Identifier: Apache-2.0
"""Reactions of the collision monitor, a list of the parameter `reaction`."""

from __future__ import annotations

from typing import Any

from std_srvs.srv import SetBool, Trigger

from robodyn_ros.control.collision.reaction.trigger import ReactionTrigger
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.errors import ConfigError
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.serial.urdf import rigid_part
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.parameters import REACTION, REACTIONS, each
from robodyn_ros.nodes.collision_monitor.reactions.robot_motion import KINDS, RobotMotion
from robodyn_ros.nodes.collision_monitor.reactions.service_call import ServiceCall
from robodyn_ros.nodes.robot.model_node import ModelNode
from robodyn_ros.paths import resource


class Reactions:
    """All chosen reactions: started together, repeated until each is acknowledged.

    :ivar reason: why they started; '': they have not
    :ivar period: time between two attempts, in [s]
    """

    def __init__(self, node: ModelNode) -> None:
        """Declare the parameters and create the clients.

        :raises ConfigError: an unknown reaction, or two that move the robot
        """
        self._node = node
        self._chosen = chosen = node.declared(REACTION)
        names = _checked(chosen)
        self.period = period = chosen['retry_period']
        self._motion = next(
            (RobotMotion(node, name, chosen['controller'], period) for name in names & {*KINDS}),
            None,
        )
        self._calls: dict[str, ServiceCall] = {}
        if 'drop_feedforward' in names:
            self._calls['drop_feedforward'] = ServiceCall(
                node, SetBool, chosen['enable_service'], SetBool.Request(data=False),
                period=period, accepts=lambda answer: bool(answer.success),
            )  # fmt: skip
        if chosen['stop_service']:
            self._calls['stop_service'] = ServiceCall(
                node, Trigger, chosen['stop_service'], Trigger.Request(),
                period=period, accepts=lambda answer: bool(answer.success) or self._at_rest,
            )  # fmt: skip
        self.reason = ''

    def build(self, model: IdentifiedModel, settings: CollisionSettings, inputs: Inputs) -> None:
        """Prepare for a model.

        :raises RobodynError: parameters that do not fit it
        """
        chosen = self._chosen
        trigger = ReactionTrigger(settings, on_unknown=chosen['on_unknown'])
        low = each('low_velocity', settings.low_velocity, model.joints)
        if self._motion is not None:
            limits = self._motion_limits(model)
            far = each('retract_distance', chosen['retract_distance'], model.joints)
            self._motion.build(inputs, limits, far, low, settings.stale_timeout)
        # Only now: a model that is refused leaves the one before as it is.
        self._inputs, self.trigger, self._low = inputs, trigger, low
        self._timeout = settings.stale_timeout
        self.clear()

    def _motion_limits(self, model: IdentifiedModel) -> JointLimits:
        """Return the limits of hold, brake and retract, as the excitation node uses them.

        :raises RobodynError: a file that cannot be used, or a joint without any limit
        """
        chosen, body = self._chosen, rigid_part(model.model)
        limits = model_limits(model.model) if body is None else JointLimits.from_urdf(body.urdf)
        if chosen['joint_limits']:
            limits = load_limits(resource(chosen['joint_limits']), limits)
        limits = limits.scale(
            velocity=chosen['velocity_scaling'], acceleration=chosen['acceleration_scaling']
        )
        return limits.select(model.joints).with_default_acceleration()

    def sample(self, detector: Any, *, muted: bool) -> bool:
        """Take the state after a sample or timeout; return True if the reactions start now."""
        if self._motion is not None:
            self._motion.sample(detector)
        starts = self.trigger.update(detector, self._inputs.state.velocity, muted=muted)
        if starts:
            self.start(self.trigger.reason)
        return starts

    def start(self, reason: str) -> None:
        """Start all reactions."""
        self.reason = reason
        for reaction in self._all:
            reaction.start()
        self._node.get_logger().error(reason)

    def tick(self) -> None:
        """Repeat what was not acknowledged."""
        if self.reason:
            for reaction in self._all:
                reaction.tick()
                reaction.log()

    def clear(self) -> None:
        """End all reactions and prepare for the next one."""
        self.reason = ''
        self.trigger.clear()
        self.stop()

    def stop(self) -> None:
        """End the attempts."""
        for reaction in self._all:
            reaction.stop()

    def details(self) -> dict[str, object]:
        """Return the reason and the result of each reaction, for the diagnostics."""
        return {'reaction': self.reason, 'stop_service': '', **self.answers()}

    def answers(self) -> dict[str, object]:
        """Return the result of each reaction."""
        found: dict[str, object] = {} if self._motion is None else {**self._motion.details}
        return found | {name: call.result for name, call in self._calls.items()}

    @property
    def _all(self) -> list[RobotMotion | ServiceCall]:
        motion = [] if self._motion is None else [self._motion]
        return [*motion, *self._calls.values()]

    @property
    def _at_rest(self) -> bool:
        """True if the robot is known to be at rest."""
        inputs = self._inputs
        return inputs.age <= self._timeout and bool(
            (abs(inputs.state.velocity) <= self._low).all()
        )


def _checked(chosen: dict[str, Any]) -> set[str]:
    names = {name for name in chosen['reaction'] if name}
    if unknown := sorted(names - {*REACTIONS}):
        raise ConfigError(
            f"parameter 'reaction' may have {', '.join(REACTIONS)}, got {unknown[0]!r}"
        )
    if len(names & {*KINDS}) > 1:
        raise ConfigError(
            f"parameter 'reaction' may have only one of {', '.join(KINDS)}, got "
            f'{", ".join(sorted(names & {*KINDS}))}'
        )
    if 'stop_service' in names and not chosen['stop_service']:
        raise ConfigError("reaction stop_service needs the parameter 'stop_service'")
    return names
