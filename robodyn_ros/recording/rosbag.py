"""Read rosbag2 recordings: MCAP and sqlite3, a folder or one file, whole or damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.cdr import MSGTYPE, Group, JointStateDecoder
from robodyn_ros.recording.mcap import McapScan
from robodyn_ros.recording.recording import Finding
from robodyn_ros.recording.table import Table

SUFFIXES = ('.mcap', '.db3')


def is_rosbag(path: Path) -> bool:
    """Tell whether a path looks like a rosbag2 folder or one of its files."""
    if path.is_dir():
        return (path / 'metadata.yaml').exists() or bool(bag_files(path))
    return path.suffix in SUFFIXES


def bag_files(path: Path) -> list[Path]:
    """Return the storage files of a bag, in the order they were recorded."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if file.suffix in SUFFIXES]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def read_rosbag(path: Path, *, topic: str, joints: Sequence[str] | None) -> Table:
    """Read the joint states of a bag.

    Joints are matched by name in every message. Messages that do not hold all wanted joints
    (another publisher on the same topic, a gripper) are left out. Time is header.stamp, or the
    time in the bag when all stamps are zero. A damaged bag is read as far as it is readable.

    :param topic: topic of type sensor_msgs/msg/JointState
    :param joints: joints to read, in this order; None: those most messages hold
    :return: columns `time` [s] from the first stamp on, `position`, `velocity`, `torque`
    :raises RecordingError: nothing can be read, the topic is absent, or a joint is
    """
    topic = '/' + topic.lstrip('/')
    decoder, findings = _decoded(path, topic)
    try:
        groups = decoder.finish()
    except RecordingError as error:
        raise RecordingError(f'{path}: {error}') from error
    if decoder.damaged:
        count, reason = sum(decoder.damaged.values()), decoder.damaged.most_common(1)[0][0]
        findings.append(Finding('damaged_messages', f'{count} messages were left out ({reason})'))
    if not groups:
        raise RecordingError(f'{path}: there is no message on {topic!r}')
    names, chosen = _chosen(groups, joints, path)
    findings += _left_out(groups, chosen, topic)
    return _table(chosen, names, str(path), findings)


def _decoded(path: Path, topic: str) -> tuple[JointStateDecoder, list[Finding]]:
    reason = _needs_salvage(path)
    if not reason:
        decoder = JointStateDecoder()
        try:
            decoder.add_all(_indexed(path, topic))
        except RecordingError:
            raise
        except Exception as error:  # parsers fed with damaged bytes may raise anything
            reason = ' '.join(str(error).split()).rstrip('.') or type(error).__name__
        else:
            return decoder, []
    return _salvaged(path, topic, reason)


def _needs_salvage(path: Path) -> str:
    """Say why the index of the bag, if there is one, does not tell everything."""
    if path.is_dir() and not (path / 'metadata.yaml').exists():
        return 'it has no metadata.yaml'
    for file in bag_files(path):
        log = file.with_name(file.name + '-wal')
        if log.exists() and log.stat().st_size:
            return f'{file.name} was not closed'
    return ''


def _indexed(path: Path, topic: str) -> Iterator[tuple[int, bytes]]:
    from rosbags.rosbag2 import Reader

    with Reader(path) as reader:
        found = {link.topic: link.msgtype for link in reader.connections}
        _check_topic(found, topic, path)
        links = [link for link in reader.connections if link.topic == topic]
        for _, log_time, data in reader.messages(links):
            yield log_time, data


def _check_topic(found: dict[str, str], topic: str, path: Path) -> None:
    if found.get(topic) == MSGTYPE:
        return
    others = sorted(name for name, msgtype in found.items() if msgtype == MSGTYPE)
    what = f'has the type {found[topic]!r}' if topic in found else 'is not in the bag'
    hint = f'JointState topics in it: {others}' if others else 'it has no JointState topic'
    raise RecordingError(f'{path}: topic {topic!r} {what}; {hint}')


def _salvaged(path: Path, topic: str, reason: str) -> tuple[JointStateDecoder, list[Finding]]:
    """Read a bag without trusting its index."""
    decoder, found, damage = JointStateDecoder(), dict[str, str](), list[str]()
    for file in bag_files(path):
        scan = _scan_mcap if file.suffix == '.mcap' else _scan_sqlite
        try:
            decoder.add_all(scan(file, topic, found, damage))
        except Exception as error:  # as above
            damage.append(f'{file.name}: {error}')
    if not found:
        raise RecordingError(f'{path}: the bag cannot be read ({"; ".join([reason, *damage])})')
    _check_topic(found, topic, path)
    if not damage:
        text = f'{reason}; all {decoder.rows} messages were read without it'
        return decoder, [Finding('bag_without_index', text, severity='info')]
    text = f'the bag is damaged ({damage[0]}); {decoder.rows} messages could be read'
    return decoder, [Finding('damaged_bag', text)]


