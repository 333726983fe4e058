# SPDX-License-Identifier: Apache-2.0
"""Reader of recordings of any format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.bags.bag_scan import is_rosbag
from robodyn_ros.recording.bags.joint_state_decoder import MSGTYPE
from robodyn_ros.recording.bags.rosbag import read_rosbag
from robodyn_ros.recording.bags.topic_bag import topic_types
from robodyn_ros.recording.checks import check_recording
from robodyn_ros.recording.missing_values import MISSING_SHARE
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.tables.columns import load_columns, signals_from
from robodyn_ros.recording.tables.formats import CONVERT, FORMATS, format_of
from robodyn_ros.recording.tables.table import Table

TOPIC = '/joint_states'
"""Topic of a bag that is read if it has the joints, and none is named."""


def read_recording(
    path: str | Path,
    *,
    columns: Mapping[str, object] | str | Path | None = None,
    topic: str | None = None,
    joints: Sequence[str] | None = None,
) -> Recording:
    """Read and check a recording: rosbag2 (folder, .mcap, .db3), or a table of `tables.formats`.

    Every command and node reads its recordings here, so that all find the same topic and joints.
    Joints are matched by name. Columns of a file without names (NPZ, MAT) are named by `joints`,
    or joint1, joint2, ..., with a finding.

    :param columns: meaning and units of the columns (a mapping or its YAML file, see
        `columns.py`); for bags the columns are time, position, velocity and torque
    :param topic: JointState topic of a bag; None: `TOPIC`, or the first other one that has the
        joints with position and effort, with a finding
    :param joints: joints to read, in this order; None: all that have position and torque
    :return: recording with findings about everything repaired or suspicious (see `checks.py`)
    :raises RecordingError: it cannot be read, or its content cannot be used
    :raises MissingSignalError: it has no such topic, joint or signal
    """
    if topic is not None or recording_format(path) != 'rosbag2':
        return _read(path, columns, topic or TOPIC, joints)
    reasons = []
    for name, findings in _candidates(path):
        try:
            return _read(path, columns, name, joints, findings)
        except MissingSignalError as error:
            reasons.append(str(error) if name == TOPIC else f'{error} ({name})')
    raise MissingSignalError('; '.join(reasons))


def _candidates(path: str | Path) -> Iterator[tuple[str, list[Finding]]]:
    """Yield the topics of a bag to try, and what to report if one is read."""
    yield TOPIC, []
    topics = {name for name, kind in topic_types(path).items() if kind == MSGTYPE} - {TOPIC}
    usual = {name for name in topics if name.endswith(TOPIC)}
    for name in (*sorted(usual), *sorted(topics - usual)):
        others = ', '.join(sorted((usual if name in usual else topics - usual) - {name}))
        key = 'topic_chosen.of_several' if others else 'topic_chosen'
        yield name, [finding(key, topic=name, others=others)]


def _read(
    path: str | Path,
    columns: Mapping[str, object] | str | Path | None,
    topic: str,
    joints: Sequence[str] | None,
    findings: Sequence[Finding] = (),
) -> Recording:
    mapping = None if columns is None else load_columns(columns)
    table = _table(Path(path), topic, joints)
    try:
        signals = signals_from(table, mapping, joints)
    except RecordingError as error:
        if not isinstance(columns, (str, Path)):
            raise
        lines = () if is_rosbag(Path(path)) else error.lines  # those of a bag are the known ones
        raise RecordingError(f'column mapping {columns}: {error}', lines=lines) from error
    # Transport may deliver messages late, and clocks are set; the rows of a table are in order.
    late_share = MISSING_SHARE if is_rosbag(Path(path)) else 0.0
    del table  # frees unused columns before the checks
    signals.findings += findings
    return check_recording(signals, late_share=late_share, every=joints is not None)


def recording_format(path: str | Path) -> str:
    """Return the format of a recording: rosbag2, or the name of one of `tables.formats`.

    :raises RecordingError: it does not exist or has another format
    """
    path = Path(path)
    if not path.exists():
        raise RecordingError(f'{path}: there is no such file or folder')
    if is_rosbag(path):
        return 'rosbag2'
    if table := format_of(path):
        return table.name
    what = (
        'a folder without a rosbag2 in it' if path.is_dir()
        else f'a {path.suffix or "?"} file' if path.is_file()
        else 'a device, pipe or socket'
    )  # fmt: skip
    hint = '; ROS 1 bags can be converted with rosbags-convert' if path.suffix == '.bag' else ''
    if command := CONVERT.get(path.suffix.lower()):
        hint = f'; convert it: {command.replace("FILE", str(path))}'
    tables = ', '.join(each.endings[0] for each in FORMATS)
    raise RecordingError(
        f'{path}: expected a rosbag2 folder, .mcap, .db3, or a table ({tables}), got {what}{hint}'
    )


def _table(path: Path, topic: str, joints: Sequence[str] | None) -> Table:
    if recording_format(path) == 'rosbag2':
        return read_rosbag(path, topic=topic, joints=joints)
    table = format_of(path)
    assert table is not None  # otherwise recording_format raises
    return table.read(path)
