# SPDX-License-Identifier: Apache-2.0
"""Action follow_joint_trajectory of a joint_trajectory_controller, whose goals end as told."""

from __future__ import annotations

import contextlib
import gc

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException
from rclpy.task import Future

NAME = 'joint_trajectory_controller/follow_joint_trajectory'
Result = FollowJointTrajectory.Result


class FakeJtc:
    """As ros2_controllers 4.42: a new goal cancels the running one, a goal may be rejected."""

    def __init__(self, node) -> None:
        """Offer the action; `goals` are all that were accepted, `cancels` counts cancels."""
        self.goals, self.cancels, self.rejects = [], 0, False
        self._ends: list[Future] = []
        self._server = ActionServer(
            node, FollowJointTrajectory, NAME, self._execute, goal_callback=self._on_goal,
            cancel_callback=self._on_cancel, callback_group=ReentrantCallbackGroup(),
        )  # fmt: skip

    def _on_goal(self, goal):
        if self.rejects:
            return GoalResponse.REJECT
        self.end('abort', Result.INVALID_GOAL, 'Current goal preempted by new incoming action.')
        return GoalResponse.ACCEPT

    def _on_cancel(self, handle):
        self.cancels += 1
        self.end('canceled', Result.SUCCESSFUL, 'cancelled')
        return CancelResponse.ACCEPT

    async def _execute(self, handle):
        self.goals.append(handle)
        self._ends.append(Future())
        word, code, text = await self._ends[-1]
        getattr(handle, word)()
        return Result(error_code=code, error_string=text)

    def end(self, word, code=0, text='') -> None:
        """End the running goal by a method of its handle: succeed, abort or canceled."""
        if self._ends and not self._ends[-1].done():
            self._ends[-1].set_result((word, code, text))

    def feedback(self, position) -> None:
        message = FollowJointTrajectory.Feedback(joint_names=list(self.goals[-1].request
                                                 .trajectory.joint_names))  # fmt: skip
        message.actual.positions = position
        self.goals[-1].publish_feedback(message)

    def leave(self) -> None:
        """Offer the action no more."""
        self.goals.clear()  # handles of goals keep the server in being
        self._server.destroy()
        gc.collect()


def main() -> None:
    """Be a controller that accepts goals and never ends them, until a signal."""
    rclpy.init()
    node = rclpy.create_node('controller')
    FakeJtc(node)
    with contextlib.suppress(ExternalShutdownException):
        rclpy.spin(node)


if __name__ == '__main__':
    main()
