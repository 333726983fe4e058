# SPDX-License-Identifier: Apache-2.0
"""Base of both modes of the feed-forward: target controller, joint states, watches, refusals."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.control.feedforward.state_watchdog import StateWatch
from robodyn_ros.control.torque_threshold import TorqueThreshold
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.models.interface import Array
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.feedforward.target_watch import TargetWatch
from robodyn_ros.nodes.feedforward.torque_state import TorqueStateOut


class TorqueMode(ABC):
    """Publisher of commands, with the watches that take the torque away.

    :cvar interfaces: parameter of the target controller that names its command interfaces
    :ivar target: state of the target controller
    :ivar refused: number of refused messages
    :ivar refusal: reason of the last refusal, or ''
    """

    interfaces = ''

    def __init__(
        self,
        node: LifecycleNode,
        kind: type[Any],
        topic: str,
        *,
        ask: bool,
        changed: Callable[[], None] = lambda: None,
        state_rate: float = 0.0,
    ) -> None:
        """Create the publisher of commands and the subscription to joint states.

        :param changed: called when the known state of the controller has changed
        :param state_rate: how often TorqueState is published, in [Hz]; 0: each time
        """
        self._node = node
        # Not a lifecycle publisher: the modes themselves decide what an inactive node publishes.
        self._output = node.create_publisher(kind, topic, 10)
        self.target = TargetWatch(node, self._output, ask=ask, changed=changed)
        self._state = TorqueStateOut(node, self.target, state_rate)
        self._states = StateWatch(width=0, timeout=0.0)
        self._threshold = TorqueThreshold((), None)
        self._running = False
        self.refused = 0
        self.refusal = ''
        node.create_subscription(
            JointState, 'joint_states', self._on_feedback, MONITOR_QOS, raw=True
        )

    @property
    def topic(self) -> str:
        """Resolved name of the command topic."""
        return str(self._output.topic_name)

    @property
    @abstractmethod
    def enabled(self) -> bool:
        """True if model torque is applied, or added to trajectories."""

    @property
    @abstractmethod
    def applied(self) -> bool:
        """True if the torque is not zero at present."""

    @property
    def busy(self) -> bool:
        """True if a client still waits for the end of a motion."""
        return False

    @abstractmethod
    def _on_feedback(self, serialised: bytes) -> None:
        """Read joint states."""

    def _watch(
        self,
        joints: tuple[str, ...],
        effort: EffortConversion,
        states: StateWatch,
        threshold: TorqueThreshold | None,
        delay: int,
    ) -> None:
        """Set the joints of the model, the conversion of their effort, the watches and delay."""
        self._effort = effort
        self._states = states
        self._threshold = threshold or TorqueThreshold(joints, None)
        self.target.joints = joints
        self._state.prepare(joints, effort, delay)

    def _feedback_problem(self, has_effort: bool, wanted: Array | None) -> Fault:
        """Return why the last joint states must remove the torque, or NO_FAULT.

        :param has_effort: they have usable efforts
        :param wanted: present position of the motion, shape (n,); None: positions are not checked
        """
        robot, problem = self._state.feedback, NO_FAULT
        if wanted is not None and 'position' not in robot.missing:
            velocity = None if 'velocity' in robot.missing else robot.velocity
            now = time.monotonic()
            problem = self._states.read(now, robot.stamp, robot.position, wanted, velocity)
        if has_effort:
            problem = self._threshold.feedback(robot.effort) or problem
        return problem

    def _silence(self) -> Fault:
        """Return which joint states have been missing for too long, or NO_FAULT."""
        return self._threshold.silence() or self._states.silence(time.monotonic())

    def _refuse(self, reason: str) -> None:
        self.refused += 1
        self.refusal = reason
