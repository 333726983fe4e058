# SPDX-License-Identifier: Apache-2.0
import errno

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

from robodyn_ros.recording.bags import mcap_writer as module
from robodyn_ros.recording.bags.mcap import McapScan
from robodyn_ros.recording.bags.mcap_writer import McapWriter, Topic

TOPIC = Topic('/joint_states', 'sensor_msgs/msg/JointState', 'string[] name\n', '[]')


def read_by_rosbags(path):
    with Reader(path) as reader:
        assert [link.topic for link in reader.connections] == ['/joint_states']
        return [(time, bytes(data)) for _, time, data in reader.messages()]


def break_disk(writer, size, reserve):
    """Let the disk of a writer be full at a size, beyond which it has the reserve only."""
    disk, file = writer._disk, writer._disk._file

    class Full:
        def write(self, data):
            free = size + (reserve if disk._reserve.closed else 0) - file.tell()
            if free <= 0:
                raise OSError(errno.ENOSPC, 'No space left on device')
            return file.write(data[:free])

        def __getattr__(self, name):
            return getattr(file, name)

    disk._file = Full()


@pytest.mark.parametrize('size', [3000, 12345])
def test_a_full_disk_leaves_a_complete_file(tmp_path, monkeypatch, size):
    monkeypatch.setattr(module, 'CHUNK_SIZE', 700)
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    break_disk(writer, size, module.RESERVE)
    messages = [(index, b'%03d' % index * 40) for index in range(500)]
    with pytest.raises(OSError, match='No space left'):
        for time, data in messages:
            writer.add(data, time)
    writer.close(lambda: 'metadata')
    found = read_by_rosbags(tmp_path / 'a.mcap')
    assert found == messages[: len(found)]
    assert len(found) == writer.count >= (size - 1000) / 202


def test_the_reserve_holds_the_index_of_every_chunk(tmp_path):
    """At 10 chunks of one message the index needs more space than the messages."""
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    start = writer._disk._reserved
    for time in range(3000):
        writer.add(b'x', time)
        writer.flush()
    end = writer._disk.tell()
    writer.close(lambda: 'metadata')
    assert (tmp_path / 'a.mcap').stat().st_size - end < writer._disk._reserved
    assert writer._disk._reserved > start


def test_a_broken_disk_leaves_what_was_complete(tmp_path):
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    writer.add(b'kept', 1)
    writer.flush()
    break_disk(writer, writer._disk.tell() + 20, 0)
    writer.add(b'lost', 2)
    with pytest.raises(OSError, match='No space left'):
        writer.flush()
    with pytest.raises(OSError, match='No space left'):
        writer.close(lambda: 'metadata')
    scan = McapScan(tmp_path / 'a.mcap', TOPIC.name, TOPIC.msgtype)
    assert list(scan.messages()) == [(1, b'kept')] and writer.count == 1
    assert writer._disk._file.closed


def test_no_room_to_begin_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(module.os, 'posix_fallocate', full)
    with pytest.raises(OSError, match='No space left'):
        McapWriter(tmp_path / 'a.mcap', TOPIC)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('by_rows', [False, True])
def test_several_topics_in_one_file(tmp_path, by_rows):
    topics = [Topic(f'/{name}', f'pkg/msg/{name}', f'# {name}\n', '[]') for name in 'ABC']
    writer = McapWriter(tmp_path / 'a.mcap', topics)
    stamps = np.arange(100, 3100)
    data = [stamps[:, None].astype('>u4').view(np.uint8), stamps[:, None].astype('<u8')]
    data = [data[0], data[1].view(np.uint8), data[0][:, 2:]]
    if by_rows:
        for first in range(0, 3000, 700):
            rows = slice(first, first + 700)
            writer.add_rows(stamps[rows], [own[rows] for own in data])
    else:
        for row, stamp in enumerate(stamps.tolist()):
            for topic in (0, 1, 2):
                writer.add(data[topic][row].tobytes(), stamp, topic)
    writer.flush()
    assert writer.counts == (3000, 3000, 3000)
    writer.add(b'last', 5000, 1)
    writer.flush()
    assert (writer.counts, writer.first, writer.last) == ((3000, 3001, 3000), 100, 5000)
    writer.close(lambda: 'metadata')
    seen = {topic.name: [] for topic in topics}
    with Reader(tmp_path / 'a.mcap') as reader:
        for link, time, message in reader.messages():
            assert link.msgtype == f'pkg/msg/{link.topic[1:]}'
            seen[link.topic].append((time, bytes(message)))
    for topic, own in zip(topics, data, strict=True):
        expected = [(time, row.tobytes()) for time, row in zip(stamps.tolist(), own, strict=True)]
        more = [(5000, b'last')] if topic.name == '/B' else []
        assert seen[topic.name] == expected + more
        scan = McapScan(tmp_path / 'a.mcap', topic.name, topic.msgtype)
        assert list(scan.messages()) == expected + more and not scan.damage
