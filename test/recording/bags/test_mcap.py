# SPDX-License-Identifier: Apache-2.0
import struct
import zlib

import pytest
from bags import JOINT_STATE
from lz4.frame import compress

from robodyn_ros.recording.bags.mcap import MAGIC, McapScan


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


def test_messages_outside_of_chunks_and_of_other_topics(tmp_path):
    content = HEAD + SCHEMA + CHANNEL + OTHER + message(b'a') + message(b'x', 3)
    found, scan = scanned(tmp_path / 'a.mcap', content + message(b'b', time=6) + TAIL)
    assert found == [(5, b'a'), (6, b'b')]
    assert scan.damage == []
    private = record(200, bytes(256))
    found, scan = scanned(tmp_path / 'b.mcap', content + private + message(b'b', time=6) + TAIL)
    assert found == [(5, b'a'), (6, b'b')] and scan.damage == []
    assert set(scan.topics) == {'/joint_states', '/other'}


def test_compressed_chunks(tmp_path):
    body = chunk(SCHEMA + CHANNEL + message(b'a'), 'lz4') + chunk(message(b'b'))
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + body + TAIL)
    assert found == [(5, b'a'), (5, b'b')]
    assert scan.damage == []


@pytest.mark.parametrize(
    'bad, reason',
    [
        (chunk(message(b'lost'), checksum=1), 'checksum is wrong'),
        (chunk(message(b'lost')[:9], size=3), 'expected 3'),
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


@pytest.mark.parametrize('compression', ['', 'lz4'])
def test_what_is_there_of_a_cut_off_chunk(tmp_path, compression):
    first = chunk(SCHEMA + CHANNEL + message(b'first'), compression)
    last = chunk(b''.join(message(b'second') for _ in range(9)), compression)
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + first + last[:-30])
    assert found[0] == (5, b'first') and len(found) < 10
    assert 'it is cut off, without an index' in scan.damage


def test_a_bag_without_messages_has_topics(tmp_path):
    content = HEAD + TAIL[:13] + SCHEMA + CHANNEL + TAIL[13:]
    found, scan = scanned(tmp_path / 'a.mcap', content)
    assert not found and scan.topics == {'/joint_states': JOINT_STATE} and not scan.damage


@pytest.mark.parametrize('code', [0, 7, 16, 128])
def test_records_of_an_unknown_type_in_a_chunk(tmp_path, code):
    records = SCHEMA + CHANNEL + message(b'a') + record(code, b'x')
    found, scan = scanned(tmp_path / 'a.mcap', HEAD + chunk(records) + TAIL)
    assert found == [(5, b'a')]
    assert scan.damage == ([] if code else ['it has records of an unknown type'])
