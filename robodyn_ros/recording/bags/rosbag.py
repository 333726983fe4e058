# SPDX-License-Identifier: Apache-2.0
"""Reader of the joint states of rosbag2 recordings, damaged ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.bag_scan import BagScan
from robodyn_ros.recording.bags.joint_state_decoder import MSGTYPE, Group, JointStateDecoder
from robodyn_ros.recording.storage import blockwise, sweep
from robodyn_ros.recording.tables.table import Table

MOTOR = '_motor'
"""A second encoder, on the motor of joint `name`, is published as joint `name_motor`."""


def read_rosbag(path: Path, *, topic: str, joints: Sequence[str] | None) -> Table:
    """Read the joint states of a bag.

    Joints are matched by name in every message. Messages without all requested joints
    (of another publisher on the topic, such as a gripper) are ignored. Time is header.stamp, or
    the time in the bag if all stamps are zero. A damaged bag is read as far as it is readable.

    :param topic: topic of type sensor_msgs/msg/JointState
    :param joints: joints to read, in this order; None: those that most messages with effort have
    :return: columns `time` [s] from the first stamp on, `position`, `velocity`, `torque`; with
        a second encoder per joint (see `MOTOR`) `motor_position` and `motor_velocity`
    :raises RecordingError: nothing can be read, or the topic or a joint is missing
    """
    topic = '/' + topic.lstrip('/')
    decoder, findings = _decode(path, topic)
    try:
        groups = decoder.finish()
    except RecordingError as error:
        raise RecordingError(f'{path}: {error}') from error
    if decoder.damaged:
        count, reason = sum(decoder.damaged.values()), decoder.damaged.most_common(1)[0][0]
        findings.append(finding('damaged_messages', count=count, reason=reason))
    if not groups:
        raise RecordingError(f'{path}: there is no message on {topic!r}')
    names, chosen = _choose(groups, joints, path)
    findings += _report_left_out(groups, chosen, topic)
    return replace(_table(chosen, names, str(path), findings), topic=topic)


def _decode(path: Path, topic: str) -> tuple[JointStateDecoder, list[Finding]]:
    decoder, scan = JointStateDecoder(), BagScan(path, topic, MSGTYPE)
    decoder.add_all(scan.messages())
    scan.check()
    _check_topic(scan.topics, topic, path)
    if not scan.damage:
        return decoder, []
    return decoder, [finding('damaged_bag', damage=scan.damage[0], count=decoder.rows)]


def _check_topic(types: dict[str, str], topic: str, path: Path) -> None:
    if types.get(topic) == MSGTYPE:
        return
    others = sorted(name for name, msgtype in types.items() if msgtype == MSGTYPE)
    what = f'has the type {types[topic]!r}' if topic in types else 'is not in the bag'
    hint = f'choose one of {others} with --topic' if others else 'it has no JointState topic'
    raise MissingSignalError(f'{path}: topic {topic!r} {what}; {hint}')


def _choose(
    groups: list[Group], joints: Sequence[str] | None, path: Path
) -> tuple[tuple[str, ...], list[Group]]:
    """Return the joints to read and the groups of messages that have all of them."""
    groups = [group for group in groups if group.measured] or groups  # a gripper has no effort
    if joints is None:
        counts: dict[frozenset[str], int] = {}
        for group in groups:
            key = frozenset(group.names)
            counts[key] = counts.get(key, 0) + group.count
        # With equal numbers of messages, the publisher with more joints is the robot.
        most = max(counts.values())
        best = max(counts, key=lambda key: (round(counts[key] / most, 1), len(key)))
        every = next(group.names for group in groups if frozenset(group.names) == best)
        names = tuple(name for name in every if name.removesuffix(MOTOR) not in best - {name})
        return names, [group for group in groups if frozenset(group.names) == best]
    names = tuple(joints)
    chosen = [group for group in groups if set(names) <= set(group.names)]
    if chosen:
        return names, chosen
    known = sorted({name for group in groups for name in group.names})
    missing = [name for name in names if name not in known]
    if missing:
        raise MissingSignalError(
            f'{path}: joint {missing[0]!r} is not in the recording, which has {known}'
        )
    raise MissingSignalError(
        f'{path}: no message has all of {list(names)}; the joints are in different messages: '
        f'{[list(group.names) for group in groups]}'
    )


def _report_left_out(groups: list[Group], chosen: list[Group], topic: str) -> list[Finding]:
    others = [group for group in groups if group not in chosen]
    if not others:
        return []
    count = sum(group.count for group in others)
    joints = sorted({name for group in others for name in group.names})
    return [finding('other_messages', count=count, topic=topic, joints=', '.join(joints))]


def _table(
    chosen: list[Group], names: tuple[str, ...], source: str, findings: list[Finding]
) -> Table:
    rows = [group.take('row') for group in chosen]
    order = np.argsort(np.concatenate(rows), kind='stable') if len(chosen) > 1 else None
    motors = tuple(f'{name}{MOTOR}' for name in names)
    double = all(set(motors) <= set(group.names) for group in chosen)
    columns = {}
    for column in ('stamp', 'log', 'position', 'velocity', 'effort'):
        parts = [group.take(column) for group in chosen]
        if double and column in ('position', 'velocity'):
            columns[f'motor_{column}'] = _join(_of(parts, chosen, motors), order)
        columns[column] = _join(_of(parts, chosen, names), order)
    stamps = columns['stamp']
    if not stamps.any():
        stamps = columns['log']
        findings.append(finding('bag_time_used'))
    origin = int(stamps[0])
    signals = {
        'time': blockwise(lambda part: (part - origin) / 1e9, stamps),
        'position': columns['position'],
        'torque': columns['effort'],
    }
    for name in ('velocity', 'motor_position', 'motor_velocity'):
        if name in columns and _has_numbers(columns[name]):
            signals[name] = columns[name]
    return Table(signals, source=source, joints=names, origin=origin, findings=tuple(findings))


def _of(
    parts: list[NDArray[Any]], chosen: list[Group], names: tuple[str, ...]
) -> list[NDArray[Any]]:
    """Select the columns of these joints; leave stamps, which have no columns, unchanged."""
    selected = list(parts)
    for index, (part, group) in enumerate(zip(parts, chosen, strict=True)):
        if part.ndim == 2 and group.names != names:
            columns = [group.names.index(name) for name in names]
            selected[index] = blockwise(partial(np.take, indices=columns, axis=1), part)
    return selected


def _has_numbers(values: NDArray[Any]) -> bool:
    """Return True if a number is not NaN."""
    return any(not np.isnan(values[rows]).all() for rows in sweep(values))


def _join(parts: list[NDArray[Any]], order: NDArray[np.intp] | None) -> NDArray[Any]:
    if order is None:
        return parts[0]
    joined = np.concatenate(parts)  # rare: messages name the joints in several orders
    return blockwise(lambda part: joined[part], order, dtype=joined.dtype)
