# SPDX-License-Identifier: Apache-2.0
"""Commanded positions in a rosbag2: of a joint_trajectory_controller, or a JointState."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import RecordingError
from robodyn_ros.findings import finding
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.bags.topic_bag import (
    TopicSamples,
    Values,
    read_topic,
    topic_types,
)
from robodyn_ros.recording.tables.table import Table
from robodyn_ros.recording.time_order import at_times
from robodyn_ros.recording.topics.messages import JOINT_STATE, TRAJECTORY_STATE
from robodyn_ros.recording.topics.rename import rename_joints
from robodyn_ros.wire.commands import CommandReader

IN_MAPPING = "`command: {columns: '/TOPIC'}` in the mapping of --columns"
RECORD = 'ros2 bag record /joint_states /joint_trajectory_controller/controller_state'


def command_topics(types: Mapping[str, str]) -> list[str]:
    """Return the topics that have commanded positions, by the message types of all topics."""
    usable = [topic for topic, kind in types.items() if kind == TRAJECTORY_STATE]
    return usable or [
        topic
        for topic, kind in types.items()
        if kind == JOINT_STATE and topic.endswith('/reference')
    ]


def command_topic(
    types: Mapping[str, str], wanted: str | None, path: str, how: str = '--command'
) -> str:
    """Return the topic of the commanded positions.

    :param wanted: chosen topic, or None
    :param how: way to choose it, for messages
    :raises RecordingError: there is no such topic, or more than one and none is chosen
    """
    usable = command_topics(types)
    if wanted is not None:
        wanted = '/' + wanted.lstrip('/')
        if types.get(wanted) not in (TRAJECTORY_STATE, JOINT_STATE):
            others = f'{", ".join(usable)} has them' if usable else f'no topic has: {RECORD}'
            raise RecordingError(f'{path}: {wanted} has no commanded positions; {others}')
        return wanted
    if len(usable) != 1:
        what = f'{usable} have commanded positions, choose one with {how}' if usable else (
            f'no topic has commanded positions. Record them with the joint states: {RECORD}'
        )  # fmt: skip
        raise RecordingError(f'{path}: {what}')
    return usable[0]


def read_commands(
    path: str | Path, topic: str, joints: tuple[str, ...], part: BagPart | None = None
) -> TopicSamples:
    """Read the commanded positions of a topic; there is one signal.

    :param joints: requested joints; the topic need not have all of them
    :param part: of the recording that they belong to; None: all messages
    :raises RecordingError: as `read_topic`
    """
    return read_topic(path, topic, joints, _positions, part)


def with_commands(table: Table, path: Path, wanted: str | None = None) -> Table:
    """Return a bag's joint states with commanded positions in place of the effort.

    They are NaN, with a finding, where the topic has none for more than `GAP` of its periods.

    :param wanted: their topic, which is the name of their column then; None: the only one
    :raises RecordingError: the bag has no commanded positions of all joints
    """
    topic = command_topic(topic_types(path), wanted, str(path), IN_MAPPING)
    joints = table.joints or ()
    commands = read_commands(path, topic, joints, table.part)
    if commands.joints != joints:
        raise RecordingError(
            f'{path}: {topic} commands {list(commands.joints)}, but the joints are {list(joints)}'
        )
    time, stamps = table.columns['time'], (commands.stamps - table.origin) / 1e9
    held = 2.0 * float(np.median(np.diff(stamps)))  # before the first and after the last one
    stamps = np.array([stamps[0] - held, *stamps, stamps[-1] + held])
    values = np.pad(commands.signals[0], ((1, 1), (0, 0)), mode='edge')
    command = np.column_stack([at_times(time, stamps, each) for each in values.T])
    columns = {name: values for name, values in table.columns.items() if name != 'torque'}
    table = replace(table, columns={**columns, wanted or 'command': command})
    if not (count := int(np.isnan(command[:, 0]).sum())):
        return table
    lost = finding('missing_commands', source=path, topic=topic, count=count, all=len(time))
    return replace(table, findings=(*table.findings, lost))


def references(
    path: str | Path, topic: str, joints: tuple[str, ...], origin: int, part: BagPart | None = None
) -> Iterator[tuple[float, list[float]]]:
    """Yield time, in [s], and positions of each reference, in the order of the bag.

    Of a JTC, these are `reference`, also where `read_commands` takes `output`: the monitor does
    the same. Damaged messages, and those without all joints, are left out.

    :param origin: stamp of time 0, in [ns]
    :param part: of the recording that they belong to; None: all messages
    :raises RecordingError: the bag cannot be read
    """
    part = part or BagPart()
    scan = BagScan(Path(path), topic)
    reader = CommandReader(joints, lambda names: rename_joints(names, part.rename))
    for _, data in part.select(scan.messages()):
        if (reference := reader.read(data)) is not None:
            yield reference[0] - origin / 1e9, reference[1]
    scan.check()


def _positions(message: Any) -> Values:
    """Return the commanded positions of a JointState, or of a joint_trajectory_controller (JTC).

    In each cycle, a JTC (ros2_controllers 4.42) commands the position of the next one, `output`.
    The effort it commands belongs to `reference`. With an effort interface, torque passes through
    the JTC, so the delay is counted from `reference`.
    """
    if hasattr(message, 'position'):
        return message.name, (message.position,)
    if hasattr(message, 'desired'):  # of ROS 1, and of ROS 2 before Iron
        return message.joint_names, (message.desired.positions,)
    output = message.output
    through_jtc = len(output.effort) or not len(output.positions)
    return message.joint_names, ((message.reference if through_jtc else output).positions,)
