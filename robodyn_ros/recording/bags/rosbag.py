# SPDX-License-Identifier: Apache-2.0
"""Reader of the joint states of rosbag2 recordings, damaged ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
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
from robodyn_ros.recording.topics.decoder import JointStateDecoder
from robodyn_ros.recording.topics.messages import KINDS, USUAL, Converter
from robodyn_ros.recording.topics.publishers import Publisher
from robodyn_ros.recording.topics.rename import rename_joints
from robodyn_ros.recording.topics.sources import MOTOR, motors_of, series_of

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
    try:
        fields = {FIELD_OF[signal]: name for signal, name in chosen.items()}
        decoder, findings = _decode(path, topic, fields)
        groups = decoder.finish()
        if decoder.damaged:
            count, reason = sum(decoder.damaged.values()), decoder.damaged.most_common(1)[0][0]
            findings.append(finding('damaged_messages', count=count, reason=reason))
        if not groups:
            damage = ''.join(f'. {each.text}' for each in findings)
            raise RecordingError(f'there is no message on {topic!r}{damage}')
        measured = any(group.measured for group in groups)
        findings += _check_torque(decoder.converter, topic, measured)
        for group in groups:
            group.names = rename_joints(group.names, rename)
        series, notes = series_of(groups, joints, part=part, topic=topic)
    except RecordingError as error:
        raise type(error)(f'{path}: {error}', lines=error.lines) from error
    findings += notes
    signals, names = _signals(series, joints)
    if not series.columns['stamp'].any():
        findings.append(finding('bag_time_used'))
    logs, origin = series.columns['log'], int(series.time[0])
    signals['time'] = blockwise(lambda part: (part - origin) / 1e9, series.time)
    for key, name in chosen.items():
        if name in decoder.converter.known:
            signals[name] = signals[key]
    used = BagPart(int(logs.min()), int(logs.max()), tuple(rename))
    return Table(signals, str(path), names, origin, tuple(findings), topic, part=used)


def _decode(
    path: Path, topic: str, chosen: Mapping[str, str]
) -> tuple[JointStateDecoder, list[Finding]]:
    scan = BagScan(path, topic, KINDS)
    messages = scan.messages()
    first = [*islice(messages, 1)]  # then the type of the topic is known
    kind = scan.topics.get(topic, KINDS[0])
    decoder = JointStateDecoder(Converter(kind, scan.definitions.get(kind, ('', ''))[1], chosen))
    decoder.add_all(chain(first, messages))
    scan.check()
    _check_topic(scan.topics, topic)
    damage = scan.damage[:1]
    return decoder, [finding('damaged_bag', damage=x, count=decoder.rows) for x in damage]


def _check_topic(types: dict[str, str], topic: str) -> None:
    if types.get(topic) in KINDS:
        return
    others = sorted(name for name, kind in types.items() if kind in KINDS)
    what = f'has the type {types[topic]!r}' if topic in types else 'is not in the bag'
    hint = (
        f'choose one of {others} with --topic' if others else 'it has no topic with joint states'
    )
    raise MissingSignalError(f'topic {topic!r} {what}; {hint}')


def _check_torque(converter: Converter, topic: str, measured: bool) -> list[Finding]:
    """Say which quantity is read as the torque, where a message has others or no usual one."""
    read, offered = converter.read['effort'], converter.offered
    if not measured and offered:
        raise MissingSignalError(
            f'{topic} has no measured effort. If one of {", ".join(offered)} is the torque of the '
            f'joints, name it in a file for --columns',
            lines=[f'torque: {name}' for name in offered[:3]],
        )
    for other in [name for name in converter.torques if name != read][:1]:
        line = f'torque: {other}'
        return [finding('torque_chosen.of_several', topic=topic, read=read, line=line)]
    return [] if read in USUAL['effort'] else [finding('torque_chosen', topic=topic, read=read)]


def _signals(
    series: Publisher, joints: Sequence[str] | None
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return the signals of the joints, and of their motors if all have one."""
    motors = motors_of(series.names)
    names = tuple(joints or [name for name in series.names if name not in motors])
    columns = series.select(names).columns
    signals = {'position': columns['position'], 'torque': columns['effort']}
    optional = {'velocity': columns['velocity']}
    if motors == {f'{name}{MOTOR}' for name in names}:
        of_motors = series.select([f'{name}{MOTOR}' for name in names]).columns
        optional |= {f'motor_{name}': of_motors[name] for name in ('position', 'velocity')}
    return signals | {n: values for n, values in optional.items() if _has_numbers(values)}, names


def _has_numbers(values: NDArray[Any]) -> bool:
    """Return True if a number is not NaN."""
    return any(not np.isnan(values[rows]).all() for rows in sweep(values))
