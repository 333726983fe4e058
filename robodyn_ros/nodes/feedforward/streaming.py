# SPDX-License-Identifier: Apache-2.0
"""Streaming mode of the feed-forward: a torque command for the reference of each cycle."""

from __future__ import annotations

import time
from collections.abc import Callable

from lifecycle_msgs.msg import TransitionEvent
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.additive_torque import AdditiveTorque, State
from robodyn_ros.control.feedforward.reference import Pace, ReferenceMotion
from robodyn_ros.control.feedforward.reference_timeout import LOWEST, ReferenceTimeout
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import start_timer
from robodyn_ros.nodes.base.common import (
    STREAM_QOS,
)
from robodyn_ros.nodes.feedforward.mode import TorqueMode
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.wire.cursor import NANOSECONDS

ZERO_REPEATS = 10
"""Number of zero commands after a ramp, in case some are lost."""


class StreamingMode(TorqueMode):
    """Additive torque for `~/reference`, sent to a forward_command_controller.

    A reference that cannot be used is refused and counted, and the torque does not change. It is
    a fault if references or joint states are missing, go back in time, or are frozen. Ramps to
    zero block the node for ramp_down_time, so that nothing that arrives can interrupt them. While
    no torque is applied, zero is repeated.

    A forward_command_controller keeps the last command of a sender that was killed, which no node
    can prevent. Use a time-out of commands in the drive or the controller if there is one.
    """

    interfaces = 'interface_name'

    def __init__(
        self,
        node: LifecycleNode,
        timeout: float,
        *,
        ask: bool = False,
        changed: Callable[[], None] = lambda: None,
        controller: str = 'forward_effort_controller',
        state_rate: float = 0.0,
    ) -> None:
        """Create publishers, subscriptions and the watchdog.

        :param timeout: longest pause between usable references, in [s]; 0: automatic
        :param ask: ask for the state of the controller; apply torque only while it is active
        :param changed: called when the known state of the controller has changed
        :param state_rate: how often TorqueState is published, in [Hz]; 0: each cycle
        """
        self._timeout = ReferenceTimeout(given=timeout)
        self._interval = 0.5 * (timeout or LOWEST)
        self._law: AdditiveTorque | None = None
        self._changed = changed
        self._last = 0.0
        self._motor_problem = ''
        self._woken = -float('inf')
        topic = f'{controller}/commands'
        super().__init__(
            node, Float64MultiArray, topic, ask=ask, changed=self._on_target, state_rate=state_rate
        )
        node.create_subscription(
            JointState, '~/reference', self._on_reference, STREAM_QOS, raw=True
        )
        node.create_subscription(
            TransitionEvent, f'{self.target.name}/transition_event', self._on_transition, 10
        )
        start_timer(node, self._interval, self._on_watchdog)

    def use(
        self,
        law: AdditiveTorque,
        effort: EffortConversion,
        states: StateWatch,
        threshold: TorqueThreshold | None = None,
    ) -> None:
        """Set the law of another model, the conversion of efforts, and the watches."""
        law.fault = self.fault  # another model does not clear it
        self._law = law
        width = len(law.joints)
        zero = serialize_message(Float64MultiArray(data=[0.0] * width))
        self._command = zero[: -8 * width]  # followed by the numbers
        self._reader = JointStateReader(law.joints, ('position', 'velocity'), exact=True)
        self._timeout = ReferenceTimeout(given=self._timeout.given, period=law.settings.period)
        self._motion = ReferenceMotion(
            width=width, timeout=self._timeout.value, period=law.settings.period
        )
        self._pace = Pace(law.settings.period)
        delay = law.settings.additive_torque_delay
        self._watch(law.joints, effort, states, threshold, delay)
        motors = [f'{name}_motor' for name in law.joints]
        self._encoders = JointStateReader([*law.joints, *motors], required=('position',))

    def begin(self, enabled: bool) -> None:
        """Start with zero torque until the first reference."""
        if enabled:
            self.enable()
        self._running = True

    def finish(self) -> None:
        """Ramp to zero and stop."""
        self.disable()
        self._output.wait_for_all_acked(Duration(seconds=0.5))
        self._running = False

    def enable(self) -> None:
        """Apply the model torque from the next reference on.

        :raises ControlError: a fault is latched, or the controller does not accept commands
        """
        if self._law is None:
            raise ControlError('there is no model yet', fault='no_model')
        if self._law.enabled:  # its watches must not restart
            return
        if not self._law.fault and self.target.refusal:
            raise ControlError(self.target.refusal, fault='controller_lost')
        self._threshold.restart()
        self._states.restart(time.monotonic())
        self._last = 0.0
        self._motion.restart()
        self._law.start()

    def disable(self) -> None:
        """Ramp to zero and stay there."""
        if self._law is not None:
            self._law.stop()
            self._ramp_down(self._law)

    @property
    def enabled(self) -> bool:
        """True if torque is applied or ramped in."""
        return self._law is not None and self._law.enabled

    def set_scale(self, scale: float) -> None:
        """Blend in another share of the model torque.

        :raises ControlError: it is not from 0 to 1
        """
        if self._law is not None:
            self._law.scale = scale

    def set_values(self, values: Array) -> None:
        """Blend in other parameter values, shape (p,).

        :raises ControlError: values that cannot be used
        """
        if self._law is not None:
            self._law.set_values(values)

    def reset(self) -> str:
        """Clear the fault; return what was done."""
        law = self._law
        if law is None or not law.fault:
            return 'there was no fault'
        text = f'cleared: {law.fault}'
        law.reset()
        return text

    @property
    def fault(self) -> Fault:
        """The latched fault, or NO_FAULT."""
        return self._law.fault if self._law else NO_FAULT

    @property
    def applied(self) -> bool:
        """True if the torque is not zero at present."""
        return self._law is not None and bool(self._law.applied.any())

    @property
    def warning(self) -> str:
        """Problems that are not faults, or ''."""
        pace = others = ''
        if self._law is not None and self.enabled:
            pace = self._motion.off_pace(self._law.settings.additive_torque_delay)
        if self._node.count_publishers(self.topic) > 1:
            others = f'another node publishes to {self.topic} too: the drives receive both in turn'
        return '; '.join(filter(None, (others, pace, self.refusal)))

    def details(self) -> dict[str, object]:
        """Return the values for diagnostics."""
        state = self._law.state.value if self._law else ''
        found = {
            'state': state, 'refused': self.refused, 'last_refusal': self.refusal,
            'reference_timeout': round(self._timeout.value, 4),
            'longest_pause': round(self._timeout.longest, 4),
        }  # fmt: skip
        if self._law is not None and self._law.gear_torque is not None:
            applied = self._law.gear_torque.applied.tolist()
            found['residual_torque'] = self._motor_problem or applied
        return found

    def _on_feedback(self, serialised: bytes) -> None:
        if not self._running:
            return
        usable = self._state.read(serialised)
        law = self._law
        if law is None:
            return
        self._read_encoders(law, serialised)
        wanted = self._motion.position if self._last else None
        problem = self._feedback_problem(usable, wanted)
        if problem and law.enabled:
            self._trip(law, problem)

    def _read_encoders(self, law: AdditiveTorque, serialised: bytes) -> None:
        """Read positions on both sides of the gears; without them the gear torque fades out."""
        if law.gear_torque is None:
            return
        self._motor_problem = self._encoders.read_bytes(serialised)
        if not self._motor_problem:
            width = len(law.joints)
            position = self._encoders.position
            law.gear_torque.read(position[:width], position[width:], self._encoders.stamp)

    def _on_reference(self, serialised: bytes) -> None:
        law = self._law
        if not self._running or law is None:
            return
        problem = self._reader.read_bytes(serialised)
        if problem := problem or self._motion.refusal(self._reader.stamp):
            self._refuse(f'reference refused: {problem}')
            return
        now, motion, timeout = time.monotonic(), self._motion, self._timeout
        if not law.enabled:
            timeout.read(now)
            return
        sent = self._reader.stamp - motion.stamp
        if self._last and timeout.silent(now - self._last, sent):
            self._trip(law, self._pause(now))  # the watchdog was delayed, too
            return
        timeout.read(now)
        motion.timeout = timeout.value
        fault = self._update(law, now)
        if not self._last:
            self._states.restart(now)
        self._last = now
        # Also with a fault: the law may have advanced by a cycle, from which the ramp continues.
        self._send(law, self._reader.clock)
        if fault:
            self._trip(law, fault)

    def _update(self, law: AdditiveTorque, now: float) -> Fault:
        """Compute the torque of the last sample; return the fault, or NO_FAULT."""
        motion = self._motion
        try:
            fault = motion.read(self._reader.stamp, self._reader.position, self._reader.velocity)
            if fault:
                return fault
            step = motion.elapsed
            passed = self._pace.take(now, min(step, law.settings.period))
            applied = law.update(
                motion.position, motion.velocity, motion.acceleration, step, passed
            )
            return law.fault or self._threshold.command(applied)
        except Exception as error:
            return Fault('unexpected', f'{type(error).__name__}: {error}')

    def _on_transition(self, event: TransitionEvent) -> None:
        self.target.event(event)

    def _on_target(self) -> None:
        """Trip if the target controller changes state while torque is applied.

        A controller that is deactivated leaves its last torque at the drives. One that is
        activated starts with a step to the torque that is applied then.
        """
        law, problem = self._law, self.target.problem
        if problem and law is not None and law.enabled and (self.applied or self.target.ask):
            torque = ' with torque applied' if self.applied else ''
            text = f'{problem}{torque}: the drives may keep that of the time when it was'
            self._trip(law, Fault('controller_lost', text))
        self._changed()

    def _on_watchdog(self) -> None:
        self.target.tick()
        now, law = time.monotonic(), self._law
        held_up = now - self._woken > 2.0 * self._interval
        self._woken = now
        if not self._running or law is None:
            return
        if not law.enabled:
            self._send(law)
            return
        if not self._last:
            return
        expired = self._timeout.expired(now - self._last, held_up)
        if silence := self._pause(now) if expired else self._silence():
            self._trip(law, silence)

    def _pause(self, now: float) -> Fault:
        """Return the fault of missing references."""
        why = f'; {self.refusal}' if self.refusal else ''
        text = f'no usable reference for {now - self._last:.3f} s ({self._timeout}{why})'
        return Fault('reference_missing', text)

    def trip(self, fault: Fault) -> None:
        """Latch a fault and ramp to zero, unless a fault is latched already."""
        if self._law is not None and not self._law.fault:
            self._trip(self._law, fault)

    def _trip(self, law: AdditiveTorque, fault: Fault) -> None:
        law.trip(fault)
        self._ramp_down(law)
        self._node.get_logger().error(f'additive torque ramped to zero: {law.fault}')

    def _ramp_down(self, law: AdditiveTorque) -> None:
        """Send the ramp in real time, one command per period, then zero several times."""
        due = time.monotonic()
        repeats = ZERO_REPEATS
        while repeats:
            due += law.settings.period
            time.sleep(max(0.0, due - time.monotonic()))
            repeats -= law.state is State.INACTIVE
            law.idle()
            self._send(law)

    def _send(self, law: AdditiveTorque, clock: tuple[int, int] | None = None) -> None:
        """Send the applied torque, and publish it with the stamp of its reference."""
        if not self._running:  # an inactive node is silent
            return
        numbers: bytes = self._effort.command(law.applied).tobytes()
        self._output.publish(self._command + numbers)
        if clock is None:
            clock = divmod(self._node.get_clock().now().nanoseconds, NANOSECONDS)
        self._state.publish(clock, law.requested, law.applied, law.enabled, law.fault)