def _scan_mcap(
    file: Path, topic: str, found: dict[str, str], damage: list[str]
) -> Iterator[tuple[int, bytes]]:
    scan = McapScan(file)
    try:
        for channel, log_time, data in scan.messages():
            if channel.topic == topic and channel.msgtype == MSGTYPE:
                yield log_time, data
    finally:
        found.update({channel.topic: channel.msgtype for channel in scan.channels.values()})
        damage += [f'{file.name}: {text}' for text in scan.damage]


def _scan_sqlite(
    file: Path, topic: str, found: dict[str, str], damage: list[str]
) -> Iterator[tuple[int, bytes]]:
    with TemporaryDirectory() as folder:
        database = sqlite3.connect(f'{_full_size(file, folder).as_uri()}?mode=ro', uri=True)
        try:
            topics = {
                number: (str(name), str(msgtype))
                for number, name, msgtype in database.execute('SELECT id, name, type FROM topics')
            }
            found.update(topics.values())
            wanted = {number for number, entry in topics.items() if entry == (topic, MSGTYPE)}
            # Order of arrival, by the table itself: the index over the times may be damaged.
            query = 'SELECT topic_id, timestamp, data FROM messages NOT INDEXED'
            for number, log_time, data in database.execute(query):
                if number in wanted and isinstance(data, bytes) and isinstance(log_time, int):
                    yield log_time, data
        except sqlite3.Error as error:
            damage.append(f'{file.name}: {error}')
        finally:
            database.close()


def _full_size(file: Path, folder: str) -> Path:
    """Return a database that SQLite opens: a cut off one is copied and extended by empty pages."""
    with file.open('rb') as stream:
        head = stream.read(32)
    size = int.from_bytes(head[16:18], 'big') * int.from_bytes(head[28:32], 'big')
    actual = file.stat().st_size
    if not head.startswith(b'SQLite format 3') or not actual < size < 1000 * actual:
        return file.resolve()
    copy = Path(folder) / file.name
    shutil.copyfile(file, copy)
    os.truncate(copy, size)
    return copy


def _chosen(
    groups: list[Group], joints: Sequence[str] | None, path: Path
) -> tuple[tuple[str, ...], list[Group]]:
    """Return the joints to read and the groups of messages that hold them all."""
    if joints is None:
        counts: dict[frozenset[str], int] = {}
        for group in groups:
            key = frozenset(group.names)
            counts[key] = counts.get(key, 0) + group.count
        # Equally many messages of arm and gripper: the one with more joints is the robot.
        most = max(counts.values())
        best = max(counts, key=lambda key: (round(counts[key] / most, 1), len(key)))
        names = next(group.names for group in groups if frozenset(group.names) == best)
        return names, [group for group in groups if frozenset(group.names) == best]
    names = tuple(joints)
    chosen = [group for group in groups if set(names) <= set(group.names)]
    if chosen:
        return names, chosen
    known = sorted({name for group in groups for name in group.names})
    missing = [name for name in names if name not in known]
    if missing:
        raise RecordingError(
            f'{path}: joint {missing[0]!r} is not in the recording, which has {known}'
        )
    raise RecordingError(
        f'{path}: no message holds all of {list(names)}; the joints come in different messages: '
        f'{[list(group.names) for group in groups]}'
    )


def _left_out(groups: list[Group], chosen: list[Group], topic: str) -> list[Finding]:
    others = [group for group in groups if group not in chosen]
    if not others:
        return []
    count = sum(group.count for group in others)
    joints = sorted({name for group in others for name in group.names})
    text = f'{count} messages on {topic} with other joints were left out ({joints})'
    return [Finding('other_messages', text, severity='info')]


def _table(
    chosen: list[Group], names: tuple[str, ...], source: str, findings: list[Finding]
) -> Table:
    rows = np.concatenate([group.take('row') for group in chosen])
    order = np.argsort(rows, kind='stable') if len(chosen) > 1 else None
    columns = {}
    for column in ('stamp', 'log'):
        values = np.concatenate([group.take(column) for group in chosen])
        columns[column] = values if order is None else values[order]
    for column in ('position', 'velocity', 'effort'):
        parts = []
        for group in chosen:
            values = group.take(column)
            if group.names != names:
                values = values[:, [group.names.index(name) for name in names]]
            parts.append(values)
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        columns[column] = joined if order is None else joined[order]
    stamps = columns['stamp']
    if not stamps.any():
        stamps = columns['log']
        text = 'all header stamps are zero; the times at which the bag got the messages are used'
        findings.append(Finding('bag_time_used', text))
    origin = int(stamps[0])
    signals = {
        'time': (stamps - origin) / 1e9,
        'position': columns['position'],
        'torque': columns['effort'],
    }
    if not np.isnan(columns['velocity']).all():
        signals['velocity'] = columns['velocity']
    return Table(signals, source=source, joints=names, origin=origin, findings=tuple(findings))
