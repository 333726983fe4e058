"""Trajectory mode of the feed-forward: trajectories in, the same with effort out."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.additive_torque import FeedforwardSettings
from robodyn_ros.control.feedforward.path_check import astray
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.feedforward.trajectory_effort import TorquePlan, trajectory_effort
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.control.torque_limits import PlannedTorque
from robodyn_ros.errors import ControlError, MotionError, RobodynError
from robodyn_ros.excitation.motions.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.nodes.base.best_effort import check_points, parts
from robodyn_ros.nodes.base.common import MONITOR_QOS, steady_timer
from robodyn_ros.nodes.base.ordered_queue import Outbox, Send
from robodyn_ros.nodes.feedforward.controller_watch import ControllerWatch
from robodyn_ros.nodes.feedforward.target_watch import TargetWatch
from robodyn_ros.nodes.feedforward.torque_state import TorqueStateOut
from robodyn_ros.nodes.feedforward.trajectory_passing import Passing
from robodyn_ros.nodes.robot.torque_watch import SILENCE, TorqueWatch
from robodyn_ros.nodes.robot.trajectory_message import read_trajectory
from robodyn_ros.wire.cursor import NANOSECONDS
from robodyn_ros.wire.trajectory import write_trajectory

Array = NDArray[np.float64]
ALLOWANCE = (0.02, 30e-6)
"""Time from the arrival of a trajectory to its effect: in all and per point sent, in [s]."""


class TrajectoryMode:
    """Adds torque to every trajectory on its way to the joint_trajectory_controller.

    A trajectory is resampled at the servo period from its first point on; the way to the first
    point is left to the controller. It is sent on whole or, when it has no valid torque, not at
    all: the robot then goes on with what it was doing. An empty trajectory passes through (a JTC
    refuses it), and while the node is inactive all of them do, without torque. When the torque
    has to go while a motion runs, the rest of the motion is sent again with effort that ramps to
    zero; not so if the controller was told something else meanwhile, or the robot is somewhere
    else: a robot that was stopped must not begin to move. So a trajectory is not sent, either,
    when the controller was told something else while it was planned.
    """

    def __init__(
        self,
        node: LifecycleNode,
        *,
        hold_at_end: bool,
        declaration: EffortDeclaration | None = None,
        ask: bool = False,
    ) -> None:
        """Create publisher and subscriptions.

        :param declaration: what the efforts are that trajectories leave with
        :param ask: ask for the controller's state, for TorqueState
        """
        self._node = node
        self._passing = Passing(declaration)
        self._hold = hold_at_end
        self._torque: ModelTorque | None = None
        self._settings: FeedforwardSettings | None = None
        self._effort: EffortConversion | None = None
        self._watch: TorqueWatch | None = None
        self._states: StateWatch | None = None
        self._check: PlannedTorque | None = None
        self._scale = 0.0
        self._enabled = False
        self._running = False
        self._plan: TorquePlan | None = None
        self._until = -np.inf
        self._start = 0
        self.refused = 0
        self.refusal = ''
        self.fault = ''
        # a plain publisher: an inactive node passes trajectories through, without torque
        self._output = node.create_publisher(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', 10
        )
        self._controller = ControllerWatch(node, self.topic, self._on_left)
        self.target = TargetWatch(node, self._output, ask=ask)
        self._state = TorqueStateOut(node, self.target)
        topic = '~/joint_trajectory'
        node.create_subscription(JointTrajectory, topic, self._on_trajectory, 10, raw=True)
        node.create_subscription(
            JointState, 'joint_states', self._on_feedback, MONITOR_QOS, raw=True
        )
        steady_timer(node, 0.5 * SILENCE, self._on_timer)
        self._outbox = Outbox(node, self._prepared)

    @property
    def topic(self) -> str:
        """Resolved name of the topic that trajectories go to."""
        return str(self._output.topic_name)

    def use(
        self,
        torque: ModelTorque,
        settings: FeedforwardSettings,
        effort: EffortConversion,
        states: StateWatch,
        *,
        watch: TorqueWatch | None = None,
        check: PlannedTorque | None = None,
    ) -> None:
        """Take another model and its settings.

        :param effort: what efforts mean, in feedback and in what is sent
        :param states: looks at the joint states while torque is applied
        :param watch: torque_threshold, or None
        :param check: torque_max, or None
        """
        if self._torque is None or self._torque.joints != torque.joints:
            self._plan = None  # else its torque may still be ramping out
        self._torque, self._settings = torque, settings
        self._effort, self._watch, self._check = effort, watch, check
        self._states = states
        self._passing.limit = dict(zip(settings.joints, settings.limit.tolist(), strict=True))
        self._scale = settings.feedforward_scale
        self.target.joints = torque.joints
        self._zero = np.zeros(len(torque.joints))
        self._state.prepare(torque.joints, effort)

    def begin(self, enabled: bool) -> None:
        """Start.

        :raises ControlError: torque is wanted, and a fault is latched
        """
        if enabled:
            self.enable()
        self._running, self._enabled = True, enabled

    def finish(self) -> None:
        """Take the torque out of a running motion and stop."""
        self._enabled = False
        self._drop('the node stops')
        self._take_out('the node stops')
        self._output.wait_for_all_acked(Duration(seconds=0.5))
        self._running = False

    def enable(self) -> None:
        """Add torque to the trajectories to come.

        :raises ControlError: a fault is latched
        """
        if self.fault:
            raise ControlError(f'additive torque is held at zero by a fault: {self.fault}')
        if self._states is not None and not self._enabled:  # a ramp may still be running
            self._states.restart(time.monotonic())
        self._enabled = True

    def disable(self) -> None:
        """Add no more torque, and ramp out that of a running trajectory.

        :raises ControlError: that stays, as the robot is not on its way
        """
        self._enabled = False
        if problem := self._take_out('disabled'):
            raise ControlError(problem)

    def _take_out(self, why: str) -> str:
        """Send the rest of the motion without torque; return '' or why that was not done."""
        self._outbox.prepare_again()  # without torque
        plan, settings = self._plan, self._settings
        at = self._time(self._now()) + ALLOWANCE[0]
        if plan is None or settings is None or at >= self._until:
            return ''
        start, now = self._start / NANOSECONDS, self._time(self._now())
        problem = astray(plan, self._states, start=start, now=now) if self._states else ''
        if problem:
            problem = f'the torque stays until the trajectory ends ({why}): {problem}'
            self._node.get_logger().error(problem)
            return problem
        at += ALLOWANCE[1] * max(0, len(plan.time) - plan.row(at))
        self._send(plan.faded(max(at, float(plan.time[0])), settings), self._start)
        return ''

    def _on_left(self, reason: str) -> None:
        """Forget the plan, because the controller runs something else."""
        self._drop(f'while it was planned, {reason}')
        if self._plan is not None and self._time(self._now()) < self._until:
            self._node.get_logger().warning(
                f'the trajectory that was sent last, and its torque, is over: {reason}'
            )
        self._plan = None

    @property
    def enabled(self) -> bool:
        """Return True if trajectories get model torque."""
        return self._enabled

    def set_scale(self, scale: float) -> None:
        """Change the share of the model torque for the trajectories to come."""
        self._scale = scale

    def set_values(self, values: Array) -> None:
        """Take other parameter values (p,) for the trajectories to come."""
        if self._torque is not None:
            self._torque.set_values(values)

    def reset(self) -> str:
        """Clear the fault; a refused trajectory is none, it moves nothing."""
        text = f'cleared: {self.fault}' if self.fault else 'there was no fault'
        self.fault = ''
        return text

    @property
    def warning(self) -> str:
        """What is wrong, but no fault, or ''."""
        return self.refusal

    def details(self) -> dict[str, object]:
        """Return the values for diagnostics."""
        plan = self._plan
        running = plan is not None and self._time(self._now()) < plan.time[-1]
        state = 'trajectory running' if running else 'waiting for a trajectory'
        return {'state': state, 'refused': self.refused, 'last_refusal': self.refusal}

    def _now(self) -> int:
        nanoseconds: int = self._node.get_clock().now().nanoseconds
        return nanoseconds

    def _time(self, now: int) -> float:
        """Time in the running plan, in [s]."""
        return (now - self._start) / NANOSECONDS

    def _on_trajectory(self, serialised: bytes) -> None:
        if not self._running:
            # not to be lost: it may be the one that stops the robot
            self._node.get_logger().warning('not active: a trajectory passes without torque')
            passed, problem = self._passing.passed(serialised)
            if problem:
                self._node.get_logger().error(problem)
            self._publish(passed)
            self._plan = None
            return
        if self._outbox.put(serialised):
            self._refuse('newer ones came before it could be planned')

    def _prepared(self, serialised: bytes) -> Send | None:
        """Return what sends a trajectory with its torque, or None if it is refused."""
        try:
            stamp, points = read_trajectory(serialised)
            if points is None:
                return partial(self._publish, serialised)
            plan = self._checked(stamp, points)
            return partial(self._send, self._thinned(plan), stamp)
        except RobodynError as error:
            self._refuse(str(error))
            return None

    def _checked(self, stamp: int, points: TrajectoryPoints) -> TorquePlan:
        """Plan a trajectory, and hold it against torque_max and torque_threshold.

        One that replaces a running motion may be what stops it: it passes without model torque.

        :raises RobodynError: it cannot be planned, or breaks a limit and replaces nothing
        """
        plan = self._planned(stamp, points)
        try:
            self._check_torque(plan)
        except ControlError as error:
            if self._plan is None or self._time(self._now()) >= self._plan.time[-1]:
                raise
            self._node.get_logger().warning(
                f'the trajectory replaces a running one, so it passes without torque: {error}'
            )
            return self._planned(stamp, points, scale=0.0)
        return plan

    def _refuse(self, why: str) -> None:
        self.refused += 1
        self.refusal = f'trajectory refused: {why}'
        self._node.get_logger().error(self.refusal)

    def _drop(self, why: str) -> None:
        """Refuse what waits."""
        for _ in range(self._outbox.drop()):
            self._refuse(why)

    def _publish(self, serialised: bytes) -> None:
        self._controller.sent(serialised)
        self._output.publish(serialised)

    def _planned(
        self, stamp: int, points: TrajectoryPoints, scale: float | None = None
    ) -> TorquePlan:
        """Return the torque of a trajectory.

        :param scale: share of the model torque; None: as it is set

        :raises RobodynError: it cannot have one
        """
        if self._torque is None or self._settings is None:
            raise ControlError('there is no model yet')
        points = points.select(self._torque.joints)
        if scale is None:
            scale = self._scale if self._enabled else 0.0
        now = self._now()
        late = (now - stamp) / NANOSECONDS if stamp else 0.0
        if late > points.time[-1]:
            raise MotionError(f'it ended {late - points.time[-1]:.3f} s before it arrived')
        offset = float(points.time[0])
        length = (float(points.time[-1]) - offset) / self._settings.period
        begin = late + ALLOWANCE[0] + ALLOWANCE[1] * length if stamp else 0.0
        shifted = TrajectoryPoints(
            points.joints,
            points.time - offset,
            points.position,
            points.velocity,
            points.acceleration,
            points.effort,
        )
        return trajectory_effort(
            SplineTrajectory(points=shifted),
            self._torque,
            self._settings,
            scale=scale,
            initial=self._zero if self._plan is None else self._plan.effort_at(self._time(now)),
            begin=max(offset, begin),
            offset=offset,
            hold_at_end=self._hold,
        )

    def _check_torque(self, plan: TorquePlan) -> None:
        """Hold a plan against torque_max and torque_threshold.

        :raises ControlError: naming joint, time and torque; or there is no feedback to watch
        """
        if self._check is not None:
            self._check.check(plan)
        if self._watch is None or not self._enabled:
            return
        largest = plan.effort[np.abs(plan.effort).argmax(axis=0), np.arange(plan.effort.shape[1])]
        if problem := self._watch.command(largest) or self._watch.silence():
            raise ControlError(problem)

    def _thinned(self, plan: TorquePlan) -> TorquePlan:
        """As many points as arrive.

        :raises ControlError: they are too few for the motion
        """
        assert self._settings is not None
        some = min(len(plan.time), 100)
        size = len(write_trajectory(
            stamp=0, joints=plan.joints, time=plan.time[:some], fields=[plan.position[:some]] * 4
        ))  # fmt: skip
        stride = parts(self._node, self.topic, len(plan.time) * size / some)
        if stride == 1:
            return plan
        few = plan.every(stride)
        duration, longest = float(plan.time[-1]), self._settings.ramp_down_time
        check_points(duration, few.period, plan.distance_to(few), longest=longest)
        self._node.get_logger().info(
            f'{len(plan.time)} points are too large for a controller that listens best '
            f'effort: one every {1e3 * few.period:.3g} ms is sent'
        )
        return few

    def _send(self, plan: TorquePlan, stamp: int) -> None:
        effort = plan.effort if self._effort is None else self._effort.commands(plan.effort)
        fields = (plan.position, plan.velocity, plan.acceleration, effort)
        message = write_trajectory(stamp=stamp, joints=plan.joints, time=plan.time, fields=fields)
        self._publish(message)
        # A controller starts a trajectory without stamp when it arrives.
        if self._states is not None and not self.applied:
            self._states.restart(time.monotonic())
        self._start = stamp or self._now()
        self._plan, self._until = plan, plan.end_of_effort

    def trip(self, reason: str) -> None:
        """Latch a fault and take the torque out, unless one is latched already."""
        if not self.fault:
            self._trip(reason)

    def _trip(self, reason: str) -> None:
        """Latch a fault; the rest of a running motion goes on without torque."""
        self.fault = reason
        self._enabled = False
        if not self._take_out(reason):
            self._node.get_logger().error(f'additive torque ramped to zero: {reason}')

    def _on_timer(self) -> None:
        """Joint states that stay away while torque is applied are a fault."""
        self.target.tick()
        if not (self._enabled and self.applied):
            return
        silence = '' if self._watch is None else self._watch.silence()
        if not silence and self._states is not None:
            silence = self._states.silence(time.monotonic())
        if silence:
            self._trip(silence)

    @property
    def applied(self) -> bool:
        """Whether a trajectory that was sent has effort from now on, the model's or its own."""
        if self._plan is None or not self._running:
            return False
        return self._time(self._now()) < self._until

    def _on_feedback(self, serialised: bytes) -> None:
        if not self._running:
            return
        usable = self._state.read(serialised)
        clock = self._state.feedback.clock
        at = self._time(clock[0] * NANOSECONDS + clock[1])
        problem = self._state_problem(at)
        if usable and self._watch is not None:
            problem = self._watch.feedback(self._state.feedback.effort) or problem
        if problem and self._enabled:
            self._trip(problem)
        requested = applied = self._zero
        if self._plan is not None:
            applied = self._plan.effort_at(at)
            requested = self._plan.requested_at(at)
        self._state.publish(clock, requested, applied, self._enabled, self.fault)

    def _state_problem(self, at: float) -> str:
        """Hold the joint state against those before; one without positions counts as none.

        :param at: its time in the running plan, in [s]
        """
        states, plan, robot = self._states, self._plan, self._state.feedback
        if states is None or not states.timeout or plan is None or not self.applied:
            return ''
        if 'position' in robot.missing:
            return ''
        wanted = plan.position[plan.row(at)]
        velocity = None if 'velocity' in robot.missing else robot.velocity
        return states.read(time.monotonic(), robot.stamp, robot.position, wanted, velocity)
