# SPDX-License-Identifier: Apache-2.0
import struct
import zlib

import pytest
from bags import JOINT_STATE, cdr, wave, write_bag
from lz4.frame import compress

from robodyn_ros import bounds
from robodyn_ros.bounds import Bound, BoundError
from robodyn_ros.recording.bags.mcap import MAGIC, McapScan, metadata_of


def record(code, content):
    return struct.pack('<BQ', code, len(content)) + content


def text(value):
    return struct.pack('<I', len(value)) + value.encode()


SCHEMA = record(3, struct.pack('<H', 7) + text(JOINT_STATE) + text('ros2msg') + text(''))
CHANNEL = record(4, struct.pack('<HH', 2, 7) + text('/joint_states') + text('cdr') + text(''))
OTHER = record(4, struct.pack('<HH', 3, 7) + text('/other') + text('cdr') + text(''))
HEAD = MAGIC + record(1, text('ros2') + text('test'))
TAIL = record(15, bytes(4)) + record(2, bytes(20)) + MAGIC


def message(data, channel=2, time=5):
    return record(5, struct.pack('<HIQQ', channel, 0, time, time) + data)


def chunk(records, compression='', checksum=None, size=None):
    packed = compress(records) if compression == 'lz4' else records
    checksum = zlib.crc32(records) if checksum is None else checksum
    head = struct.pack('<QQQI', 0, 9, len(records) if size is None else size, checksum)
    return record(6, head + text(compression) + struct.pack('<Q', len(packed)) + packed)


def scanned(path, content):
    path.write_bytes(content)
    scan = McapScan(path, '/joint_states', JOINT_STATE)
    return list(scan.messages()), scan


def test_a_whole_file_of_rosbags(tmp_path):
    entries = [(time, cdr(state)) for time, state in wave(5000)]
    bag = write_bag(tmp_path / 'bag', entries)
    scan = McapScan(bag / 'bag.mcap', '/joint_states', JOINT_STATE)
    assert list(scan.messages()) == entries
    assert scan.damage == []
    assert scan.topics == {'/joint_states': JOINT_STATE}


def test_messages_outside_of_chunks_and_of_other_topics(tmp_path):
    content = HEAD + SCHEMA + CHANNEL + OTHER + message(b'a') + message(b'x', 3)
    found, scan = scanned(tmp_path / 'a.mcap', content + message(b'b', time=6) + TAIL)
    assert found == [(5, b'a'), (6, b'b')]
    assert scan.damage == []
    private = record(200, bytes(256))
    found, scan = scanned(tmp_path / 'b.mcap', content + private + message(b'b', time=6) + TAIL)
    assert found == [(5, b'a'), (6, b'b')] and scan.damage == []
    assert set(scan.topics) == {'/joint_states', '/other'}


def test_fewer_messages_than_the_summary_counts_are_damage(tmp_path):
    counts = struct.pack('<HQHQ', 2, 3, 3, 9)
    statistics = record(11, bytes(42) + struct.pack('<I', len(counts)) + counts)
    tail = record(15, bytes(4)) + statistics + record(2, bytes(20)) + MAGIC
    content = HEAD + SCHEMA + CHANNEL + message(b'a') + message(b'b', time=6)
    found, scan = scanned(tmp_path / 'a.mcap', content + tail)
    assert len(found) == 2
    assert scan.damage == ['it holds 2 messages of the topic, and 3 by its summary']
    assert not scanned(tmp_path / 'b.mcap', content + message(b'c', time=7) + tail)[1].damage


def test_compressed_chunks(tmp_path):
    body = chunk(SCHEMA + CHANNEL + message(b'a'), 'lz4') + chunk(message(b'b'))
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + body + TAIL)
    assert found == [(5, b'a'), (5, b'b')]
    assert scan.damage == []


@pytest.mark.parametrize(
    'bad, reason',
    [
        (chunk(message(b'lost'), checksum=1), 'checksum is wrong'),
        (chunk(message(b'lost'), size=3), 'expected 3 bytes'),
        (chunk(message(b'lost'), size=2**40), 'a chunk of'),
        (chunk(message(b'lost'), 'zip'), "'zip' is not known"),
        (record(6, b'short'), 'damaged'),
        (chunk(message(b'lost')[:-1]), 'cut off'),
        (record(4, b'\0'), 'a record is damaged'),
    ],
)
def test_a_damaged_part_costs_that_part_only(tmp_path, bad, reason):
    content = HEAD + SCHEMA + CHANNEL + message(b'a') + bad + message(b'b') + TAIL
    found, scan = scanned(tmp_path / 'a.mcap', content)
    assert found == [(5, b'a'), (5, b'b')]
    assert reason in scan.damage[0]


