# SPDX-License-Identifier: Apache-2.0
import errno
import struct

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


def limit_disk(monkeypatch, writer, size):
    """Let the file of a writer fail as on a full disk, beyond a size; writes what fits."""
    file = writer._file

    class Full:
        def write(self, data):
            room = size - file.tell()
            if room <= 0:
                raise OSError(errno.ENOSPC, 'No space left on device')
            return file.write(data[:room])

        def __getattr__(self, name):
            return getattr(file, name)

    monkeypatch.setattr(writer, '_file', Full())


@pytest.mark.parametrize('count', [0, 1, 5000])
def test_rosbags_reads_what_was_written(tmp_path, count):
    messages = [(10 + index, b'%06d' % index * 30) for index in range(count)]
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    for time, data in messages:
        writer.add(data, time)
    writer.flush()
    assert (writer.count, writer.first) == (count, 10 if count else 0)
    writer.close(lambda: 'metadata')
    assert read_by_rosbags(tmp_path / 'a.mcap') == messages
    scan = McapScan(tmp_path / 'a.mcap', TOPIC.name, TOPIC.msgtype)
    assert list(scan.messages()) == messages and not scan.damage
    assert [path.name for path in tmp_path.iterdir()] == ['a.mcap']  # no reserve left


def test_what_is_flushed_survives_a_kill(tmp_path):
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    writer.add(b'one', 1)
    writer.flush()
    writer.add(b'lost', 2)
    content = (tmp_path / 'a.mcap').read_bytes()
    writer.close(str)
    (tmp_path / 'killed.mcap').write_bytes(content)
    scan = McapScan(tmp_path / 'killed.mcap', TOPIC.name, TOPIC.msgtype)
    assert list(scan.messages()) == [(1, b'one')]
    assert scan.damage == ['it has no index']


@pytest.mark.parametrize('size', [3000, 5000, 9999, 12345])
def test_a_full_disk_leaves_a_whole_file(tmp_path, monkeypatch, size):
    monkeypatch.setattr(module, 'CHUNK_SIZE', 700)
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    limit_disk(monkeypatch, writer, size)
    messages = [(index, b'%03d' % index * 40) for index in range(500)]
    with pytest.raises(OSError, match='No space left'):
        for time, data in messages:
            writer.add(data, time)
    writer.close(lambda: 'metadata')
    found = read_by_rosbags(tmp_path / 'a.mcap')
    assert found == messages[: len(found)]
    assert len(found) == writer.count
    assert (tmp_path / 'a.mcap').stat().st_size <= size
    assert len(found) >= (size - 2600) / 202  # bytes per message with its share of the index


def test_no_room_for_any_index(tmp_path, monkeypatch):
    writer = McapWriter(tmp_path / 'a.mcap', TOPIC)
    limit_disk(monkeypatch, writer, 10)
    with pytest.raises(OSError, match='No space left'):
        writer.close(lambda: 'metadata')
    assert writer._file.closed


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / 'a.mcap').write_text('mine')
    with pytest.raises(FileExistsError):
        McapWriter(tmp_path / 'a.mcap', TOPIC)
    assert (tmp_path / 'a.mcap').read_text() == 'mine'


def test_no_room_to_begin_leaves_nothing(tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(module.Path, 'write_bytes', full)
    with pytest.raises(OSError, match='No space left'):
        McapWriter(tmp_path / 'a.mcap', TOPIC)
    assert list(tmp_path.iterdir()) == []


def records_of(content):
    """Place, code and content of all records of a file."""
    at = 8
    while at < len(content) - 8:
        code, size = struct.unpack_from('<BQ', content, at)
        yield at, code, content[at + 9 : at + 9 + size]
        at += 9 + size


def test_chunk_indexes_name_the_message_index_of_each_topic(tmp_path, monkeypatch):
    monkeypatch.setattr(module, 'CHUNK_SIZE', 700)
    topics = [Topic(f'/{name}', 'pkg/msg/A', '', '[]') for name in 'AB']
    writer = McapWriter(tmp_path / 'a.mcap', topics)
    for time in range(60):
        writer.add(b'%03d' % time * 10, time, time % 2)
    writer.close(lambda: 'metadata')
    found = {at: (code, own) for at, code, own in records_of((tmp_path / 'a.mcap').read_bytes())}
    chunks = [own for code, own in found.values() if code == 8]  # chunk index
    assert len(chunks) > 2
    for own in chunks:
        start, _, size = struct.unpack_from('<QQI', own, 16)
        assert found[start][0] == 6 and size == 20  # a chunk
        for topic, place in struct.iter_unpack('<HQ', own[36:56]):
            code, index = found[place]
            assert code == 7 and struct.unpack_from('<H', index) == (topic,)  # message index


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


def test_rows_may_leave_out_the_last_topics(tmp_path):
    topics = [Topic(f'/{name}', f'pkg/msg/{name}', f'# {name}\n', '[]') for name in 'AB']
    writer = McapWriter(tmp_path / 'a.mcap', topics)
    stamps = np.arange(100, 103)
    writer.add_rows(stamps, [stamps[:, None].astype('<u8').view(np.uint8)])
    writer.add(b'last', 50, 1)
    writer.flush()
    assert (writer.counts, writer.first, writer.last) == ((3, 1), 50, 102)
    writer.close(lambda: 'metadata')
    with Reader(tmp_path / 'a.mcap') as reader:
        found = [(link.topic, time) for link, time, _ in reader.messages()]
    assert found == [('/B', 50), ('/A', 100), ('/A', 101), ('/A', 102)]
