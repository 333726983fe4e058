# SPDX-License-Identifier: Apache-2.0
"""Detection that a joint_trajectory_controller executes something else than the last trajectory.

The sender of a trajectory is not notified when the controller leaves it: for a trajectory of
another sender, for a goal of its action, or because it is deactivated. All three are visible on
topics of every joint_trajectory_controller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

from action_msgs.msg import GoalStatus, GoalStatusArray
from lifecycle_msgs.msg import State, TransitionEvent
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import qos_profile_action_status_default
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory

from robodyn_ros.control.torque_threshold import SILENCE
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.refusals import shorten_sentence

RUNNING = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
STOPPED = (GoalStatus.STATUS_CANCELING, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
ACTIVATED = (
    State.PRIMARY_STATE_ACTIVE,
    State.TRANSITION_STATE_ACTIVATING,
    State.TRANSITION_STATE_CONFIGURING,
)
"""Goal states of a controller that is active or is being activated."""
ON_THE_WAY = 32
"""Largest number of sent trajectories that were not received back; usually there are few."""


class ControllerWatch:
    """Callback with the reason if the controller leaves the last trajectory of this node.

    Commands to the controller from before this trajectory that are read later are ignored: the
    controller executes the last command.

    :ivar deactivated: called when the controller is not active any more
    """

    def __init__(self, node: LifecycleNode, topic: str, left: Callable[[str], None]) -> None:
        """Subscribe.

        :param topic: resolved name of the trajectory topic, in the namespace of the controller
        """
        self._topic = topic
        self._name = topic.rsplit('/', 1)[0]
        self._left = left
        self._node = node
        self._sent: deque[tuple[int, float]] = deque(maxlen=ON_THE_WAY)
        self._last_sent = 0
        self._goals: dict[bytes, int] = {}
        self._sent_goals: deque[bytes] = deque(maxlen=100)  # far more than run at once
        self._goal_is_last = False
        self.deactivated: Callable[[], None] = lambda: None
        node.create_subscription(JointTrajectory, topic, self._on_trajectory, 10, raw=True)
        node.create_subscription(
            GoalStatusArray,
            f'{self._name}/follow_joint_trajectory/_action/status',
            self._on_status,
            qos_profile_action_status_default,
        )
        node.create_subscription(
            TransitionEvent, f'{self._name}/transition_event', self._on_transition, 10
        )

    def note_sent(self, serialised: bytes) -> None:
        """Register a trajectory that this node is about to publish; it will be received here."""
        self._sent.append((hash(serialised), now(self._node)))
        self._goal_is_last = False
        self._last_sent = self._node.get_clock().now().nanoseconds

    def goal_sent(self, number: bytes) -> None:
        """Register a goal that this node is about to send to the action of the controller."""
        self._sent_goals.append(number)
        self._goal_is_last = True
        self._last_sent = self._node.get_clock().now().nanoseconds

    def goal_rejected(self, number: bytes) -> bool:
        """Forget a goal that was not accepted; return True if nothing was sent after it."""
        last = self._goal_is_last and bool(self._sent_goals) and self._sent_goals[-1] == number
        with suppress(ValueError):
            self._sent_goals.remove(number)
        return last

    def _on_trajectory(self, serialised: bytes) -> None:
        if self._foreign(serialised):
            self._left(f'a trajectory came from another node, on {self._topic}')

    def _foreign(self, serialised: bytes) -> bool:
        """Return True if a trajectory is from another node and came after all of this node's.

        A busy node reads messages of others late, perhaps after it has published. A message that
        is read before the node's message was received back had arrived before it.
        """
        hashes = [number for number, _ in self._sent]
        if (number := hash(serialised)) in hashes:
            for _ in range(hashes.index(number) + 1):  # earlier ones were lost
                self._sent.popleft()
            return False
        return not self._sent or now(self._node) - self._sent[-1][1] > SILENCE

    def _on_status(self, message: GoalStatusArray) -> None:
        """Treat a new goal as one that takes over the controller.

        An earlier goal continues in addition to a trajectory: it succeeds with that trajectory,
        and the controller stops immediately if the goal is cancelled or fails.
        """
        before = self._goals
        self._goals = {}
        for item in message.status_list:
            name = item.goal_info.goal_id.uuid.tobytes()
            self._goals[name] = item.status
            if name in self._sent_goals:
                if name != self._sent_goals[-1]:  # replaced by a later goal of this node
                    continue
            elif name not in before and not self._is_replaced(item):
                self._left(f'the action of {self._name} has a goal')
            if before.get(name) in RUNNING and item.status in STOPPED:
                self._left(f'a goal of the action of {self._name} was stopped')

    def _is_replaced(self, goal: GoalStatus) -> bool:
        """Return True if a goal was accepted before the last trajectory of this node."""
        accepted: int = Time.from_msg(goal.goal_info.stamp).nanoseconds
        return 0 < accepted < self._last_sent

    def _on_transition(self, event: TransitionEvent) -> None:
        configured = event.start_state.id == State.TRANSITION_STATE_CONFIGURING
        if not configured and event.goal_state.id not in ACTIVATED:
            self._left(
                f'{self._name} was deactivated ({shorten_sentence(event.goal_state.label)})'
            )
            self.deactivated()
