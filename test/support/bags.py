# SPDX-License-Identifier: Apache-2.0
"""Bags for tests, written by rosbags: not by the code under test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from robodyn_ros.recording.bags.topic_bag import TORQUE_STATE
from robodyn_ros.recording.topics.messages import TRAJECTORY_STATE

TYPES = get_typestore(Stores.ROS2_JAZZY)
MESSAGES = Path(__file__).resolve().parents[2] / 'msg'
JOINT_STATE = 'sensor_msgs/msg/JointState'
CONTROLLER_STATE = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
"""
"""Definition of ros2_controllers: the parts that are read, and what stands between them."""


def message(
    stamp: int,
    names: Sequence[str],
    position: Sequence[float],
    velocity: Sequence[float],
    effort: Sequence[float],
    frame: str = '',
) -> Any:
    """Return a JointState; stamp in [ns]."""
    types = TYPES.types
    time = types['builtin_interfaces/msg/Time'](sec=stamp // 10**9, nanosec=stamp % 10**9)
    header = types['std_msgs/msg/Header'](stamp=time, frame_id=frame)
    arrays = [np.array(values, dtype=np.float64) for values in (position, velocity, effort)]
    return types[JOINT_STATE](header, list(names), *arrays)


def cdr(state: Any, *, little_endian: bool = True) -> bytes:
    """Encode a JointState."""
    return bytes(TYPES.serialize_cdr(state, JOINT_STATE, little_endian=little_endian))


def write_bag(
    path: Path,
    messages: Iterable[tuple[int, bytes]],
    *,
    plugin: StoragePlugin = StoragePlugin.MCAP,
    topic: str = '/joint_states',
) -> Path:
    """Write encoded messages with their times, in [ns]."""
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        link = writer.add_connection(topic, JOINT_STATE, typestore=TYPES)
        for time, data in messages:
            writer.write(link, time, data)
    return path


def write_topics(path: Path, topics: dict[str, Sequence[Any]]) -> None:
    """Write JointState messages of several topics at the times of their stamps."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, states in topics.items():
            link = writer.add_connection(topic, JOINT_STATE, typestore=TYPES)
            for state in states:
                stamp = state.header.stamp
                writer.write(link, stamp.sec * 10**9 + stamp.nanosec, cdr(state))


def wave(count: int = 300, joints: int = 2, period: int = 2_000_000) -> list[tuple[int, Any]]:
    """Times in [ns] and JointState messages of joints a, b, ... that all move."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(count, 3, joints))
    names = [chr(ord('a') + index) for index in range(joints)]
    start = 1_700_000_000 * 10**9
    stamps = [start + index * period for index in range(count)]
    return [
        (stamp, message(stamp, names, *row)) for stamp, row in zip(stamps, numbers, strict=True)
    ]


def torque_types() -> Typestore:
    """Types with TorqueState and JointTrajectoryControllerState."""
    store = get_typestore(Stores.ROS2_JAZZY)
    definition = (MESSAGES / 'TorqueState.msg').read_text(encoding='utf-8')
    store.register(get_types_from_msg(definition, TORQUE_STATE))
    store.register(get_types_from_msg(CONTROLLER_STATE, TRAJECTORY_STATE))
    return store
