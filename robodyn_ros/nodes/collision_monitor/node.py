# SPDX-License-Identifier: Apache-2.0
"""Node `collision_monitor`: torque feedback compared with the model. NOT a safety function."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.setup import (
    build_detector,
    collision_settings,
    load_thresholds,
)
from robodyn_ros.control.collision.states.payload_change import PayloadChange
from robodyn_ros.control.collision.trigger import Mute, ReactionTrigger, release_problem
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError, ControlError, Fault, ModelError, RobodynError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import now, seconds_of, start_timer
from robodyn_ros.nodes.base.common import STREAM_QOS, check_when_set
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.waits import DISCOVERY
from robodyn_ros.nodes.collision_monitor.contact_topic import ContactTopic
from robodyn_ros.nodes.collision_monitor.events import REFERENCE, STATES, EventRecorder
from robodyn_ros.nodes.collision_monitor.health_topic import HealthTopic
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.parameters import DETECTOR, NODE, SOURCES
from robodyn_ros.nodes.collision_monitor.reactions import Reactions
from robodyn_ros.nodes.collision_monitor.state_topic import ErrorTopic, StateTopic
from robodyn_ros.nodes.robot.commanded import follow_controller, follow_reference
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.nodes.robot.model_node import ModelNode
from robodyn_ros.srv import Mute as MuteReactions
from robodyn_ros.wire.commands import as_joint_state

DIAGNOSTIC_LEVELS = {
    Level.OK: DiagnosticStatus.OK,
    Level.CONTACT: DiagnosticStatus.WARN,
    Level.COLLISION: DiagnosticStatus.ERROR,
    Level.UNKNOWN: DiagnosticStatus.STALE,
}
LONGEST_TICK = 0.02
"""Longest time between two looks for reactions that are due, in [s]."""


class CollisionMonitor(ModelNode):
    """Publisher of the topics for each joint state; reacts to a collision.

    A sample passes `_on_state` from the inputs through the detector to the reactions and topics.
    """

    hardware_id = 'robodyn collision monitor'
    purpose, consequence = 'monitoring', 'it is unmonitored'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start with autostart."""
        super().__init__('collision_monitor')
        self._options = self.declare_rows(DETECTOR)
        self._effort = EffortParameters(self)
        self._chosen = self.declare_rows(NODE)
        if self._chosen['motion_source'] not in SOURCES:
            raise ConfigError(
                f"parameter 'motion_source' must be one of {SOURCES}, got "
                f'{self._chosen["motion_source"]}'
            )
        self._reactions = Reactions(self)
        self._mute = Mute(self._chosen['max_mute'])
        self.events = EventRecorder(self, self._effort.metadata())
        self._detector: TorqueErrorDetector | None = None
        self._refused, self._refusal = 0, ''
        self._reference_due = np.inf
        self._contact, self._health = ContactTopic(self), HealthTopic(self)
        self._topics = (StateTopic(self), ErrorTopic(self), self._contact, self._health)
        self.create_subscription(JointState, 'joint_states', self._on_state, STREAM_QOS, raw=True)
        follow_reference(self, self._on_reference, STREAM_QOS)
        controller = self.get_parameter('controller').value
        self._follows = follow_controller(self, controller, self._on_commands, STREAM_QOS)
        start_timer(self, 0.5 * self._options['stale_timeout'], self._on_watchdog)
        start_timer(self, min(0.5 * self._reactions.period, LONGEST_TICK), self._on_tick)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.create_service(MuteReactions, '~/mute', self._on_mute)
        check_when_set(self, self._on_set)
        self.autostart()

    # ---- a sample, from the inputs to the topics -------------------------------------------

    def _on_state(self, serialised: bytes) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        inputs = self._inputs
        self.events.add(STATES, serialised)
        if problem := inputs.read_state(serialised):
            self._refuse(problem)
            if inputs.state.foreign:  # the watchdog sees if no other message comes
                return
            detector.lose(Fault(problem.name, f'joint states refused: {problem}'))
        else:
            self._end_mute(detector)
            detector.resting = inputs.reference_rests
            state = inputs.state
            torque = self._feedback(state.effort)
            detector.update(state.stamp, state.position, state.velocity, torque, inputs.motion)
            if detector.payload is not None and detector.payload.picked is not None:
                self._adopt(detector.payload)
        self._conclude(detector, inputs.time)

    def _adopt(self, change: PayloadChange) -> None:
        """Go on with a payload that was picked up."""
        picked, text, before = change.picked, change.message, change.adopted
        change.restart()  # a payload that is refused is a collision
        try:
            assert picked is not None
            self._carried.add(picked)
        except RobodynError as error:
            self.get_logger().warning(f'{text}: {error}')
        else:
            change.adopted = max(before + float(picked.values[0]), 0.0)
            self.get_logger().warning(f'{text}, monitored with it (adopt_payload)')

    def _on_watchdog(self) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        if silence := self._inputs.silence():
            detector.lose(silence)
            self._conclude(detector, self.get_clock().now().to_msg())
        else:
            self._check_reference(detector)

    def _conclude(self, detector: TorqueErrorDetector, stamp: Any) -> None:
        """React first, then publish."""
        velocity = self._inputs.state.velocity
        if self._trigger.update(detector, velocity, muted=self._mute.started):
            self._reactions.start(self._trigger.reason)
            self.events.start(self._trigger.reason, self._model, self._torque.values)
        for topic in self._topics:
            topic.publish(detector, self._inputs, stamp)

    def _on_tick(self) -> None:
        """Repeat reactions that were not acknowledged; end mutes and events."""
        if self.active and self._detector is not None:
            self._reactions.tick()
            self._end_mute(self._detector)
            self.events.tick()

    # ---- references --------------------------------------------------------------------------

    def _on_commands(self, serialised: bytes) -> None:
        if self.active and self._detector is not None:
            self._inputs.read_commands(serialised)
            if self.events.used and (command := as_joint_state(serialised)) is not None:
                self.events.add(REFERENCE, command)

    def _on_reference(self, serialised: bytes) -> None:
        self._on_commands(serialised)
        if not self.active or self._chosen['motion_source'] != 'reference':
            return
        if problem := self._inputs.read_reference(serialised):
            self._refuse(problem)

    def _reference_state(self, detector: TorqueErrorDetector) -> str:
        """Return what is known of the commanded positions, for the diagnostics."""
        if self._inputs.reference_known:
            return 'rests' if detector.resting else 'moves'
        missing = '' if self._follows else ' (control_msgs is not installed)'
        return f'not known: no controller_state of the controller{missing}, no ~/reference'

    def _check_reference(self, detector: TorqueErrorDetector) -> None:
        """Warn once per activation if thresholds at rest need a reference that is missing.

        A controller is often started after the joint states.
        """
        if self._reference_due == -np.inf:
            self._reference_due = now(self) + 2.0 * DISCOVERY
        if now(self) < self._reference_due:
            return
        self._reference_due = np.inf
        if self._rest_learned and not self._inputs.reference_known:
            self.get_logger().warning(
                'weak pushes at rest are NOT found: the thresholds were learned with a reference, '
                f'and now the reference is {self._reference_state(detector)}. Check '
                "the parameter 'controller', or publish ~/reference"
            )

    def _refuse(self, problem: str) -> None:
        self._refused += 1
        self._refusal = problem

    # ---- services and parameters -------------------------------------------------------------

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Clear a collision and its reactions, if the contact has ended."""
        detector = self._detector
        raised = detector is not None and bool(detector.latched or self._reactions.reason)
        if detector is not None and raised:
            if problem := release_problem(detector):
                raise ControlError(problem)
            detector.reset()
            self._trigger.clear()
            self._reactions.clear()
        response.success = True
        response.message = 'collision cleared' if raised else 'there was no collision'
        return response

    def _on_mute(self, request: Any, response: Any) -> Any:
        """Mute reactions for some time."""
        if not self.active or self._detector is None:
            raise ControlError('the node is not active', fault='not_active')
        time, duration = now(self), seconds_of(request.duration)
        raised = self._detector.latched or self._reactions.reason
        if duration > self._mute.remaining(time) and raised:
            text = 'a collision is not cleared yet: call ~/reset first'
            raise ControlError(text, fault='fault_latched')
        self._mute.start(time, duration)
        response.success, response.message = True, f'reactions are muted for {duration:g} s'
        self.get_logger().warning(response.message)
        return response

    def _end_mute(self, detector: TorqueErrorDetector) -> None:
        """After a mute, detect a collision again that goes on."""
        if self._mute.ends(now(self)):
            detector.reset()
            self.get_logger().warning('the mute has ended')

    @property
    def muted(self) -> bool:
        """True while collisions start no reaction."""
        return self._mute.remaining(now(self)) > 0.0

    def _on_set(self, new: Mapping[str, Any]) -> None:
        if 'sensitivity' in new and self._detector is not None:
            self._detector.sensitivity = new['sensitivity']

    @property
    def state_rate(self) -> float:
        """Rate of the state topic, in [Hz]; 0: a message for each sample."""
        return float(self._chosen['collision_state_rate'])

    # ---- model and lifecycle -----------------------------------------------------------------

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the detector for a model."""
        effort = self._effort.for_joints(model.model.joints)
        learned = load_thresholds(self._chosen['thresholds'], model)
        settings = collision_settings(model.joints, self._options, learned, self.refused)
        torque.exclude_gravity(effort.gravity_excluded)
        detector = build_detector(
            model, torque, settings, learned, self._payload_change(model, settings)
        )
        detector.sensitivity = float(self.get_parameter('sensitivity').value)
        trigger = ReactionTrigger(settings, on_unknown=self._chosen['on_unknown'])
        inputs = Inputs(
            model.joints, partial(now, self), source=self._chosen['motion_source'],
            delay=self._chosen['additive_torque_delay'], timeout=settings.stale_timeout,
        )  # fmt: skip
        self._reactions.build(model, settings, inputs)
        self.events.close()  # it has the settings of the model before
        if left_out := not_monitored(detector):
            self.get_logger().warning(f'not monitored (torque_error_enable): {left_out}')
        self._model, self._torque, self._feedback = model, torque, effort.feedback
        self._rest_learned = learned is not None and learned.law.rest_learned
        self._trigger, self._inputs, self._detector = trigger, inputs, detector
        for topic in self._topics:
            topic.build(model, torque, detector)

    def _payload_change(
        self, model: IdentifiedModel, settings: CollisionSettings
    ) -> PayloadChange | None:
        limit = self._chosen['adopt_payload']
        payload = self._carried.payload or model.payload
        frame = payload.model.frame if payload else ''
        try:
            return PayloadChange(model.model, limit, settings.period, frame=frame)
        except ModelError:
            if limit:
                raise
            return None  # it has no payload that could be named

    def begin(self) -> None:
        """Start with UNKNOWN."""
        if self._detector is not None:
            self._detector.lose(Fault('state_missing', 'no joint states yet'))
            self._inputs.restart()
            self._trigger.expect_unknown()
            self._reference_due = -np.inf  # from the first joint states on

    def finish(self) -> None:
        """End the attempts of reactions: an inactive node commands nothing."""
        self.events.close()
        self._reactions.end()

    def begin_shutdown(self) -> None:
        """End, and write the event that is open."""
        super().begin_shutdown()
        self.events.end()

    def set_values(self, values: Array) -> None:
        """Set another payload, and let the detector settle: earlier torque errors are invalid."""
        if self._detector is not None:
            self._torque.set_values(values)
            if self._detector.payload is not None:
                self._detector.payload.adopted = 0.0
            self._detector.lose(Fault('payload_changed', 'the payload was changed'))
            self._trigger.expect_unknown()
            self._health.restart('the payload was changed')

    def on_unexpected(self, reason: Fault) -> None:
        """Set UNKNOWN until new samples have settled."""
        if self._detector is not None:
            self._detector.lose(reason)

    # ---- diagnostics -------------------------------------------------------------------------

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        """Return the worst level, its sentence, and the refusals."""
        detector = self._detector
        if detector is None:
            return DiagnosticStatus.STALE, 'no model', {}
        values: dict[str, object] = {
            'latched': detector.latched,
            'reference': self._reference_state(detector),
            'not_monitored': not_monitored(detector),
            'refused': self._refused,
            'last_refusal': self._refusal,
            'muted [s]': f'{self._mute.remaining(now(self)):.1f}',
            **self._reactions.details(),
            **self.events.details(),
            **self._contact.details(),
            **self._health.details(),
        }
        if self._reactions.reason and not detector.latched:
            return DiagnosticStatus.ERROR, self._reactions.reason, values
        worst = worst_level(detector)
        if worst == Level.OK and values.get('advice'):
            return DiagnosticStatus.WARN, str(values['advice']), values
        return DIAGNOSTIC_LEVELS[worst], detector.message, values


def not_monitored(detector: TorqueErrorDetector) -> str:
    """Return the names of the joints that are not monitored."""
    enabled = detector.settings.enabled
    return ', '.join(name for name, on in zip(detector.joints, enabled, strict=True) if not on)


def worst_level(detector: TorqueErrorDetector) -> Level:
    """Return the highest level of the monitored joints; UNKNOWN is above all but COLLISION."""
    levels = detector.level[detector.settings.enabled]
    worst = Level(int(levels.max(initial=0)))
    if worst < Level.COLLISION and (levels == Level.UNKNOWN).any():
        return Level.UNKNOWN
    return worst


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(CollisionMonitor, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
