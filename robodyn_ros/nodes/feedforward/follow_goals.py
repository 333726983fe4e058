# SPDX-License-Identifier: Apache-2.0
"""Action follow_joint_trajectory of the feed-forward: goals that pass with additive torque.

A goal is sent on to the action of the joint_trajectory_controller (JTC). Only the points of its
trajectory are replaced. Feedback, result, cancel and tolerances are those of the controller.
"""

from __future__ import annotations

import time
import uuid
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

from robodyn_ros.control.feedforward.trajectory_state import Arrived
from robodyn_ros.nodes.base.clock import LOOK, now, start_real_timer, start_timer
from robodyn_ros.nodes.feedforward.trajectories import Trajectories
from robodyn_ros.nodes.robot.controller_facts import INTERVAL, PATIENCE

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:  # not installed: goals have to go to the controller itself
    FollowJointTrajectory = None

ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


def offer_goals(node: LifecycleNode, trajectories: Trajectories) -> FollowGoals | None:
    """Offer the action; without the package control_msgs, log that it is missing."""
    if FollowJointTrajectory is not None:
        return FollowGoals(node, trajectories)
    node.get_logger().info(
        'the action ~/follow_joint_trajectory is not offered: the package control_msgs is not '
        'installed (sudo apt install ros-$ROS_DISTRO-control-msgs)'
    )
    return None


