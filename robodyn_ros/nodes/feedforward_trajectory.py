"""Trajectory mode of the feed-forward: trajectories in, the same with effort out."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.effort import EffortConversion
from robodyn_ros.control.effort_declaration import EffortDeclaration, undeclared
from robodyn_ros.control.feedforward import FeedforwardSettings
from robodyn_ros.control.model_torque import ModelTorque
from robodyn_ros.control.state_watch import StateWatch
from robodyn_ros.control.torque_limits import check_planned, peak_of
from robodyn_ros.control.trajectory_effort import TorquePlan, trajectory_effort
from robodyn_ros.errors import ControlError, MotionError, RobodynError
from robodyn_ros.excitation.spline import SplineTrajectory, TrajectoryPoints
from robodyn_ros.models.interface import Joint
from robodyn_ros.nodes.common import MONITOR_QOS, steady_timer
from robodyn_ros.nodes.joint_state_bytes import JointStateBytes
from robodyn_ros.nodes.torque_state import TorqueStateOut
from robodyn_ros.nodes.torque_watch import SILENCE, TorqueWatch
from robodyn_ros.nodes.trajectory_message import read_trajectory
from robodyn_ros.nodes.trajectory_writer import NANOSECONDS, write_trajectory

Array = NDArray[np.float64]
ALLOWANCE = (0.02, 30e-6)
"""Time from the arrival of a trajectory to its effect: in all and per point sent, in [s]."""


@dataclass(frozen=True)
class PlannedTorque:
    """torque_max: what no trajectory may need.

    :param torque: of the model, gravity and all
    :param limit: shape (n,), in [Nm] or [N]
    """

    torque: ModelTorque
    limit: Array
    joints: Sequence[Joint]

    def check(self, plan: TorquePlan) -> None:
        """Refuse a plan.

        :raises ControlError: naming joint, time and torque
        """
        motion = (plan.position, plan.velocity, plan.acceleration)
        peak = peak_of(self.torque.joints, plan.time, self.torque.torque(*motion))
        check_planned(peak, self.limit, [joint.torque_unit for joint in self.joints])


class TrajectoryMode:
    """Adds torque to every trajectory on its way to the joint_trajectory_controller.

    A trajectory is resampled at the servo period from its first point on; the way to the first
    point is left to the controller. It is sent on whole or, when it has no valid torque, not at
    all: the robot then goes on with what it was doing. An empty trajectory passes through, and
    while the node is inactive all of them do, without torque. When the torque has to go while a
    motion runs, the rest of the motion is sent again with effort that ramps to zero.
    """

    def __init__(
        self,
        node: LifecycleNode,
        *,
        hold_at_end: bool,
        declaration: EffortDeclaration | None = None,
    ) -> None:
        """Create publisher and subscriptions.

        :param declaration: what the efforts are that trajectories leave with
        """
        self._node = node
        self._declaration = declaration
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
        self._start = 0
        self.refused = 0
        self.refusal = ''
        self.fault = ''
        # a plain publisher: an inactive node passes trajectories through, without torque
        self._output = node.create_publisher(
            JointTrajectory, 'joint_trajectory_controller/joint_trajectory', 10
        )
        self._state = TorqueStateOut(node)
        topic = '~/joint_trajectory'
        node.create_subscription(JointTrajectory, topic, self._on_trajectory, 10, raw=True)
        node.create_subscription(
            JointState, 'joint_states', self._on_feedback, MONITOR_QOS, raw=True
        )
        steady_timer(node, 0.5 * SILENCE, self._on_timer)

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
        self._torque, self._settings = torque, settings
        self._effort, self._watch, self._check = effort, watch, check
        self._states = states
        self._robot = JointStateBytes(torque.joints, required=('position',))
        self._scale = settings.feedforward_scale
        self._plan = None
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
        self.disable()
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
        """Add no more torque, and ramp out that of a running trajectory."""
        self._enabled = False
        plan, settings = self._plan, self._settings
        if plan is None or settings is None:
            return
        at = self._time(self._now()) + ALLOWANCE[0]
        if (at >= plan.time[-1] and not plan.effort[-1].any()) or not plan.effort.any():
            return
        at += ALLOWANCE[1] * max(0, len(plan.time) - plan.row(at))
        self._send(plan.faded(max(at, float(plan.time[0])), settings), self._start)

    def set_scale(self, scale: float) -> None:
        """Change the share of the model torque for the trajectories to come."""
        self._scale = scale

    def reset(self) -> str:
        """Clear the fault; a refused trajectory is none, it moves nothing."""
        text = f'cleared: {self.fault}' if self.fault else 'there was no fault'
        self.fault = ''
        return text

    def details(self) -> dict[str, object]:
        """What diagnostics show."""
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
            self._output.publish(self._passed(serialised))
            return
        try:
            stamp, points = read_trajectory(serialised)
            if points is None:
                self._plan = None
                self._output.publish(serialised)
                return
            plan = self._planned(stamp, points)
            self._check_torque(plan)
        except RobodynError as error:
            self.refused += 1
            self.refusal = f'trajectory refused: {error}'
            self._node.get_logger().error(self.refusal)
            return
        self._send(plan, stamp)

    def _passed(self, serialised: bytes) -> bytes | JointTrajectory:
        """A trajectory as it came, its own efforts in the unit that the drives take, or none."""
        message = deserialize_message(serialised, JointTrajectory)
        if not any(point.effort for point in message.points):
            return serialised
        try:
            efforts = self._own_efforts(message)
        except RobodynError as error:
            self._node.get_logger().error(f'the trajectory loses its effort: {error}')
            efforts = [array('d')] * len(message.points)
        for point, effort in zip(message.points, efforts, strict=True):
            point.effort = effort
        return message

    def _own_efforts(self, message: JointTrajectory) -> list[array[float]]:
        """Efforts of the points within max_torque, in the unit of commands.

        :raises RobodynError: they are not declared, or one is not a finite number per joint
        """
        if self._declaration is None:
            raise undeclared('the trajectory')
        conversion = self._declaration.for_joints(message.joint_names)
        limits: dict[str, float] = {}
        if self._settings is not None:
            limits = dict(zip(self._settings.joints, self._settings.limit, strict=True))
        limit = np.array([limits.get(name, np.inf) for name in conversion.joints])
        efforts = []
        for number, point in enumerate(message.points):
            torque = np.array(point.effort, dtype=float)
            if len(torque) not in (0, len(limit)) or not np.isfinite(torque).all():
                raise ControlError(
                    f'point {number} must have one finite effort for each of the {len(limit)} '
                    f'joints or none, got {torque.tolist()!s:.80}'
                )
            if len(torque):
                torque = conversion.command(np.clip(torque, -limit, limit))
            efforts.append(array('d', torque.tobytes()))
        return efforts

    def _planned(self, stamp: int, points: TrajectoryPoints) -> TorquePlan:
        """Torque for a trajectory.

        :raises RobodynError: it cannot have one
        """
        if self._torque is None or self._settings is None:
            raise ControlError('there is no model yet')
        points = points.select(self._torque.joints)
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
            scale=self._scale if self._enabled else 0.0,
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

    def _send(self, plan: TorquePlan, stamp: int) -> None:
        effort = plan.effort if self._effort is None else self._effort.commands(plan.effort)
        fields = (plan.position, plan.velocity, plan.acceleration, effort)
        message = write_trajectory(stamp=stamp, joints=plan.joints, time=plan.time, fields=fields)
        self._output.publish(message)
        # A controller starts a trajectory without stamp when it arrives.
        if self._states is not None and not self._applied():
            self._states.restart(time.monotonic())
        self._start = stamp or self._now()
        self._plan = plan

    def _trip(self, reason: str) -> None:
        """Latch a fault; the rest of a running motion goes on without torque."""
        self.fault = reason
        self.disable()
        self._node.get_logger().error(f'additive torque ramped to zero: {reason}')

    def _on_timer(self) -> None:
        """Joint states that stay away while torque is applied are a fault."""
        if not self._applied():
            return
        silence = '' if self._watch is None else self._watch.silence()
        if not silence and self._states is not None:
            silence = self._states.silence(time.monotonic())
        if silence:
            self._trip(silence)

    def _applied(self) -> bool:
        """Whether a trajectory that was sent has torque from now on."""
        plan = self._plan
        if plan is None or not (self._running and self._enabled):
            return False
        return bool(plan.effort[plan.row(self._time(self._now())) :].any())

    def _on_feedback(self, serialised: bytes) -> None:
        if not self._running:
            return
        usable = self._state.read(serialised)
        clock = self._state.feedback.clock
        at = self._time(clock[0] * NANOSECONDS + clock[1])
        problem = self._state_problem(serialised, at)
        if usable and self._watch is not None:
            problem = self._watch.feedback(self._state.feedback.effort) or problem
        if problem and self._enabled:
            self._trip(problem)
        requested = applied = self._zero
        if self._plan is not None:
            applied = self._plan.effort_at(at)
            requested = self._plan.requested_at(at)
        self._state.publish(clock, requested, applied, self._enabled, self.fault)

    def _state_problem(self, serialised: bytes, at: float) -> str:
        """Hold a joint state against those before; one that cannot be used counts as none.

        :param at: its time in the running plan, in [s]
        """
        states, plan, robot = self._states, self._plan, self._robot
        if states is None or not states.timeout or plan is None or not self._applied():
            return ''
        if robot.read_bytes(serialised):
            return ''
        wanted = plan.position[plan.row(at)]
        return states.read(time.monotonic(), robot.stamp, robot.position, wanted)
