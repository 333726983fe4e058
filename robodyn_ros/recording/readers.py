# SPDX-License-Identifier: Apache-2.0
"""Reader of recordings of any format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.bag_scan import is_rosbag
from robodyn_ros.recording.bags.commands import with_commands
from robodyn_ros.recording.bags.rosbag import FIELD_OF, read_rosbag
from robodyn_ros.recording.bags.topic_bag import topic_types
from robodyn_ros.recording.checks import check_recording
from robodyn_ros.recording.missing_values import MISSING_SHARE
from robodyn_ros.recording.position_drive import POSITION_ERROR
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import Signals, load_columns, signals_from
from robodyn_ros.recording.tables.formats import CONVERT, FORMATS, format_of
from robodyn_ros.recording.topics.messages import KINDS

TOPIC = '/joint_states'
"""Topic of a bag that is read if it has the joints, and none is named."""


def read_recording(
    path: str | Path,
    *,
    columns: Mapping[str, object] | str | Path | None = None,
    topic: str | None = None,
    joints: Sequence[str] | None = None,
    part: int | None = None,
    rename: Sequence[str] = (),
) -> Recording:
    """Read and check a recording: a bag of ROS 2 or ROS 1, or a table of `tables.formats`.

    Every command and node reads its recordings here, so that all find the same topic and joints.
    Joints are matched by name. Columns of a file without names (NPZ, MAT) are named by `joints`,
    or joint1, joint2, ..., with a finding.

    :param columns: meaning and units of the columns (a mapping or its YAML file, see
        `columns.py`); for bags the columns are time, position, velocity and torque, and quantities
        of messages that have more
    :param topic: topic of a bag; None: `TOPIC`, or the first other one with joint states that has
        the joints with position and effort, with a finding
    :param joints: joints to read, in this order; None: all that have position and torque
    :param part: of a bag whose clock went back, or with several publishers; None: the longest
    :param rename: rules PATTERN=NAME for the names of joints
    :return: recording with findings about everything repaired or suspicious (see `checks.py`)
    :raises RecordingError: it cannot be read, or its content cannot be used
    :raises MissingSignalError: it has no such topic, joint or signal
    """
    read = partial(
        _read, Path(path), columns=columns, joints=joints, part=part, rename=tuple(rename)
    )
    if topic is not None or not recording_format(path).startswith('rosbag'):
        return read(topic or TOPIC)
    reasons: list[str] = []
    lines: list[str] = []
    for name, findings in _candidates(path):
        try:
            return read(name, findings)
        except MissingSignalError as error:
            reasons.append(str(error) if name == TOPIC else f'{error} ({name})')
            lines += error.lines
    raise MissingSignalError('; '.join(reasons), lines=lines[:3])


def _candidates(path: str | Path) -> Iterator[tuple[str, list[Finding]]]:
    """Yield the topics of a bag to try, and what to report if one is read."""
    yield TOPIC, []
    types = topic_types(path)
    for kind in KINDS:
        topics = {name for name, each in types.items() if each == kind} - {TOPIC}
        usual = {name for name in topics if name.endswith(TOPIC)}
        for name in (*sorted(usual), *sorted(topics - usual)):
            others = ', '.join(sorted((usual if name in usual else topics - usual) - {name}))
            key = 'topic_chosen.of_several' if others else 'topic_chosen'
            yield name, [finding(key, topic=name, others=others)]


def _read(
    path: Path,
    topic: str,
    findings: Sequence[Finding] = (),
    *,
    columns: Mapping[str, object] | str | Path | None,
    joints: Sequence[str] | None,
    part: int | None,
    rename: tuple[str, ...],
) -> Recording:
    """Read a recording, a bag from this topic, and report the findings too."""
    mapping = {} if columns is None else load_columns(columns)
    bag, form = is_rosbag(path), format_of(path)
    if bag or not form:
        chosen = _quantities(mapping)
        table = read_rosbag(
            path, topic=topic, joints=joints, chosen=chosen, part=part, rename=rename
        )
        torque = mapping.get('torque')
        if isinstance(torque, Mapping) and torque.get('unit') == POSITION_ERROR:
            table = with_commands(table, path, _single(mapping.get('command')))
    else:
        table = form.read(path)
    try:
        signals = signals_from(table, mapping, joints, () if bag else rename)
    except RecordingError as error:
        if not isinstance(columns, (str, Path)):
            raise
        lines = () if bag else error.lines  # those of a bag are the known ones
        raise RecordingError(f'column mapping {columns}: {error}', lines=lines) from error
    del table  # frees unused columns before the checks
    signals.findings += findings
    if signals.poses:
        return _recording_of_poses(signals)
    # Transport may deliver messages late, and clocks are set; rows of a table are in order.
    late_share = MISSING_SHARE if bag else 0.0
    return check_recording(signals, late_share=late_share, every=joints is not None)


def _recording_of_poses(signals: Signals) -> Recording:
    """Return static poses as a recording with a pose each second and zero velocities."""
    position = signals.values['position']
    still = np.zeros_like(position)
    return Recording(
        time=np.arange(len(position), dtype=np.float64),
        joints=signals.joints,
        position=position,
        torque=signals.values['torque'],
        velocity=still,
        acceleration=still,
        source=signals.source,
        findings=(*signals.findings, finding('static_poses', count=len(position))),
    )


def _quantities(mapping: Mapping[str, Any]) -> dict[str, str]:
    """Return the quantities of messages that a mapping names, by signal."""
    names = {signal: _single(mapping.get(signal)) for signal in FIELD_OF}
    return {signal: name for signal, name in names.items() if name is not None}


def _single(spec: Any) -> str | None:
    """Return the only column that an entry of a mapping names, or None."""
    name = spec.get('columns') if isinstance(spec, Mapping) else spec
    name = name[0] if isinstance(name, list) and len(name) == 1 else name
    return name if isinstance(name, str) else None


def recording_format(path: str | Path) -> str:
    """Return the format of a recording: rosbag2, or the name of one of `tables.formats`.

    :raises RecordingError: it does not exist or has another format
    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f'{path}: there is no such file or folder')
    if is_rosbag(path):
        return 'rosbag1' if path.suffix == '.bag' else 'rosbag2'
    if table := format_of(path):
        return table.name
    what = (
        'a folder without a rosbag2 in it' if path.is_dir()
        else f'a {path.suffix or "?"} file' if path.is_file()
        else 'a device, pipe or socket'
    )  # fmt: skip
    hint = ''
    if command := CONVERT.get(path.suffix.lower()):
        hint = f'; convert it: {command.replace("FILE", str(path))}'
    tables = ', '.join(each.endings[0] for each in FORMATS)
    raise RecordingError(
        f'{path}: expected a rosbag2 folder, .mcap, .db3, .bag, or a table ({tables}), got '
        f'{what}{hint}'
    )
