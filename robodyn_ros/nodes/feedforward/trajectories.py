# SPDX-License-Identifier: Apache-2.0
"""Trajectories with additive torque: from their arrival to the joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.feedforward.torque_plan import TorquePlan
from robodyn_ros.control.feedforward.trajectory_state import (
    ActivePlan,
    Arrived,
    State,
    TrajectoryState,
)
from robodyn_ros.control.torque_threshold import SILENCE
from robodyn_ros.errors import ControlError, Fault, RobodynError
from robodyn_ros.long_work import Steps
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.best_effort import LARGEST
from robodyn_ros.nodes.base.clock import now, start_timer
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.feedforward.controller_watch import ControllerWatch
from robodyn_ros.nodes.feedforward.law import Law
from robodyn_ros.nodes.feedforward.torque_state import TorqueStateOut
from robodyn_ros.nodes.robot.trajectory_message import (
    read_trajectory,
    with_valid_stamp,
    without_effort,
)
from robodyn_ros.wire.cursor import NANOSECONDS
from robodyn_ros.wire.trajectory import is_empty, message_size, write_trajectory

STEP = 1e-3
"""Time between two steps of planning, in [s]: messages are read between them."""


class Trajectories:
    """Additive torque for the trajectories of `~/joint_trajectory` and of goals.

    - A trajectory is resampled at the servo period from its first point on; the controller plans
      the motion to the first point.
    - A trajectory without valid torque is not sent: the robot continues its present motion.
    - It is planned in steps, and sent one step later: all messages that had arrived are read
      before, because one of them may be a stop.
    - An empty trajectory passes through (a JTC refuses it). While the node is inactive, all
      trajectories pass through without effort.
    - If the torque must be removed during a motion, the remainder of the motion is sent again
      with effort that ramps to zero.
    - Nothing is sent if the controller has received another command meanwhile, or the robot does
      not follow the motion: a robot that was stopped must not start to move.

    :ivar machine: waiting trajectories, the executed one, and whether torque is added
    :ivar refused: number of refused trajectories
    :ivar refusal: reason of the last refusal, or ''
    """

    def __init__(
        self, node: LifecycleNode, controller: str = '', *, state_rate: float = 0.0
    ) -> None:
        """Create publishers and subscriptions.

        :param controller: name of the controller; '': joint_trajectory_controller
        :param state_rate: how often TorqueState is published, in [Hz]; 0: for each joint state
        """
        self._node = node
        topic = f'{controller or "joint_trajectory_controller"}/joint_trajectory'
        # Not a lifecycle publisher: an inactive node passes trajectories on.
        self._output = node.create_publisher(JointTrajectory, topic, 10)
        self.watch = ControllerWatch(node, self.topic, self._on_left)
        self._torque_state = TorqueStateOut(node, state_rate)
        self._law: Law | None = None
        self.machine = TrajectoryState()
        self._work: Steps[Callable[[], None]] | None = None  # None: planning begins anew
        self.running = False
        self.refused = 0
        self.refusal = ''
        node.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10, raw=True
        )
        node.create_subscription(
            JointState, 'joint_states', self._on_joint_states, MONITOR_QOS, raw=True
        )
        start_timer(node, 0.5 * SILENCE, self._on_timer)
        self._timer = start_timer(node, STEP, self.step)
        self._timer.cancel()

    @property
    def topic(self) -> str:
        """Resolved name of the topic of the controller."""
        return str(self._output.topic_name)

    @property
    def state(self) -> State:
        """State of the additive torque."""
        return self.machine.state(self._now())

    @property
    def remaining(self) -> float:
        """Time until the torque of the running motion is zero, in [s]; below 0: it is zero."""
        return self.machine.remaining(self._now())

    def use(self, law: Law, delay: int) -> None:
        """Set another model, settings and watches.

        :param delay: from a command to its effect, in cycles
        """
        joints = law.planner.torque.joints
        if self._law is None or self._law.planner.torque.joints != joints:
            self.machine.leave()  # otherwise its torque may still be ramped out
        self._law = law
        law.states.restart(now(self._node))
        self._torque_state.prepare(joints, law.effort, delay)
        self._work = None

    def begin(self, enabled: bool) -> None:
        """Start.

        :raises ControlError: torque is wanted, and a fault is latched
        """
        if enabled:
            self.machine.enable()
        self.running = True

    def finish(self) -> None:
        """Remove the torque from a running motion and stop."""
        self.machine.enabled = False
        self._drop('the node stops')
        self._take_out('the node stops')
        self._output.wait_for_all_acked(Duration(seconds=0.5))
        self.running = False

    def disable(self) -> None:
        """Add no more torque, and ramp out the torque of a running trajectory.

        :raises ControlError: this torque stays, because the robot does not follow the trajectory
        """
        self.machine.enabled = False
        if problem := self._take_out('disabled'):
            raise ControlError(problem)

    def trip(self, fault: Fault) -> None:
        """Latch a fault and remove the torque, unless a fault is latched already."""
        if self.machine.fault:
            return
        self.machine.trip(fault)
        if not self._take_out(fault):
            self._node.get_logger().error(f'additive torque ramped to zero: {fault}')

    def set_scale(self, scale: float) -> None:
        """Change the share of the model torque for later trajectories."""
        if self._law is not None:
            self._law.planner.scale = scale
            self._work = None

    def set_values(self, values: Array) -> None:
        """Set other parameter values, shape (p,), for later trajectories.

        :raises ControlError: values that cannot be used
        """
        if self._law is not None:
            self._law.planner.torque.set_values(values)
            self._work = None

    def put(self, arrived: Arrived) -> None:
        """Plan a trajectory after those that arrived before it, then send it.

        One without points stops the robot: it is sent now, and those that wait are not.
        """
        if is_empty(arrived.serialised):
            self._drop('a trajectory without points, which stops the robot, came after it')
            arrived.send(with_valid_stamp(arrived.serialised))
            return
        if dropped := self.machine.arrive(arrived):
            dropped.refuse('newer ones came before it could be planned')
            self._work = None
        self._timer.reset()

    def withdraw(self, arrived: Arrived) -> None:
        """Do not send a trajectory, if it was not sent yet."""
        if arrived in self.machine.waiting:
            self.machine.waiting.remove(arrived)
            self._work = None

    def step(self) -> None:
        """Do one step of planning the first waiting trajectory, or send it."""
        if not self.machine.waiting:
            self._timer.cancel()
            return
        arrived = self.machine.waiting[0]
        if self._work is None:
            self._work = self._plan(arrived)
        try:
            next(self._work)
            return
        except StopIteration as end:
            act: Callable[[], None] = end.value
        except RobodynError as error:
            act = partial(arrived.refuse, str(error))
        except Exception:
            self.machine.waiting.popleft()
            self._work = None
            raise
        self.machine.waiting.popleft()
        self._work = None
        act()

    def refuse(self, why: str) -> None:
        """Count and log a trajectory that is not sent."""
        self.refused += 1
        self.refusal = f'trajectory refused: {why}'
        self._node.refusals.say(self.refusal)

    def restore(self) -> None:
        """Return to the plan before the last one, which the controller rejected."""
        self.machine.restore()
        self._work = None

    def accept(self) -> None:
        """Remove the torque if it was disabled while the last goal was sent."""
        if not self.machine.enabled:
            self._take_out('disabled')

    def _now(self) -> int:
        nanoseconds: int = self._node.get_clock().now().nanoseconds
        return nanoseconds

    def _drop(self, why: str) -> None:
        """Refuse the waiting trajectories."""
        self._work = None
        for arrived in self.machine.drop():
            arrived.refuse(why)

    def _on_trajectory(self, serialised: bytes) -> None:
        if self.running:
            self.put(Arrived(serialised, self._publish, self.refuse))
            return
        self._node.refusals.say('not active: a trajectory passes without effort')
        self._publish(without_effort(serialised))  # it may stop the robot
        self.machine.leave()

    def _plan(self, arrived: Arrived) -> Steps[Callable[[], None]]:
        """Plan a trajectory; return the function that sends it."""
        stamp, points = read_trajectory(arrived.serialised)
        if self._law is None or points is None:
            raise ControlError('there is no model yet', fault='no_model')
        planner, clock = self._law.planner, self._now()
        initial, _ = self.machine.effort(clock, len(planner.torque.joints))
        plan, problem = yield from planner.plan(
            points, late=(clock - stamp) / NANOSECONDS if stamp else None,
            initial=initial, replaces=self.machine.moving(clock), enabled=self.machine.enabled,
        )  # fmt: skip
        size = message_size(plan.joints, len(plan.time))
        if size > LARGEST:
            plan = yield from self._law.thin(plan, size, self._node, self.topic)
        message = self._serialise(plan, stamp)
        yield
        return partial(self._send, plan, stamp, arrived.send, message, problem)

    def _serialise(self, plan: TorquePlan, stamp: int) -> bytes:
        """Serialise a plan as a JointTrajectory message with this header stamp, in [ns]."""
        assert self._law is not None
        effort = self._law.effort.commands(plan.effort)
        fields = (plan.position, plan.velocity, plan.acceleration, effort)
        return write_trajectory(stamp=stamp, joints=plan.joints, time=plan.time, fields=fields)

    def _send(
        self,
        plan: TorquePlan,
        stamp: int,
        send: Callable[[bytes], None],
        message: bytes,
        problem: str,
    ) -> None:
        """Send a plan as its message; say why it has no model torque, if there is a problem.

        The torque of the motion before has changed while the plan was computed.
        """
        if problem:
            self._node.refusals.say(problem)
        assert self._law is not None
        clock = self._now()
        present, _ = self.machine.effort(clock, len(plan.joints))
        at = plan.arrival((clock - stamp) / NANOSECONDS) if stamp else plan.time[0]
        joined = plan.join(present, at, self._law.planner.settings)
        send(message if joined is plan else self._serialise(joined, stamp))
        self.machine.start(ActivePlan(joined, stamp or self._now(), bool(stamp)))

    def _publish(self, serialised: bytes) -> None:
        self.watch.note_sent(serialised)
        self._output.publish(serialised)

    def _take_out(self, why: str) -> str:
        """Send the remainder of the motion without torque; return '' or why this is impossible."""
        self._work = None  # without torque
        if self._law is None:
            return ''
        try:
            settings = self._law.planner.settings
            stop = self.machine.stop(self._now(), settings, self._law.states)
        except ControlError as error:
            problem = f'the torque stays until the trajectory ends ({why}): {error}'
            self._node.get_logger().error(problem)
            return problem
        if stop is not None:
            self._publish(self._serialise(stop.plan, stop.start))
            self.machine.start(stop)
        return ''

    def _on_left(self, reason: str) -> None:
        """Forget the plan, because the controller executes another command."""
        self._drop(f'while it was planned, {reason}')
        if self.machine.moving(self._now()):
            self._node.get_logger().warning(
                f'the trajectory that was sent last, and its torque, is over: {reason}'
            )
        self.machine.leave()

    def _on_timer(self) -> None:
        """Latch a fault if joint states are missing while torque is applied."""
        if self._law is None:
            return
        silence = self._law.silence(self.machine.applies(self._now()), now(self._node))
        if silence and self.machine.enabled and self.running:
            self.trip(silence)

    def _on_joint_states(self, serialised: bytes) -> None:
        if not self.running or self._law is None:
            return
        clock, robot = now(self._node), self._torque_state.feedback
        has_effort = self._torque_state.read(serialised, clock)
        at = robot.clock[0] * NANOSECONDS + robot.clock[1]
        run = self.machine.execution if self.machine.applies(self._now()) else None
        problem = self._law.problem(robot, run, at=at, clock=clock, has_effort=has_effort)
        if problem and self.machine.enabled:
            self.trip(problem)
        applied, requested = self.machine.effort(at, len(robot.joints))
        self._torque_state.publish(
            robot.clock, requested, applied, self.machine.enabled, self.machine.fault
        )
