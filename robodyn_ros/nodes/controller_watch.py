"""Notices that a joint_trajectory_controller is told something past the feed-forward.

A node that publishes trajectories is not told when the controller leaves one: for a trajectory of
somebody else, for a goal of its action, or because it is deactivated. All three are announced on
topics that every joint_trajectory_controller has, so no package of ros2_control is needed here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from action_msgs.msg import GoalStatus, GoalStatusArray
from lifecycle_msgs.msg import State, TransitionEvent
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import qos_profile_action_status_default
from trajectory_msgs.msg import JointTrajectory

RUNNING = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
ON_THE_WAY = 32
"""Own trajectories that may not have come back yet; far more than ever are."""


class ControllerWatch:
    """Calls back with the reason when the controller no longer runs what this node sent last."""

    def __init__(self, node: LifecycleNode, topic: str, left: Callable[[str], None]) -> None:
        """Begin to listen.

        :param topic: resolved name of the controller's trajectory topic, below its own name
        """
        self._topic = topic
        self._name = topic.rsplit('/', 1)[0]
        self._left = left
        self._own: deque[int] = deque(maxlen=ON_THE_WAY)
        self._goals: set[bytes] = set()
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

    def sent(self, serialised: bytes) -> None:
        """Say what this node publishes, before it does: that will come back here."""
        self._own.append(hash(serialised))

    def _on_trajectory(self, serialised: bytes) -> None:
        try:
            self._own.remove(hash(serialised))
        except ValueError:
            self._left(f'a trajectory came from somebody else, on {self._topic}')

    def _on_status(self, message: GoalStatusArray) -> None:
        """A goal that is new takes the controller; one from before was ended by our trajectory."""
        running = {
            item.goal_info.goal_id.uuid.tobytes()
            for item in message.status_list
            if item.status in RUNNING
        }
        new, self._goals = running - self._goals, running
        if new:
            self._left(f'the action of {self._name} has a goal')

    def _on_transition(self, event: TransitionEvent) -> None:
        if event.goal_state.id != State.PRIMARY_STATE_ACTIVE:
            self._left(f'{self._name} was deactivated ({event.goal_state.label})')
