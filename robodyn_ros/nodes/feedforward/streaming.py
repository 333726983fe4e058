"""Streaming mode of the feed-forward: each cycle a reference in and a torque command out."""

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
from robodyn_ros.errors import ControlError
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import MONITOR_QOS, steady_timer
from robodyn_ros.nodes.feedforward.target_watch import TargetWatch
from robodyn_ros.nodes.feedforward.torque_state import TorqueStateOut
from robodyn_ros.nodes.robot.joint_state_bytes import JointStateBytes
from robodyn_ros.nodes.robot.model_node import STREAM_QOS
from robodyn_ros.nodes.robot.torque_watch import TorqueWatch
from robodyn_ros.wire.cursor import NANOSECONDS

ZERO_REPEATS = 10
"""How often zero is sent after a ramp, should a command get lost."""


class StreamingMode:
    """Runs the law on `~/reference` and commands a forward_command_controller.

    A reference that cannot be used is refused whole, counted, and the torque stays as it is; a
    reference or a robot state that stays away, goes back in time or is frozen is a fault. Ramps to
    zero run at once and block the node for ramp_down_time: nothing that arrives may come in
    between. While no torque is applied, zero is repeated.

    A forward_command_controller keeps the last command of a sender that was killed: no node can
    prevent that. Use a drive-side or controller-side command time-out where there is one.
    """

    def __init__(
        self,
        node: LifecycleNode,
        timeout: float,
        *,
        ask: bool = False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Create publishers, subscriptions and the watchdog.

        :param timeout: longest pause between usable references, in [s]; 0: automatic
        :param ask: ask for the controller's state; apply torque only while it takes commands
        :param changed: called when something else is known of that
        """
        self._node = node
        self._timeout = ReferenceTimeout(given=timeout)
        self._interval = 0.5 * (timeout or LOWEST)
        self._law: AdditiveTorque | None = None
        self._watch: TorqueWatch | None = None
        self._states: StateWatch | None = None
        # Plain: _send is silent while the node is inactive.
        self._commands = node.create_publisher(
            Float64MultiArray, 'forward_effort_controller/commands', 10
        )
        self.target = TargetWatch(node, self._commands, ask=ask, changed=self._on_target)
        self._changed = changed
        self._state = TorqueStateOut(node, self.target)
        self._running = False
        self._last = 0.0
        self.refused = 0
        self.refusal = ''
        self.sides = ''
        for topic, callback, qos in (
            ('~/reference', self._on_reference, STREAM_QOS),
            ('joint_states', self._on_feedback, MONITOR_QOS),
        ):
            node.create_subscription(JointState, topic, callback, qos, raw=True)
        node.create_subscription(
            TransitionEvent, f'{self.target.name}/transition_event', self._on_transition, 10
        )
        self._woken = -float('inf')
        steady_timer(node, self._interval, self._on_watchdog)

    @property
    def topic(self) -> str:
        """Resolved name of the topic that commands go to."""
        return str(self._commands.topic_name)

    def use(
        self,
        law: AdditiveTorque,
        effort: EffortConversion,
        states: StateWatch,
        watch: TorqueWatch | None = None,
    ) -> None:
        """Take the law of another model, the meaning of efforts, and what is watched.

        :param watch: torque_threshold, or None
        """
        law.fault = self.fault  # another model does not clear it
        self._law = law
        self.target.joints = law.joints
        self._effort = effort
        self._states, self._watch = states, watch
        width = len(law.joints)
        zero = serialize_message(Float64MultiArray(data=[0.0] * width))
        self._command = zero[: -8 * width]  # followed by the numbers
        self._reader = JointStateBytes(law.joints, ('position', 'velocity'), exact=True)
        self._timeout = ReferenceTimeout(given=self._timeout.given, period=law.settings.period)
        self._motion = ReferenceMotion(
            width=width, timeout=self._timeout.value, period=law.settings.period
        )
        self._pace = Pace(law.settings.period)
        self._state.prepare(law.joints, effort)
        motors = [f'{name}_motor' for name in law.joints]
        self._sides = JointStateBytes([*law.joints, *motors], required=('position',))

    def begin(self, enabled: bool) -> None:
        """Start: zero until the first reference comes."""
        if enabled:
            self.enable()
        self._running = True

    def finish(self) -> None:
        """Ramp to zero and stop."""
        self.disable()
        self._commands.wait_for_all_acked(Duration(seconds=0.5))
        self._running = False

    def enable(self) -> None:
        """Apply the model torque from the next reference on.

        :raises ControlError: a fault is latched, or the controller does not take commands
        """
        if self._law is None or self._states is None:
            raise ControlError('there is no model yet')
        if self._law.enabled:  # its watchdog must not start anew
            return
        if not self._law.fault and self.target.refusal:
            raise ControlError(self.target.refusal)
        if self._watch is not None:
            self._watch.restart()
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
        """Return True if torque is applied, or ramps in."""
        return self._law is not None and self._law.enabled

    def set_scale(self, scale: float) -> None:
        """Blend another share of the model torque in.

        :raises ControlError: it is not from 0 to 1
        """
        if self._law is not None:
            self._law.scale = scale

    def set_values(self, values: Array) -> None:
        """Blend other parameter values (p,) in.

        :raises ControlError: values that cannot be used
        """
        if self._law is not None:
            self._law.set_values(values)

    def reset(self) -> str:
        """Clear the fault and start again; return what was done."""
        law = self._law
        if law is None or not law.fault:
            return 'there was no fault'
        text = f'cleared: {law.fault}'
        law.reset()
        return text

    @property
    def fault(self) -> str:
        """The latched fault, or ''."""
        return self._law.fault if self._law else ''

    @property
    def applied(self) -> bool:
        """Whether the torque of now is another than zero."""
        return self._law is not None and bool(self._law.applied.any())

    @property
    def warning(self) -> str:
        """What is wrong, but no fault, or ''."""
        pace = others = ''
        if self._law is not None and self.enabled:
            pace = self._motion.off_pace(self._law.settings.additive_torque_delay)
        if self._node.count_publishers(self.topic) > 1:
            others = f'somebody else publishes on {self.topic}, too: the drives get both in turn'
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
            found['residual_torque'] = self.sides or self._law.gear_torque.applied.tolist()
        return found

    def _on_feedback(self, serialised: bytes) -> None:
        if not self._running:
            return
        usable = self._state.read(serialised)
        law = self._law
        self._read_sides(serialised)
        if law is None:
            return
        problem = self._state_problem(self._state.feedback)
        if self._watch is not None and usable:
            problem = self._watch.feedback(self._state.feedback.effort) or problem
        if problem and law.enabled:
            self._trip(law, problem)

    def _state_problem(self, robot: JointStateBytes) -> str:
        """Hold a joint state against those before; one without positions counts as none."""
        if not self._last or self._states is None or 'position' in robot.missing:
            return ''
        return self._states.read(
            time.monotonic(), robot.stamp, robot.position, self._motion.position
        )

    def _read_sides(self, serialised: bytes) -> None:
        """Positions on both sides of the gears, for the gear torque; none: it fades out."""
        gears = self._law.gear_torque if self._law is not None else None
        if gears is None:
            return
        self.sides = self._sides.read_bytes(serialised)
        if not self.sides:
            width = len(gears.joints)
            position = self._sides.position
            gears.read(position[:width], position[width:], self._sides.stamp)

    def _on_reference(self, serialised: bytes) -> None:
        law = self._law
        if not self._running or law is None:
            return
        problem = self._reader.read_bytes(serialised)
        if problem := problem or self._motion.refusal(self._reader.stamp):
            self.refused += 1
            self.refusal = f'reference refused: {problem}'
            return
        now, motion, timeout = time.monotonic(), self._motion, self._timeout
        if not law.enabled:
            timeout.read(now)
            return
        sent = self._reader.stamp - motion.stamp
        if self._last and timeout.silent(now - self._last, sent):
            self._trip(law, self._pause(now))  # the watchdog was held up, too
            return
        timeout.read(now)
        motion.timeout = timeout.value
        fault = self._update(law, now)
        if not self._last and self._states is not None:
            self._states.restart(now)
        self._last = now
        # Also with a fault: the law may have moved on by a cycle, and the ramp goes on from there.
        self._send(law, self._reader.clock)
        if fault:
            self._trip(law, fault)

    def _update(self, law: AdditiveTorque, now: float) -> str:
        """Compute the torque of the sample last read, and return the fault, '' without one."""
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
            if law.fault or self._watch is None:
                return law.fault
            return self._watch.command(applied)
        except Exception as error:
            return f'{type(error).__name__}: {error}'

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
            self._trip(law, f'{problem}{torque}: the drives may keep that of the time when it was')
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
        if self._last and (silence := self._silence(now, held_up)):
            self._trip(law, silence)

    def _pause(self, now: float) -> str:
        """Say that references stayed away for too long."""
        why = f'; {self.refusal}' if self.refusal else ''
        return f'no usable reference for {now - self._last:.3f} s ({self._timeout}{why})'

    def _silence(self, now: float, held_up: bool) -> str:
        """Say what has stayed away for too long, or nothing."""
        if self._timeout.expired(now - self._last, held_up):
            return self._pause(now)
        if self._watch is not None and (silence := self._watch.silence()):
            return silence
        return self._states.silence(now) if self._states is not None else ''

    def trip(self, reason: str) -> None:
        """Latch a fault and ramp to zero, unless one is latched already."""
        if self._law is not None and not self._law.fault:
            self._trip(self._law, reason)

    def _trip(self, law: AdditiveTorque, reason: str) -> None:
        law.trip(reason)
        self._ramp_down(law)
        self._node.get_logger().error(f'additive torque ramped to zero: {law.fault}')

    def _ramp_down(self, law: AdditiveTorque) -> None:
        """Send the ramp in real time, a period after the last command, then zero some times."""
        due = time.monotonic()
        repeats = ZERO_REPEATS
        while repeats:
            due += law.settings.period
            time.sleep(max(0.0, due - time.monotonic()))
            repeats -= law.state is State.INACTIVE
            law.idle()
            self._send(law)

    def _send(self, law: AdditiveTorque, clock: tuple[int, int] | None = None) -> None:
        """Command what is applied now, and publish it with the stamp of its reference."""
        if not self._running:  # an inactive node is silent
            return
        numbers: bytes = self._effort.command(law.applied).tobytes()
        self._commands.publish(self._command + numbers)
        if clock is None:
            clock = divmod(self._node.get_clock().now().nanoseconds, NANOSECONDS)
        self._state.publish(clock, law.requested, law.applied, law.enabled, law.fault)