class FollowGoals:
    """Action server for clients, and action client of the controller.

    A goal that cannot be sent ends aborted with INVALID_GOAL and a sentence, because a rejection
    has no text. A goal whose controller has ended or does not answer ends aborted too.
    """

    def __init__(self, node: LifecycleNode, trajectories: Trajectories) -> None:
        """Offer the action."""
        self.node, self.trajectories, self.watch = node, trajectories, trajectories.watch
        self.watch.deactivated = self._on_deactivated
        self.controller = trajectories.topic.rsplit('/', 1)[0]
        self.goals: list[PassedGoal] = []
        self._last_end = -float('inf')
        group = ReentrantCallbackGroup()  # an active goal must not keep others waiting
        name = f'{self.controller}/follow_joint_trajectory'
        self._status_topic = f'{name}/_action/status'
        self.client = ActionClient(node, FollowJointTrajectory, name, callback_group=group)
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            '~/follow_joint_trajectory',
            self._execute,
            cancel_callback=self._on_cancel,
            callback_group=group,
        )
        start_timer(node, INTERVAL, self._watch)

    async def _execute(self, handle: Any) -> Any:
        """Pass a goal on, and wait for its end."""
        goal = PassedGoal(self, handle)
        self.goals.append(goal)
        try:
            goal.begin()
            status, result = await goal.ended
        finally:
            self.goals.remove(goal)
            self._last_end = time.monotonic()
        if status == GoalStatus.STATUS_SUCCEEDED:
            handle.succeed()
        elif status == GoalStatus.STATUS_CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Cancel a goal at the controller, whose result ends it."""
        for goal in self.goals:
            if goal.handle.goal_id == handle.goal_id:
                goal.cancel()
        return CancelResponse.ACCEPT

    def stop(self, ramp: float) -> None:
        """Cancel all goals at the controller and end them, after the ramp of the torque.

        They end in real time too, at the latest after `PATIENCE`: a simulation may be paused.

        :param ramp: time until the torque is zero, in [s]
        """
        goals, begin, real = list(self.goals), now(self.node), time.monotonic()
        if not goals:
            return

        def look() -> None:
            if now(self.node) < begin + ramp and time.monotonic() < real + PATIENCE:
                return
            timer.cancel()
            for goal in goals:
                goal.cancel()
                goal.fail('the feed-forward was deactivated, so the goal was cancelled')

        timer = start_real_timer(self.node, LOOK, look)

    @property
    def busy(self) -> bool:
        """True if a client may still wait for the end of a goal."""
        # rclpy sends a result some callbacks after the end of its goal
        return bool(self.goals) or time.monotonic() - self._last_end < 0.2

    def _on_deactivated(self) -> None:
        """Expect the results of the goals soon: the controller is not active any more."""
        for goal in self.goals:
            goal.expect_end()

    def servers(self) -> set[bytes]:
        """Return the identities of the action servers of the controller."""
        publishers = self.node.get_publishers_info_by_topic(self._status_topic)
        return {bytes(info.endpoint_gid) for info in publishers}

    def _watch(self) -> None:
        if not self.goals:
            return
        servers, clock = self.servers(), now(self.node)
        for goal in list(self.goals):
            goal.watch(servers, clock)


class PassedGoal:
    """One goal, from its arrival to its end.

    :ivar ended: future with the status of `GoalStatus` and the result
    """

    def __init__(self, goals: FollowGoals, handle: Any) -> None:
        """Start with a goal that the action server has accepted."""
        self.handle = handle
        self.ended: Future = Future()
        self._goals = goals
        self._arrived: Arrived | None = None
        self._at_controller: Any = None
        self._cancelled = False
        self._servers: set[bytes] = set()
        self._deadline = float('inf')

    def begin(self) -> None:
        """Let its trajectory be planned, or refuse it."""
        goals, trajectory = self._goals, self.handle.request.trajectory
        if not goals.trajectories.running:
            self.refuse(
                f'{goals.node.get_name()} is not active: activate it, or send the goal to '
                f'{goals.controller}/follow_joint_trajectory, without torque'
            )
        elif not goals.client.server_is_ready():
            self.refuse(
                f'{goals.controller} does not offer the action follow_joint_trajectory: is it '
                f'running?'
            )
        elif not trajectory.points:
            self.refuse('its trajectory has no points')
        else:
            data = bytes(serialize_message(trajectory))
            self._arrived = Arrived(data, self._send, self.refuse)
            goals.trajectories.put(self._arrived)

    def refuse(self, why: str) -> None:
        """End it without a trajectory to the controller."""
        self._goals.trajectories.refuse(why)
        self.fail(f'goal refused: {why}')

    def fail(self, why: str) -> None:
        """End it as aborted with a sentence."""
        result = FollowJointTrajectory.Result(error_string=why)
        result.error_code = FollowJointTrajectory.Result.INVALID_GOAL
        self._end(GoalStatus.STATUS_ABORTED, result)

    def _end(self, status: int, result: Any) -> None:
        if not self.ended.done():
            self.ended.set_result((status, result))

    def cancel(self) -> None:
        """Cancel it at the controller; if it was not sent yet, it ends here."""
        self._cancelled = True
        if self._at_controller is not None:
            self._at_controller.cancel_goal_async()
        elif self._arrived is not None and not self._servers:
            self._goals.trajectories.withdraw(self._arrived)
            result = FollowJointTrajectory.Result(error_string='cancelled before it was sent')
            self._end(GoalStatus.STATUS_CANCELED, result)

    def expect_end(self) -> None:
        """Wait for its end no longer than for an answer."""
        self._deadline = min(self._deadline, now(self._goals.node) + PATIENCE)

    def watch(self, servers: set[bytes], clock: float) -> None:
        """End it if its controller is not there any more, or does not answer; `clock` in [s]."""
        if not self._servers:  # it waits for its torque
            return
        name = self._goals.controller
        if not self._servers & servers:
            self.fail(f'{name} has ended or was started again: whether the robot moves is unknown')
        if self._at_controller is not None and self._at_controller.status in ENDED:
            self.expect_end()
        if clock > self._deadline:
            self.fail(f'{name} did not answer within {PATIENCE:g} s: the robot may still move')
            self.cancel()

    def _send(self, serialised: bytes) -> None:
        """Send the goal with this trajectory to the controller."""
        goals, wanted = self._goals, self.handle.request
        goal = FollowJointTrajectory.Goal()
        for name in goal.get_fields_and_field_types():
            setattr(goal, name, getattr(wanted, name))
        goal.trajectory = deserialize_message(serialised, JointTrajectory)
        goal.trajectory.header = wanted.trajectory.header
        number = uuid.uuid4().bytes
        goals.watch.goal_sent(number)
        self._servers = goals.servers()
        self.expect_end()
        future = goals.client.send_goal_async(
            goal, feedback_callback=self._on_feedback, goal_uuid=UUID(uuid=list(number))
        )
        future.add_done_callback(partial(self._on_answer, number))

    def _on_feedback(self, message: Any) -> None:
        if self.handle.is_active:
            self.handle.publish_feedback(message.feedback)

    def _on_answer(self, number: bytes, future: Any) -> None:
        """Take the answer of the controller to the goal."""
        self._deadline = float('inf')
        answer = future.result()
        if not answer.accepted:
            if self._goals.watch.goal_rejected(number):
                self._goals.trajectories.restore()
            self.fail(f'{self._goals.controller} rejected the goal: its log says why')
            return
        self._at_controller = answer
        self._goals.trajectories.accept()
        if self._cancelled or self.ended.done():
            answer.cancel_goal_async()
        answer.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        answer = future.result()
        self._end(answer.status, answer.result)