@pytest.mark.parametrize('compression, kept', [('', 1), ('lz4', 0)])
def test_what_is_there_of_a_cut_off_chunk(tmp_path, compression, kept):
    last = chunk(SCHEMA + CHANNEL + message(b'first') + message(b'second'), compression)
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + last[:-3])
    assert found == [(5, b'first')] * kept
    assert 'cut off at byte' in scan.damage[0]


def test_a_killed_recorder_leaves_no_index(tmp_path):
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + SCHEMA + CHANNEL + message(b'a'))
    assert found == [(5, b'a')]
    assert scan.damage == ['it has no index']
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + SCHEMA + CHANNEL + message(b'a') + TAIL[:-2])
    assert found == [(5, b'a')]
    assert scan.damage == ['its index is cut off']


def test_no_mcap_at_all(tmp_path):
    found, scan = scanned(tmp_path / 'a.mcap', b'something else')
    assert not found
    assert scan.damage == ['it does not start like an MCAP file']


@pytest.mark.parametrize(
    ('counts', 'damaged'),
    [(b'', False), (struct.pack('<HQ', 2, 2), True), (struct.pack('<HQ', 2, 1), False)],
)
@pytest.mark.parametrize('rest', [b'', b'abc'])
def test_number_of_messages_is_compared_with_the_summary(tmp_path, counts, damaged, rest):
    """A summary may leave counts out, and a damaged one must not raise."""
    message = record(5, struct.pack('<HIQQ', 2, 0, 7, 7) + b'data')
    statistics = record(11, bytes(46) + counts + rest)
    path = tmp_path / 'bag.mcap'
    path.write_bytes(
        MAGIC + SCHEMA + CHANNEL + message + record(15, bytes(4)) + statistics + MAGIC
    )
    scan = McapScan(path, '/joint_states', JOINT_STATE)
    assert len(list(scan.messages())) == 1
    assert bool(scan.damage) == damaged, scan.damage


def test_a_topic_without_messages_needs_no_count(tmp_path):
    statistics = record(11, bytes(46) + struct.pack('<HQ', 3, 1))
    content = MAGIC + SCHEMA + CHANNEL + OTHER + message(b'x', 3) + record(15, bytes(4))
    found, scan = scanned(tmp_path / 'a.mcap', content + statistics + MAGIC)
    assert not found and not scan.damage


def test_name_and_entries_of_metadata():
    entries = b''.join(text(word) for word in ('a', '1', 'b', ''))
    content = text('rosbag2') + struct.pack('<I', len(entries)) + entries
    assert metadata_of(content + b'rest') == ('rosbag2', {'a': '1', 'b': ''})


def test_checksum_of_the_data_is_compared(tmp_path):
    """A flipped opcode outside of chunks loses a message, and no count tells."""
    data = HEAD + SCHEMA + CHANNEL + message(b'a') + message(b'b', time=6)
    tail = record(15, struct.pack('<I', zlib.crc32(data))) + record(2, bytes(20)) + MAGIC
    assert scanned(tmp_path / 'a.mcap', data + tail)[1].damage == []
    at = data.rindex(message(b'b', time=6))
    flipped = data[:at] + b'\x07' + data[at + 1 :]
    found, scan = scanned(tmp_path / 'b.mcap', flipped + tail)
    assert len(found) == 1 and scan.damage == ['its checksum is wrong']
    unchecked = HEAD + chunk(SCHEMA + CHANNEL + message(b'a'), checksum=0)
    assert scanned(tmp_path / 'c.mcap', unchecked + tail)[1].damage == ['its checksum is wrong']


@pytest.mark.parametrize('code, known', [(0, False), (7, False), (16, False), (128, True)])
def test_records_of_an_unknown_type_in_a_chunk(tmp_path, code, known):
    records = SCHEMA + CHANNEL + message(b'a') + record(code, b'x')
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + chunk(records) + TAIL)
    assert found == [(5, b'a')]
    assert scan.damage == ([] if known else ['it has records of an unknown type'])


def test_chunks_that_expand_too_much_end_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, 'RECORD', Bound(1000, 'bytes', 'a record', ''))
    zeros = chunk(record(200, bytes(4_000_000)), 'lz4')
    path = tmp_path / 'a.mcap'
    with pytest.raises(BoundError, match='at most 200 times its size'):
        scanned(path, HEAD + SCHEMA + CHANNEL + zeros + TAIL)
