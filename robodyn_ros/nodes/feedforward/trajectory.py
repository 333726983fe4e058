# SPDX-License-Identifier: Apache-2.0
"""Trajectory mode of the feed-forward: adds effort to trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.path_check import astray
from robodyn_ros.control.feedforward.settings import FeedforwardSettings
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.torque_plan import TRANSPORT, TorquePlan
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.control.torque_threshold import SILENCE, TorqueThreshold
from robodyn_ros.errors import NO_FAULT, ControlError, Fault
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.clock import start_timer
from robodyn_ros.nodes.base.ordered_queue import Outbox, Send
from robodyn_ros.nodes.feedforward.arrived import Arrived
from robodyn_ros.nodes.feedforward.controller_watch import ControllerWatch
from robodyn_ros.nodes.feedforward.follow_goals import offered_goals
from robodyn_ros.nodes.feedforward.mode import TorqueMode
from robodyn_ros.nodes.feedforward.trajectory_passing import Passing
from robodyn_ros.nodes.feedforward.trajectory_planner import TrajectoryPlanner, serialised, thinned
from robodyn_ros.nodes.robot.trajectory_message import read_trajectory, with_valid_stamp
from robodyn_ros.wire.cursor import NANOSECONDS
from robodyn_ros.wire.trajectory import is_empty


class TrajectoryMode(TorqueMode):
    """Additive torque for trajectories to the joint_trajectory_controller.

    - A trajectory is resampled at the servo period from its first point on; the controller plans
      the motion to the first point.
    - A trajectory without valid torque is not sent: the robot continues its present motion.
    - An empty trajectory passes through (a JTC refuses it). While the node is inactive, all
      trajectories pass through without torque.
    - If the torque must be removed during a motion, the remainder of the motion is sent again
      with effort that ramps to zero.
    - Nothing is sent if the controller has received another command meanwhile, or the robot does
      not follow the motion: a robot that was stopped must not start to move.
    """

    interfaces = 'command_interfaces'

    def __init__(
        self,
        node: LifecycleNode,
        *,
        hold_at_end: bool,
        declaration: EffortDeclaration | None = None,
        ask: bool = False,
        controller: str = 'joint_trajectory_controller',
        state_rate: float = 0.0,
    ) -> None:
        """Create publisher and subscriptions.

        :param state_rate: how often TorqueState is published, in [Hz]; 0: for each joint state
        """
        self._passing = Passing(declaration)
        self._hold = hold_at_end
        self._planner: TrajectoryPlanner | None = None
        self._enabled = False
        self._plan: TorquePlan | None = None
        self._until, self._start, self._stamped = -np.inf, 0, False
        self._before: tuple[TorquePlan | None, float, int, bool] = (None, -np.inf, 0, False)
        self.fault = NO_FAULT
        topic = f'{controller}/joint_trajectory'
        super().__init__(node, JointTrajectory, topic, ask=ask, state_rate=state_rate)
        self._controller = ControllerWatch(node, self.topic, self._on_left)
        self._goals = offered_goals(node, self.target.name, self, self._controller)
        node.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10, raw=True
        )
        start_timer(node, 0.5 * SILENCE, self._on_timer)
        self._outbox: Outbox[Arrived] = Outbox(
            node, self._prepared, lambda arrived, error: arrived.refuse(str(error))
        )

    def use(
        self,
        torque: ModelTorque,
        settings: FeedforwardSettings,
        effort: EffortConversion,
        states: StateWatch,
        threshold: TorqueThreshold | None = None,
        *,
        check: PlannedTorque | None = None,
    ) -> None:
        """Set another model, its settings, the conversion of efforts, and the watches."""
        if self._planner is None or self._planner.torque.joints != torque.joints:
            self._plan = None  # otherwise its torque may still be ramped out
        self._passing.limit = dict(zip(settings.joints, settings.limit.tolist(), strict=True))
        self._zero = np.zeros(len(torque.joints))
        delay = settings.additive_torque_delay
        self._watch(torque.joints, effort, states, threshold, delay)
        self._planner = TrajectoryPlanner(
            torque, settings, self._threshold, check=check, hold_at_end=self._hold
        )
        self._outbox.prepare_again()

    def begin(self, enabled: bool) -> None:
        """Start.

        :raises ControlError: torque is wanted, and a fault is latched
        """
        if enabled:
            self.enable()
        self._running, self._enabled = True, enabled

    def finish(self) -> None:
        """Remove the torque from a running motion and stop."""
        self._enabled = False
        self._drop('the node stops')
        self._take_out('the node stops')
        self._output.wait_for_all_acked(Duration(seconds=0.5))
        if self._goals is not None:
            self._goals.stop(self._until - self._elapsed() if self.applied else 0.0)
        self._running = False

    def enable(self) -> None:
        """Add torque to later trajectories.

        :raises ControlError: a fault is latched
        """
        if self.fault:
            text = f'additive torque is held at zero by a fault: {self.fault}'
            raise ControlError(text, fault='fault_latched')
        if not self._enabled:
            self._states.restart(time.monotonic())  # a ramp may still be running
        self._enabled = True

    def disable(self) -> None:
        """Add no more torque, and ramp out the torque of a running trajectory.

        :raises ControlError: this torque stays, because the robot does not follow the trajectory
        """
        self._enabled = False
        if problem := self._take_out('disabled'):
            raise ControlError(problem)

    def _take_out(self, why: str) -> str:
        """Send the remainder of the motion without torque; return '' or why this is impossible."""
        self._outbox.prepare_again()  # without torque
        plan, planner, now = self._plan, self._planner, self._elapsed()
        if plan is None or planner is None or now + TRANSPORT[0] >= self._until:
            return ''
        problem = astray(plan, self._states, start=self._start / NANOSECONDS, now=now)
        if problem:
            problem = f'the torque stays until the trajectory ends ({why}): {problem}'
            self._node.get_logger().error(problem)
            return problem
        arrival = plan.arrival(now)
        # A trajectory without stamp started some ms after it was sent: the past would be a jump.
        faded = plan.faded(arrival, planner.settings, sent=now if self._stamped else arrival)
        message = serialised(faded, self._start, self._effort)
        self._send(faded, self._start, self._publish, message)
        return ''

    def _on_left(self, reason: str) -> None:
        """Forget the plan, because the controller executes another command."""
        self._drop(f'while it was planned, {reason}')
        if self._plan is not None and self._elapsed() < self._until:
            self._node.get_logger().warning(
                f'the trajectory that was sent last, and its torque, is over: {reason}'
            )
        self._plan = None

    @property
    def enabled(self) -> bool:
        """True if model torque is added to trajectories."""
        return self._enabled

    @property
    def running(self) -> bool:
        """True if the node is active."""
        return self._running

    @property
    def busy(self) -> bool:
        """True if a goal of the action has not ended."""
        return self._goals is not None and self._goals.busy

    def restore(self) -> None:
        """Return to the plan before the last one, which the controller does not execute."""
        self._outbox.prepare_again()
        self._plan, self._until, self._start, self._stamped = self._before

    def goal_accepted(self) -> None:
        """Remove the torque if it was disabled while the goal was sent."""
        if not self._enabled:
            self._take_out('disabled')

    def set_scale(self, scale: float) -> None:
        """Change the share of the model torque for later trajectories."""
        if self._planner is not None:
            self._planner.scale = scale
            self._outbox.prepare_again()

    def set_values(self, values: Array) -> None:
        """Set other parameter values, shape (p,), for later trajectories."""
        if self._planner is not None:
            self._outbox.change(partial(self._planner.torque.set_values, values))

    def reset(self) -> str:
        """Clear the fault; return what was done."""
        fault, self.fault = self.fault, NO_FAULT
        return f'cleared: {fault}' if fault else 'there was no fault'

    @property
    def warning(self) -> str:
        """Problem that is not a fault, or ''."""
        return self.refusal

    def details(self) -> dict[str, object]:
        """Return the values for diagnostics."""
        plan = self._plan
        running = plan is not None and self._elapsed() < plan.time[-1]
        state = 'trajectory running' if running else 'waiting for a trajectory'
        return {'state': state, 'refused': self.refused, 'last_refusal': self.refusal}

    def _now(self) -> int:
        nanoseconds: int = self._node.get_clock().now().nanoseconds
        return nanoseconds

    def _elapsed(self, now: int | None = None) -> float:
        """Return the time in the running plan, in [s], now or at a ROS time in [ns]."""
        return ((self._now() if now is None else now) - self._start) / NANOSECONDS

    def _on_trajectory(self, serialised: bytes) -> None:
        if not self._running:  # it may stop the robot
            self._node.refusals.say('not active: a trajectory passes without torque')
            passed, problem = self._passing.passed(serialised)
            if problem:
                self._node.refusals.say(problem)
            self._publish(passed)
            self._plan = None
        else:
            self.put(Arrived(serialised, self._publish, self.refuse_trajectory))

    def withdraw(self, arrived: Arrived) -> None:
        """Do not send a trajectory, if it was not sent yet."""
        self._outbox.remove(arrived)

    def put(self, arrived: Arrived) -> None:
        """Plan a trajectory after those that arrived before it, then send it.

        One without points stops the robot: it is sent now, and those that wait are not.
        """
        if is_empty(arrived.serialised):
            self._drop('a trajectory without points, which stops the robot, came after it')
            arrived.send(with_valid_stamp(arrived.serialised))
        elif dropped := self._outbox.put(arrived):
            dropped.refuse('newer ones came before it could be planned')

    def _prepared(self, arrived: Arrived) -> Send:
        """Plan a trajectory in the thread of the outbox; return the function that sends it.

        Whoever changes what this reads lets the outbox prepare again.
        """
        stamp, points = read_trajectory(arrived.serialised)
        if points is None:
            return partial(arrived.send, arrived.serialised)
        if self._planner is None:
            raise ControlError('there is no model yet', fault='no_model')
        planner, running = self._planner, (self._plan, self._start)
        plan, problem = planner.checked(points, stamp, self._now(), running, enabled=self._enabled)
        few = thinned(plan, self._node, self.topic, planner.settings.ramp_down_time)
        message = serialised(few, stamp, self._effort)
        return partial(self._send, few, stamp, arrived.send, message, problem)

    def refuse_trajectory(self, why: str) -> None:
        """Count and log a trajectory that is not sent."""
        self._refuse(f'trajectory refused: {why}')
        self._node.refusals.say(self.refusal)

    def _drop(self, why: str) -> None:
        """Refuse the waiting trajectories."""
        for arrived in self._outbox.drop():
            arrived.refuse(why)

    def _publish(self, serialised: bytes) -> None:
        self._controller.sent(serialised)
        self._output.publish(serialised)

    def _send(
        self,
        plan: TorquePlan,
        stamp: int,
        send: Callable[[bytes], None],
        message: bytes,
        problem: str = '',
    ) -> None:
        """Send a plan as its message; say why it has no model torque, if there is a problem."""
        if problem:
            self._node.refusals.say(problem)
        send(message)
        if not self.applied:
            self._states.restart(time.monotonic())
        self._before = self._plan, self._until, self._start, self._stamped
        self._start, self._stamped = stamp or self._now(), bool(stamp)
        self._plan, self._until = plan, plan.end_of_effort

    def trip(self, fault: Fault) -> None:
        """Latch a fault and remove the torque, unless a fault is latched already."""
        if self.fault:
            return
        self.fault = fault
        self._enabled = False
        if not self._take_out(fault):
            self._node.get_logger().error(f'additive torque ramped to zero: {fault}')

    def _on_timer(self) -> None:
        """Latch a fault if joint states are missing while torque is applied."""
        self.target.tick()
        if self._enabled and self.applied and (silence := self._silence()):
            self.trip(silence)

    @property
    def applied(self) -> bool:
        """True if the running trajectory has effort from now on, of the model or the sender."""
        return self._plan is not None and self._running and self._elapsed() < self._until

    def _on_feedback(self, serialised: bytes) -> None:
        if not self._running:
            return
        usable = self._state.read(serialised)
        clock, plan = self._state.feedback.clock, self._plan
        at = self._elapsed(clock[0] * NANOSECONDS + clock[1])
        wanted = None if plan is None or not self.applied else plan.position[plan.row(at)]
        problem = self._feedback_problem(usable, wanted)
        if problem and self._enabled:
            self.trip(problem)
        requested = applied = self._zero
        if self._plan is not None:
            applied, requested = self._plan.effort_at(at), self._plan.requested_at(at)
        self._state.publish(clock, requested, applied, self._enabled, self.fault)
