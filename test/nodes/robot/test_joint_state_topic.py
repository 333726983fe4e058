# SPDX-License-Identifier: Apache-2.0
"""Messages that are written into one buffer are what rclpy reads."""

import numpy as np
import pytest
from fake_node import FakeNode
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from robodyn_ros.nodes.robot.joint_state_topic import JointStateTopic
from robodyn_ros.wire.joint_state import FIELDS


@pytest.mark.parametrize('fields', [FIELDS, ('effort',), ('position', 'effort')])
def test_each_message_has_its_stamp_names_and_arrays(fields):
    node = FakeNode()
    topic = JointStateTopic(node, 'out', fields)
    for joints in (('a', 'b'), ('joint_one', 'x', 'y')):
        topic.prepare(joints)
        values = [np.arange(len(joints)) - 1.5 * row for row in range(len(fields))]
        topic.publish(7, 8, *(value + 1.0 for value in values))
        topic.publish(9, 10, *values)
        topic.publish(11, 12, *values, valid=False)
        *_, message, invalid = (deserialize_message(d, JointState) for d in node.published['out'])
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (9, 10)
        assert tuple(message.name) == joints
        given = dict(zip(fields, values, strict=True))
        for field in FIELDS:
            assert list(getattr(message, field)) == list(given.get(field, ()))
            assert np.isnan(getattr(invalid, field)).sum() == len(given.get(field, ()))
