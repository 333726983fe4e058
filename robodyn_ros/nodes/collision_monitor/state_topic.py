# SPDX-License-Identifier: Apache-2.0
"""Topics `~/collision_state` and `~/torque_error`."""

from __future__ import annotations

import math
from array import array
from functools import partial
from typing import Any

from rclpy.serialization import serialize_message

from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.faults import number_of
from robodyn_ros.identification.result.result import IdentifiedModel
from robodyn_ros.msg import CollisionState
from robodyn_ros.nodes.base.clock import now
from robodyn_ros.nodes.base.common import MONITOR_QOS
from robodyn_ros.nodes.collision_monitor.events import ERROR, LEVELS
from robodyn_ros.nodes.collision_monitor.inputs import Inputs
from robodyn_ros.nodes.robot.joint_state_topic import JointStateTopic
from robodyn_ros.nodes.robot.publish_rate import PublishRate


class StateTopic:
    """Publisher of levels and torque errors: each change of a level at once."""

    def __init__(self, node: Any) -> None:
        """Create the publisher."""
        self._node = node
        self._publisher = node.create_lifecycle_publisher(
            CollisionState, '~/collision_state', MONITOR_QOS
        )

    def build(self, model: IdentifiedModel, _: ModelTorque, detector: TorqueErrorDetector) -> None:
        """Prepare the message for a model.

        Silence for longer than stale_timeout means UNKNOWN to those who rely on the topic.
        """
        rate = self._node.state_rate
        least = 2.0 / detector.settings.stale_timeout
        self._rate = PublishRate(max(rate, least) if rate else 0.0, partial(now, self._node))
        self._message = CollisionState(name=list(model.joints))
        self._no_position = array('d', [math.nan] * len(model.joints))

    def publish(self, detector: TorqueErrorDetector, inputs: Inputs, stamp: Any) -> None:
        """Publish the state of this cycle, if it is due."""
        level = detector.level.tobytes()
        code, muted = number_of(detector.message), self._node.muted
        if not self._rate.due((level, detector.latched, code, muted)):
            return
        message = self._message
        message.header.stamp = stamp
        message.level = array('B', level)
        message.torque_error = array('d', detector.torque_error.tobytes())
        message.threshold = array('d', detector.threshold.tobytes())
        message.latched = detector.latched
        message.message = detector.message
        message.fault_code = code
        message.muted = muted
        position = array('d', inputs.state.position.tobytes())
        message.position = position if inputs.fresh else self._no_position
        self._publisher.publish(message)
        if self._node.events.used:
            self._node.events.add(LEVELS, serialize_message(message))


class ErrorTopic:
    """Publisher of the torque error with joint names; NaN where it is not valid."""

    def __init__(self, node: Any) -> None:
        """Create the publisher."""
        self._node = node
        self._topic = JointStateTopic(node, '~/torque_error')

    def build(self, model: IdentifiedModel, _: ModelTorque, __: TorqueErrorDetector) -> None:
        """Set the joints."""
        self._topic.prepare(model.joints)

    def publish(self, detector: TorqueErrorDetector, _: Inputs, stamp: Any) -> None:
        """Publish the torque error of this cycle."""
        events = self._node.events
        if not (events.used or self._topic.heard):
            return
        error, valid = detector.torque_error, detector.settled
        data = self._topic.encode(stamp.sec, stamp.nanosec, error, valid=valid)
        self._topic.send(data)
        events.add(ERROR, data)
