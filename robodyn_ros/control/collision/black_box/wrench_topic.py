# SPDX-License-Identifier: Apache-2.0
"""Topic of an event with the external wrench at the tool."""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.errors import RecordingError
from robodyn_ros.models.interface import Array
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.joint_state_bag import HEADER, RULE
from robodyn_ros.recording.bags.mcap_writer import Topic
from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.wrench import decode_wrench

VECTOR = f"""{RULE}
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
"""
DEFINITION = f"""std_msgs/Header header
geometry_msgs/Wrench wrench
{HEADER}{RULE}
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
{VECTOR}"""
WRENCH = Topic(
    '/collision_monitor/wrench',
    'geometry_msgs/msg/WrenchStamped',
    DEFINITION,
    '[]',
    'RIHS01_8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77',
)


def read_wrenches(path: Path) -> list[tuple[int, int, Array]]:
    """Return time and stamp [ns] and wrench of each message of an event; empty without the topic.

    :raises RecordingError: a message is damaged
    """
    found = []
    for time, data in BagScan(path, WRENCH.name).messages():
        try:
            stamp, _, wrench = decode_wrench(data)
        except WireError as error:
            raise RecordingError(f'{WRENCH.name}: {error}') from error
        found.append((time, stamp, wrench))
    return found
