# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.wrench import decode_wrench, encode_wrench

WRENCH = np.array([1.5, -2.0, 3e5, 0.0, -1e-9, 7.0])


@pytest.mark.parametrize('frame', ['', 'b', 'base', 'base_link', 'Sockel_ä'])
def test_a_message_is_read_as_it_was_written(frame: str) -> None:
    data = encode_wrench(1_700_000_000_123_456_789, frame, WRENCH)
    stamp, name, wrench = decode_wrench(data)
    assert (stamp, name) == (1_700_000_000_123_456_789, frame)
    assert wrench.tobytes() == WRENCH.tobytes()


def test_another_message_is_refused() -> None:
    data = encode_wrench(1, 'base', WRENCH)
    for damaged in (data[:-1], data + bytes(8), b'\0\0' + data[2:]):
        with pytest.raises(WireError):
            decode_wrench(damaged)


@pytest.mark.parametrize('frame', ['', 'base', 'base_link'])
def test_it_is_the_message_of_ros(frame: str) -> None:
    messages = pytest.importorskip('geometry_msgs.msg')
    serialization = pytest.importorskip('rclpy.serialization')
    data = encode_wrench(5_000_000_007, frame, WRENCH)
    message = serialization.deserialize_message(data, messages.WrenchStamped)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 7)
    assert message.header.frame_id == frame
    force, torque = message.wrench.force, message.wrench.torque
    assert [force.x, force.y, force.z, torque.x, torque.y, torque.z] == WRENCH.tolist()
    assert decode_wrench(serialization.serialize_message(message))[2].tolist() == WRENCH.tolist()
