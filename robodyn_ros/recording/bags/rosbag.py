# SPDX-License-Identifier: Apache-2.0
"""Reader of the joint states of rosbag2 recordings, damaged ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.scan import BagPart
from robodyn_ros.recording.storage import blockwise, sweep
from robodyn_ros.recording.tables.table import Table
from robodyn_ros.recording.topics.decoder import KINDS, Form, Group, JointStateDecoder
from robodyn_ros.recording.topics.publishers import Publisher
from robodyn_ros.recording.topics.rename import rename_joints
from robodyn_ros.recording.topics.sources import MOTOR, series_of

FIELD_OF = {'position': 'position', 'velocity': 'velocity', 'torque': 'effort'}
"""Field of a JointState that is a signal."""


def read_rosbag(
    path: Path,
    *,
    topic: str,
    joints: Sequence[str] | None,
    chosen: Mapping[str, str] | None = None,
    part: int | None = None,
    rename: Sequence[str] = (),
) -> Table:
    """Read the joint states of a bag.

    Joints are matched by name in every message, see `series_of`. Time is header.stamp, or the time
    in the bag if all stamps are zero. A damaged bag is read as far as it is readable.

    :param topic: topic of one of the types `KINDS`
    :param joints: joints to read, in this order; None: those of the robot
    :param chosen: quantities of the messages to read as position, velocity or torque; they are
        columns too
    :param part: number of the part, where the messages are several
    :param rename: rules for the names of joints, see `rename_joints`
    :return: columns `time` [s] from the first stamp on, `position`, `velocity`, `torque`; with
        a second encoder per joint (see `MOTOR`) `motor_position` and `motor_velocity`
    :raises RecordingError: nothing can be read, or the topic or a joint is missing
    """
    topic = '/' + topic.lstrip('/')
    chosen = chosen or {}
    fields = {FIELD_OF[signal]: name for signal, name in chosen.items()}
    decoder, findings = _decode(path, topic, fields)
    try:
        groups = decoder.finish()
        if decoder.damaged:
            count, reason = sum(decoder.damaged.values()), decoder.damaged.most_common(1)[0][0]
            findings.append(finding('damaged_messages', count=count, reason=reason))
        if not groups:
            damage = ''.join(f'. {each.text}' for each in findings)
            raise RecordingError(f'there is no message on {topic!r}{damage}')
        findings += _check_torque(groups, topic)
        for group in groups:
            group.names = rename_joints(group.names, rename)
        series, notes = series_of(groups, joints, part=part, topic=topic)
    except RecordingError as error:
        raise type(error)(f'{path}: {error}', lines=error.lines) from error
    table = _table(series, joints, str(path), topic, [*findings, *notes], rename)
    known = {name for group in groups for name in group.layout.fields}
    more = {name: table.columns[key] for key, name in chosen.items() if name in known}
    return replace(table, columns={**table.columns, **more})


def _decode(
    path: Path, topic: str, chosen: Mapping[str, str]
) -> tuple[JointStateDecoder, list[Finding]]:
    scan = BagScan(path, topic, KINDS)
    messages = scan.messages()
    first = next(messages, None)  # then the type of the topic is known
    kind = scan.topics.get(topic, KINDS[0])
    decoder = JointStateDecoder(Form(kind, scan.definitions.get(kind, ('', ''))[1], chosen))
    if first is not None:
        decoder.add_all([first])
    decoder.add_all(messages)
    scan.check()
    _check_topic(scan.topics, topic, path)
    if not scan.damage:
        return decoder, []
    return decoder, [finding('damaged_bag', damage=scan.damage[0], count=decoder.rows)]


def _check_topic(types: dict[str, str], topic: str, path: Path) -> None:
    if types.get(topic) in KINDS:
        return
    others = sorted(name for name, kind in types.items() if kind in KINDS)
    what = f'has the type {types[topic]!r}' if topic in types else 'is not in the bag'
    hint = (
        f'choose one of {others} with --topic' if others else 'it has no topic with joint states'
    )
    raise MissingSignalError(f'{path}: topic {topic!r} {what}; {hint}')


def _check_torque(groups: Sequence[Group], topic: str) -> list[Finding]:
    """Say which quantity is read as the torque, where a message has others or no usual one."""
    layout = next((each.layout for each in groups if each.measured), groups[0].layout)
    read, lines = layout.read['effort'], [f'torque: {name}' for name in layout.offered]
    if not any(each.measured for each in groups) and lines:
        raise MissingSignalError(
            f'{topic} has no measured effort. If one of {", ".join(layout.offered)} is the torque '
            f'of the joints, name it in a file for --columns',
            lines=lines[:3],
        )
    if others := [name for name in layout.torques if name != read]:
        return [
            finding(
                'torque_chosen.of_several', topic=topic, read=read, line=f'torque: {others[0]}'
            )
        ]
    usual = ('effort', 'feedback.effort', 'actual.effort')
    return [] if read in usual else [finding('torque_chosen', topic=topic, read=read)]


def _table(
    series: Publisher,
    joints: Sequence[str] | None,
    source: str,
    topic: str,
    findings: list[Finding],
    rename: Sequence[str],
) -> Table:
    motors = {
        name for name in series.names if name.removesuffix(MOTOR) in {*series.names} - {name}
    }
    names = tuple(joints or [name for name in series.names if name not in motors])
    columns = series.select(names).columns
    if motors == {f'{name}{MOTOR}' for name in names}:
        of_motors = series.select([f'{name}{MOTOR}' for name in names]).columns
        columns |= {f'motor_{name}': of_motors[name] for name in ('position', 'velocity')}
    if not columns['stamp'].any():
        findings.append(finding('bag_time_used'))
    stamps, logs = series.time, columns['log']
    origin = int(stamps[0])
    signals = {
        'time': blockwise(lambda part: (part - origin) / 1e9, stamps),
        'position': columns['position'],
        'torque': columns['effort'],
    }
    for name in ('velocity', 'motor_position', 'motor_velocity'):
        if name in columns and _has_numbers(columns[name]):
            signals[name] = columns[name]
    part = BagPart(int(logs.min()), int(logs.max()), tuple(rename))
    return Table(signals, source, names, origin, tuple(findings), topic, part=part)


def _has_numbers(values: NDArray[Any]) -> bool:
    """Return True if a number is not NaN."""
    return any(not np.isnan(values[rows]).all() for rows in sweep(values))
