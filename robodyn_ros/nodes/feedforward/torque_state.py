# SPDX-License-Identifier: Apache-2.0
"""Publisher of TorqueState, and of the applied torque alone as a JointState."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import serialize_message

from robodyn_ros.control.effort.joint_effort import EffortConversion
from robodyn_ros.errors import NO_FAULT, Fault
from robodyn_ros.faults import number_of
from robodyn_ros.msg import TorqueState
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.robot.joint_state_topic import JointStateTopic
from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.nodes.robot.publish_rate import PublishRate
from robodyn_ros.wire.cursor import BODY, TIME, Cursor
from robodyn_ros.wire.joint_state import FIELDS

Array = NDArray[np.float64]
STALE = 0.1
"""Age at which torque feedback is no longer published, in [s]: the longest usual period of joint
states (10 Hz)."""


class TorqueStateOut:
    """One message that is reused, and the last torque feedback."""

    def __init__(self, node: LifecycleNode, rate: float = 0.0) -> None:
        """Create the publisher; `prepare` before the first `publish`.

        It is not a lifecycle publisher: an inactive node must not call `publish`.

        :param rate: how often TorqueState is published, in [Hz]; 0: each time
        """
        self._rate = PublishRate(rate, partial(now, node))
        self._publisher = node.create_publisher(TorqueState, '~/torque_state', MONITOR_QOS)
        self._additive = JointStateTopic(node, '~/additive_torque')
        self._effort: EffortConversion | None = None
        self.prepare([])

    def prepare(
        self, joints: Sequence[str], effort: EffortConversion | None = None, delay: int = 0
    ) -> None:
        """Set the joints, in the order of the arrays, and the conversion of their effort.

        :param delay: from a command to its effect, in cycles
        """
        self.feedback = JointStateReader(joints, (), optional=FIELDS)
        self._effort = effort
        self._additive.prepare(joints)
        self._received = self._clock = -np.inf
        self._delay = delay
        self._form = _MessageForm(joints, (False, NO_FAULT), delay)

    def read(self, serialised: bytes, clock: float) -> bool:
        """Read joint states: positions, and efforts as torque at the joint.

        Effort that is not finite becomes NaN. A message without the effort of all joints changes
        nothing, because several senders may share the topic.

        :param clock: time of arrival, in [s]
        :return: True if the message has usable efforts
        """
        self._clock = clock
        if self.feedback.read_bytes(serialised) or 'effort' in self.feedback.missing:
            return False
        self._received = clock
        if self._effort is not None:
            self._effort.feedback(self.feedback.effort)
        return True

    def publish(
        self, clock: tuple[int, int], requested: Array, applied: Array, enabled: bool, fault: Fault
    ) -> None:
        """Publish each topic that has a subscriber, and is due.

        :param requested: shape (n,), in [Nm] or [N], as `applied`
        """
        self._additive.publish(*clock, applied)
        if not self._publisher.get_subscription_count():
            return
        state = (enabled, fault)
        if not self._rate.due((*state, bool(applied.any()))):  # the last one tells of zero
            return
        feedback = self.feedback.effort
        if self._clock - self._received > STALE:
            feedback[:] = np.nan
        form = self._form
        if form.state != state:
            form = self._form = _MessageForm(self.feedback.joints, state, self._delay)
        form.stamp(*clock)
        form.requested[:] = requested
        form.additive_command[:] = applied
        form.feedback[:] = feedback
        form.error[:] = applied - feedback  # computing into bytes that are not aligned is slow
        self._publisher.publish(bytes(form.data))


class _MessageForm:
    """Serialised message whose numbers are replaced, in a tenth of the time of an object."""

    def __init__(self, joints: Sequence[str], state: tuple[bool, Fault], delay: int) -> None:
        self.state = enabled, fault = state
        zero = [0.0] * len(joints)
        self.data = bytearray(serialize_message(TorqueState(
            name=list(joints), enabled=enabled, fault=fault, requested=zero,
            fault_code=number_of(fault), additive_command=zero, feedback=zero, error=zero,
            additive_torque_delay=delay,
        )))  # fmt: skip
        _, starts = Cursor(self.data).read_named_arrays(4)
        views = [np.frombuffer(self.data, '<f8', len(joints), max(at, 0)) for at in starts]
        self.feedback, self.requested, self.additive_command, self.error = views

    def stamp(self, seconds: int, nanoseconds: int) -> None:
        TIME.pack_into(self.data, BODY, seconds, nanoseconds)
