# SPDX-License-Identifier: Apache-2.0
"""Reader of recordings of any format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.bag_scan import is_rosbag
from robodyn_ros.recording.bags.rosbag import FIELD_OF, read_rosbag
from robodyn_ros.recording.bags.topic_bag import topic_types
from robodyn_ros.recording.checks import check_recording
from robodyn_ros.recording.missing_values import MISSING_SHARE
from robodyn_ros.recording.poses import read_poses
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import Signals, load_columns, signals_from
from robodyn_ros.recording.tables.formats import CONVERT, FORMATS, format_of
from robodyn_ros.recording.tables.table import Table
from robodyn_ros.recording.topics.messages import KINDS
from robodyn_ros.recording.topics.rename import rename_hint, rename_joints

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
    request = _Request(Path(path), columns, joints, part, tuple(rename))
    if topic is not None or not recording_format(path).startswith('rosbag'):
        return request.read(topic or TOPIC)
    reasons: list[str] = []
    lines: list[str] = []
    for name, findings in _candidates(path):
        try:
            return request.read(name, findings)
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


@dataclass(frozen=True)
class _Request:
    """Arguments of `read_recording` without the topic."""

    path: Path
    columns: Mapping[str, object] | str | Path | None
    joints: Sequence[str] | None
    part: int | None
    rename: tuple[str, ...]

    def read(self, topic: str, findings: Sequence[Finding] = ()) -> Recording:
        """Read the recording, and report the findings too."""
        columns, bag = self.columns, is_rosbag(self.path)
        mapping = None if columns is None else load_columns(columns)
        table = self._table(topic, mapping or {})
        try:
            signals = self._signals(table, mapping)
        except RecordingError as error:
            if not bag and (poses := self._poses(table, mapping or {})):
                return poses
            if not isinstance(columns, (str, Path)):
                raise
            lines = () if bag else error.lines  # those of a bag are the known ones
            raise RecordingError(f'column mapping {columns}: {error}', lines=lines) from error
        if not bag and 'velocity' in signals.values and (poses := read_poses(signals)):
            return poses
        # Transport may deliver messages late, and clocks are set; rows of a table are in order.
        late_share = MISSING_SHARE if bag else 0.0
        del table  # frees unused columns before the checks
        signals.findings += findings
        return check_recording(signals, late_share=late_share, every=self.joints is not None)

    def _table(self, topic: str, mapping: Mapping[str, Any]) -> Table:
        if not is_rosbag(self.path):
            table = format_of(self.path)
            assert table is not None  # otherwise recording_format raises
            return table.read(self.path)
        chosen = {}
        for signal in FIELD_OF:
            spec = mapping.get(signal)
            names = spec.get('columns') if isinstance(spec, Mapping) else spec
            name = names[0] if isinstance(names, list) and len(names) == 1 else names
            if isinstance(name, str):
                chosen[signal] = name
        return read_rosbag(
            self.path, topic=topic, joints=self.joints, chosen=chosen, part=self.part,
            rename=self.rename,
        )  # fmt: skip

    def _poses(self, table: Table, mapping: Mapping[str, Any]) -> Recording | None:
        """Return the static poses of a table that lacks nothing but the time."""
        if mapping.get('time'):
            return None
        with suppress(RecordingError):
            return read_poses(self._signals(table, {**mapping, 'time': {'period': 1.0}}))
        return None

    def _signals(self, table: Table, mapping: Mapping[str, Any] | None) -> Signals:
        """Return the signals of the joints; those of a table are renamed here."""
        joints = self.joints
        if is_rosbag(self.path) or not (joints or self.rename):
            return signals_from(table, mapping, joints)
        try:
            if not self.rename:
                return signals_from(table, mapping, joints)
            signals = signals_from(table, mapping)
            signals.joints = rename_joints(signals.joints, self.rename)
            if joints is not None:
                signals.select(joints)
            return signals
        except RecordingError as error:
            known = signals_from(table, mapping).joints
            hint = rename_hint(joints or known, rename_joints(known, self.rename))
            raise type(error)(f'{error}{hint}', lines=error.lines) from error


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
