# SPDX-License-Identifier: Apache-2.0
"""Node `collision_monitor`: torque feedback compared with the model. NOT a safety function."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.control.collision.black_box.event import Setup
from robodyn_ros.control.collision.black_box.recorded_detector import build_detector
from robodyn_ros.control.collision.black_box.reported import Notes
from robodyn_ros.control.collision.detector import Level, TorqueErrorDetector
from robodyn_ros.control.collision.reaction.trigger import release_problem
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError, ControlError, Fault
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import start_timer
from robodyn_ros.nodes.base.common import (
    STREAM_QOS,
    check_when_set,
)
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.waits import DISCOVERY
from robodyn_ros.nodes.collision_monitor.black_box import BlackBox
from robodyn_ros.nodes.collision_monitor.contact_topic import ContactTopic
from robodyn_ros.nodes.collision_monitor.health_topic import HealthTopic
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.collision_monitor.learning.learning import Learning
from robodyn_ros.nodes.collision_monitor.parameters import (
    DETECTOR,
    NODE,
    SOURCES,
    collision_settings,
    learned_thresholds,
)
from robodyn_ros.nodes.collision_monitor.reactions.reactions import Reactions
from robodyn_ros.nodes.collision_monitor.reactions.robot_state_input import RobotStateInput
from robodyn_ros.nodes.collision_monitor.state_topic import ErrorTopic, StateTopic
from robodyn_ros.nodes.collision_monitor.tasks import Tasks
from robodyn_ros.nodes.collision_monitor.topic import Topic
from robodyn_ros.nodes.robot.commanded import follow_controller, follow_reference
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.nodes.robot.model_node import ModelNode

DIAGNOSTIC_LEVELS = {
    Level.OK: DiagnosticStatus.OK,
    Level.CONTACT: DiagnosticStatus.WARN,
    Level.COLLISION: DiagnosticStatus.ERROR,
    Level.UNKNOWN: DiagnosticStatus.STALE,
}


class CollisionMonitor(ModelNode):
    """Publisher of the topics for each joint state; reacts to a collision."""

    hardware_id = 'robodyn collision monitor'
    purpose, consequence = 'monitoring', 'it is unmonitored'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start with autostart."""
        super().__init__('collision_monitor')
        self._options = self.declared(DETECTOR)
        self._effort_parameters = EffortParameters(self)
        self._chosen = self.declared(NODE)
        source = self._chosen['motion_source']
        if source not in SOURCES:
            raise ConfigError(f"parameter 'motion_source' must be one of {SOURCES}, got {source}")
        self._reactions = Reactions(self)
        self._black_box = BlackBox(self, self._reactions.answers)
        self._tasks = Tasks(self, self._not_cleared)
        self._robot = RobotStateInput(self)
        self._detector: TorqueErrorDetector | None = None
        self._learning = Learning(self, self._not_healthy)
        self._refused = 0
        self._refusal = ''
        self._reference_due = np.inf
        kinds: tuple[type[Topic], ...] = (StateTopic, ErrorTopic, ContactTopic, HealthTopic)
        self._topics = [kind(self) for kind in kinds]
        self.create_subscription(JointState, 'joint_states', self._on_state, STREAM_QOS, raw=True)
        follow_reference(self, self._on_reference, STREAM_QOS)
        controller = self.get_parameter('controller').value
        self._follows = follow_controller(self, controller, self._on_commands, STREAM_QOS)
        start_timer(self, 0.5 * self._options['stale_timeout'], self._on_watchdog)
        start_timer(self, 0.5 * self._reactions.period, self._on_tick)
        self.create_service(Trigger, '~/reset', self._on_reset)
        check_when_set(self, self._on_set)
        self.autostart()

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the detector for a model."""
        declared = self._effort_parameters.checked
        learned = learned_thresholds(self._chosen['thresholds'], model)
        settings = collision_settings(model.joints, self._options, learned, self.refused)
        setup = Setup(model, torque.velocity_window, settings, declared, learned)
        recorded = build_detector(setup, torque)
        detector = recorded.detector
        delay = self._chosen['additive_torque_delay']
        inputs = Inputs(model.joints, source=self._chosen['motion_source'], delay=delay)
        tasks = self._tasks.checked(detector)  # it may raise: before anything is changed
        detector.check_sensitivity(float(self.get_parameter('sensitivity').value))
        if left_out := not_monitored(detector):
            self.get_logger().warning(f'not monitored (torque_error_enable): {left_out}')
        self._reactions.build(model, settings, inputs)
        self._tasks.build(recorded, tasks, float(self.get_parameter('sensitivity').value))
        recorded.ring = self._black_box.build(setup)
        self._learning.build(setup)
        self._recorded = recorded
        self._detector, self._inputs = detector, inputs
        for topic in self._topics:
            topic.build(model, torque, detector)

    def begin(self) -> None:
        """Start with UNKNOWN."""
        if self._detector is not None:
            self._recorded.call('lose', Fault('state_missing', 'no joint states yet'))
            self._inputs.restart()
            self._reactions.trigger.expect_unknown()
            self._reference_due = -np.inf  # from the first joint states on

    def finish(self) -> None:
        """End the attempts of reactions: an inactive node commands nothing."""
        self._black_box.close()  # with the state of the reactions
        self._reactions.stop()
        self._tasks.end()
        self._learning.close()

    def begin_shutdown(self) -> None:
        """End, and write what the black box has."""
        super().begin_shutdown()
        self._black_box.wait()
        self._learning.end()

    def set_values(self, values: Array) -> None:
        """Set another payload, and let the detector settle: earlier torque errors are invalid."""
        if self._detector is not None:
            self._recorded.call('set_values', values.tolist())
            for topic in self._topics:
                topic.restart('the payload was changed')
            self._reactions.trigger.expect_unknown()

    def adjust(self, values: Array) -> None:
        """Set parameter values that differ slightly: the torque error stays valid."""
        self._recorded.call('adjust', values.tolist())

    def on_unexpected(self, reason: Fault) -> None:
        """Set UNKNOWN until new samples have settled."""
        if self._detector is not None:
            self._recorded.call('lose', reason)

    def _on_set(self, new: Mapping[str, Any]) -> None:
        if 'sensitivity' in new and self._detector is not None:
            self._tasks.set_sensitivity(new['sensitivity'])

    @property
    def state_rate(self) -> float:
        """Rate of the state topic, in [Hz]; 0: a message for each sample."""
        return float(self._chosen['collision_state_rate'])

    @property
    def notes(self) -> Notes:
        """Reports for the next event of the black box."""
        return self._black_box.notes

    @property
    def muted(self) -> bool:
        """True while collisions start no reaction."""
        return self._tasks.muted_now

    @property
    def allowed_direction(self) -> NDArray[np.int8]:
        """Direction in which each joint may move away from a contact, shape (n,); 0: both."""
        return self._reactions.trigger.allowed

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
            **self._tasks.details(),
            'robot_stop': self._robot.readiness.latched,
            'robot_state': self._robot.problem() or 'ready, or not reported',
            **self._reactions.details(),
            **self._black_box.details(),
            **self._learning.details(),
        }
        for topic in self._topics:
            values |= topic.details()
        if self._reactions.reason and not detector.latched:
            return DiagnosticStatus.ERROR, self._reactions.reason, values
        worst = worst_level(detector)
        if worst == Level.OK and values.get('advice'):
            return DiagnosticStatus.WARN, str(values['advice']), values
        return DIAGNOSTIC_LEVELS[worst], detector.message, values

    def _on_state(self, serialised: bytes) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        inputs = self._inputs
        problem = inputs.read_state(serialised, detector.settings.stale_timeout)
        if problem:
            self._refuse(problem)
            text = f'joint states refused: {problem}'
            self._recorded.call('lose', Fault(problem.name, text))
        elif problem := self._robot.problem():
            self._recorded.call('lose', problem)
        else:
            state = inputs.state
            self._tasks.sample(state.position)
            self._note_rest(detector)
            self._recorded.update(
                inputs.stamp, state.position, state.velocity, state.effort, inputs.motion
            )
        self._learning.sample(detector, inputs)
        self._conclude(detector, inputs.time)

    def _on_commands(self, serialised: bytes) -> None:
        if self.active and self._detector is not None:
            self._inputs.read_commands(serialised)

    def _on_reference(self, serialised: bytes) -> None:
        if not self.active or self._detector is None:
            return
        self._inputs.read_commands(serialised)
        if self._chosen['motion_source'] != 'reference':
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
        now = time.monotonic()
        if self._reference_due == -np.inf:
            self._reference_due = now + 2.0 * DISCOVERY
        if now < self._reference_due:
            return
        self._reference_due = np.inf
        needed = np.isfinite(detector.thresholds.change).any()
        if needed and not self._inputs.reference_known:
            self.get_logger().warning(
                'pushes at rest below the friction are NOT found: the thresholds have '
                f'change_at_rest, and the reference is {self._reference_state(detector)}. Check '
                "the parameter 'controller', or publish ~/reference"
            )

    def _note_rest(self, detector: TorqueErrorDetector) -> None:
        rests = self._inputs.reference_rests
        if rests != detector.resting:
            self._recorded.call('rest', rests)

    def _refuse(self, problem: str) -> None:
        self._refused += 1
        self._refusal = problem

    def _on_watchdog(self) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        if silence := self._inputs.silence(detector.settings.stale_timeout):
            self._recorded.call('lose', silence)
            self._conclude(detector, self.get_clock().now().to_msg())
        else:
            self._check_reference(detector)

    def _on_tick(self) -> None:
        """Repeat reactions that were not acknowledged; end tasks; answer ~/learn."""
        self._learning.tick()
        if not self.active or self._detector is None:
            return
        self._reactions.tick()
        self._black_box.tick()
        self._tasks.tick()

    def _conclude(self, detector: TorqueErrorDetector, stamp: Any) -> None:
        """React first, then publish."""
        if self._reactions.sample(detector, muted=self._tasks.muted):
            self._black_box.mark(self._reactions.reason)
        for topic in self._topics:
            topic.publish(detector, self._inputs, stamp)

    def _not_healthy(self) -> str:
        """Return why the present work cannot be learned as healthy, or ''."""
        detector = self._detector
        if not self.active or detector is None:
            return 'the node is not active'
        return self._not_cleared() or self._robot.problem() or release_problem(detector)

    def _not_cleared(self) -> str:
        """Return why monitoring must not become weaker now, or ''."""
        latched = self._detector is not None and self._detector.latched
        if latched or self._reactions.reason:
            return 'a collision is not cleared yet: call ~/reset first'
        return ''

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Release a reaction and clear the collision, if the contact has ended."""
        detector = self._detector
        raised = detector is not None and bool(detector.latched or self._reactions.reason)
        stopped = self._robot.readiness.latched
        if problem := self._robot.release():
            raise ControlError(problem)
        if detector is not None and raised:
            if problem := release_problem(detector):
                again = '; the stop of the robot itself is cleared: call ~/reset once more'
                raise ControlError(problem + (again if stopped else ''))
            self._recorded.call('reset')
            self._reactions.clear()
        response.success = True
        response.message = (
            'collision cleared' if raised
            else 'stop of the robot itself cleared' if stopped else 'there was no collision'
        )  # fmt: skip
        return response


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
