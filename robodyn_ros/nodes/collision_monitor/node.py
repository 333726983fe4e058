"""Node `collision_monitor`: torque feedback compared with the model. NOT a safety function."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robodyn_ros.control.collision import Level, TorqueErrorDetector
from robodyn_ros.control.collision_settings import CollisionSettings
from robodyn_ros.control.torque.delay import DelayLine
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import ConfigError
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.models.interface import Array
from robodyn_ros.msg import CollisionState
from robodyn_ros.nodes.base.common import MONITOR_QOS, steady_timer
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.nodes.robot.model_node import STREAM_QOS, ModelNode, Row, expanded

SOURCES = ('feedback', 'reference')
DIAGNOSTIC_LEVELS = {
    Level.OK: DiagnosticStatus.OK,
    Level.CONTACT: DiagnosticStatus.WARN,
    Level.COLLISION: DiagnosticStatus.ERROR,
    Level.UNKNOWN: DiagnosticStatus.STALE,
}


FIXED: dict[str, Any] = {'read_only': True}
LIMITS: dict[str, Any] = {'read_only': True, 'minimum': 0.0}
EACH = 'one value or one per joint'
DETECTOR: tuple[Row, ...] = (
    ('torque_error_enable', [True], f'monitored joints; {EACH}', FIXED),
    ('max_torque_error', [0.0], f'collision above it [Nm or N]; {EACH}', LIMITS),
    ('contact_threshold', [0.0], f'contact above it [Nm or N]; {EACH}; 0: 70 % of '
     'max_torque_error', LIMITS),
    ('torque_error_filter', 0.5, 'TE = filter * current + (1 - filter) * previous',
     {**LIMITS, 'maximum': 1.0}),
    ('low_velocity', [0.1], f'friction is uncertain below it [rad/s or m/s]; {EACH}', LIMITS),
    ('low_velocity_torque', [0.0], f'added to the thresholds there [Nm or N]; {EACH}', LIMITS),
    ('low_velocity_hold', 0.05, 'time in which that fades after standstill [s]', LIMITS),
    ('period', 0.002, 'period of the joint states [s]', {**LIMITS, 'maximum': 0.1}),
    ('filter_cutoff', 40.0, 'low pass of position, velocity and torque [Hz]', LIMITS),
    ('debounce', 2, 'consecutive samples above a threshold that set a level',
     {**FIXED, 'minimum': 1, 'maximum': 1000}),
    ('settle_time', 0.1, 'time of UNKNOWN after a start or gap [s]', LIMITS),
    ('stale_timeout', 0.05, 'time without a valid sample until UNKNOWN [s]',
     {**FIXED, 'minimum': 0.002, 'maximum': 10.0}),
    ('frozen_timeout', 0.2, 'time of constant values until UNKNOWN [s]; 0: not checked', LIMITS),
)  # fmt: skip
"""Parameters of the detector: name, default, description, range."""
NODE: tuple[Row, ...] = (
    ('motion_source', 'feedback', 'motion for the model torque: feedback (joint_states) or '
     'reference (~/reference, delayed)', FIXED),
    ('additive_torque_delay', 3, 'motion_source reference: cycles between a command and its '
     'effect', {**FIXED, 'minimum': 0, 'maximum': 1000}),
    ('stop_service', '', 'std_srvs/Trigger that is called at a collision', FIXED),
)  # fmt: skip
"""Parameters of the node, in the same form."""


class CollisionMonitor(ModelNode):
    """Publisher of CollisionState for each joint state; calls a stop service at a collision."""

    hardware_id = 'robodyn collision monitor'

    def __init__(self) -> None:
        """Declare parameters, offer topics and services, start with autostart."""
        super().__init__('collision_monitor')
        self._options = self.declared(DETECTOR)
        self._effort_parameters = EffortParameters(self)
        chosen = self.declared(NODE)
        self._source, self._delay_cycles = chosen['motion_source'], chosen['additive_torque_delay']
        if self._source not in SOURCES:
            raise ConfigError(
                f"parameter 'motion_source' must be one of {SOURCES}, got {self._source}"
            )
        service = chosen['stop_service']
        self._stop_client = self.create_client(Trigger, service) if service else None
        self._detector: TorqueErrorDetector | None = None
        self._stop_called = False
        self._stop_result = ''
        self._refused = 0
        self._refusal = ''
        self._publisher = self.create_lifecycle_publisher(
            CollisionState, '~/collision_state', MONITOR_QOS
        )
        topics: list[tuple[str, Any]] = [('joint_states', self._on_state)]
        if self._source == 'reference':
            topics.append(('~/reference', self._on_reference))
        for topic, callback in topics:
            self.create_subscription(JointState, topic, callback, STREAM_QOS, raw=True)
        steady_timer(self, 0.5 * self._options['stale_timeout'], self._on_watchdog)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.autostart()

    def build(self, model: IdentifiedModel, torque: ModelTorque) -> None:
        """Make the detector for a model."""
        self._torque = torque
        self._effort = self._effort_parameters.for_joints(model.model.joints)
        torque.exclude_gravity(self._effort.gravity_excluded)
        values = {
            name: expanded(value) if isinstance(value, list) else value
            for name, value in self._options.items()
        }
        if values['torque_error_enable'] in (True, False):
            values['torque_error_enable'] = [values['torque_error_enable']] * len(model.joints)
        if values['contact_threshold'] == 0.0:
            values['contact_threshold'] = None
        settings = CollisionSettings(joints=model.joints, **values)
        self._detector = TorqueErrorDetector(torque=torque, settings=settings)
        width = len(model.joints)
        self._reader = JointStateReader(model.joints)
        self._reference = JointStateReader(model.joints, required=('position', 'velocity'))
        self._delay = DelayLine(width=2 * width, cycles=self._delay_cycles)
        self._motion: tuple[NDArray[Any], NDArray[Any]] | None = None
        self._reference_time = 0.0
        self._message = CollisionState(name=list(model.joints))
        self._stop_called = False

    def begin(self) -> None:
        """Start with UNKNOWN."""
        if self._detector is not None:
            self._detector.lose('no joint states yet')
        self._received = self._reference_time = 0.0
        self._motion = None
        self._delay.clear()

    def set_values(self, values: Array) -> None:
        """Set another payload, and let the detector settle: earlier torque errors are invalid."""
        self._torque.set_values(values)
        if self._detector is not None:
            self._detector.lose('the payload was changed')

    def on_unexpected(self, reason: str) -> None:
        """Set UNKNOWN until new samples have settled."""
        if self._detector is not None:
            self._detector.lose(reason)

    def report(self) -> tuple[bytes, str, dict[str, object]]:
        """Return the worst level, its sentence, and the refusals."""
        detector = self._detector
        if detector is None:
            return DiagnosticStatus.STALE, 'no model', {}
        levels = detector.level[detector.settings.enabled]
        worst = Level(int(levels.max(initial=0)))
        if worst < Level.COLLISION and (levels == Level.UNKNOWN).any():
            worst = Level.UNKNOWN
        values: dict[str, object] = {
            'latched': detector.latched,
            'refused': self._refused,
            'last_refusal': self._refusal,
            'stop_service': self._stop_result,
        }
        return DIAGNOSTIC_LEVELS[worst], detector.message, values

    def _on_state(self, serialised: bytes) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        problem = self._reader.read_bytes(serialised)
        if not problem and not self._reference_fresh(detector.settings.stale_timeout):
            problem = 'there is no usable reference'
        if problem:
            self._refused += 1
            self._refusal = problem
            detector.lose(f'joint states refused: {problem}')
        else:
            self._received = time.monotonic()
            reader = self._reader
            feedback = self._effort.feedback(reader.effort)
            detector.update(reader.stamp, reader.position, reader.velocity, feedback, self._motion)
        self._publish(detector, self._reader.time)

    def _on_reference(self, serialised: bytes) -> None:
        """Read a reference, and delay it like the drives."""
        if not self.active or self._detector is None:
            return
        reference, before = self._reference, self._reference.stamp
        problem = reference.read_bytes(serialised)
        if problem or reference.stamp <= before:
            self._refused += 1
            self._refusal = f'reference refused: {problem or "its stamp does not advance"}'
            return
        self._reference_time = time.monotonic()
        width = len(reference.joints)
        delayed = self._delay.push(np.concatenate([reference.position, reference.velocity]))
        self._motion = (delayed[:width].copy(), delayed[width:].copy())

    def _reference_fresh(self, timeout: float) -> bool:
        unused = self._source == 'feedback'
        return unused or time.monotonic() - self._reference_time <= timeout

    def _on_watchdog(self) -> None:
        detector = self._detector
        if not self.active or detector is None:
            return
        age = time.monotonic() - self._received
        if age > detector.settings.stale_timeout:
            text = (
                'no joint states yet' if not self._received else f'no joint states for {age:.2f} s'
            )
            detector.lose(text)
            self._publish(detector, self.get_clock().now().to_msg())

    def _publish(self, detector: TorqueErrorDetector, stamp: Any) -> None:
        message = self._message
        message.header.stamp = stamp
        message.level = array('B', detector.level.tobytes())
        message.torque_error = array('d', detector.torque_error.tobytes())
        message.threshold = array('d', detector.threshold.tobytes())
        message.latched = detector.latched
        message.message = detector.message
        self._publisher.publish(message)
        if message.latched and not self._stop_called:
            self._on_collision(detector)

    def _on_collision(self, detector: TorqueErrorDetector) -> None:
        """Log a latched collision once, and call the stop service."""
        self._stop_called = True
        self.get_logger().error(detector.message)
        if self._stop_client is None:
            return
        if not self._stop_client.service_is_ready():
            self._stop_result = f'{self._stop_client.srv_name} is not available'
            self.get_logger().error(f'cannot stop the robot: {self._stop_result}')
            return
        self._stop_result = 'called'
        self._stop_client.call_async(Trigger.Request()).add_done_callback(self._on_stopped)

    def _on_stopped(self, future: Any) -> None:
        answer = future.result()
        self._stop_result = f'success {answer.success}: {answer.message}'

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Clear the collision."""
        detector = self._detector
        latched = detector is not None and detector.latched
        if detector is not None:
            detector.reset()
        self._stop_called = False
        self._stop_result = ''
        response.success = True
        response.message = 'collision cleared' if latched else 'there was no collision'
        return response


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(CollisionMonitor, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
