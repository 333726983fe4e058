# SPDX-License-Identifier: Apache-2.0
"""Hostile bags: MCAP, sqlite3 and metadata.yaml."""

from __future__ import annotations

import os
import sqlite3
import struct
from pathlib import Path

import numpy as np
import yaml
from faults.corpus import chunk, flat_mcap, record
from faults.makers import GB, Make, text
from mcap.opcode import Opcode

from robodyn_ros.recording.bags.mcap import MAGIC


def _messages(count: int = 50) -> list[tuple[int, bytes]]:
    from bags import cdr, wave

    return [(time, cdr(state)) for time, state in wave(count)]


def _mcap(extra: bytes) -> Make:
    """Return a maker of a good file with records before its end."""

    def make(path: Path) -> None:
        data = flat_mcap(_messages())
        end = len(data) - len(MAGIC) - 13 - 29
        path.write_bytes(data[:end] + extra + data[end:])

    return make


def _chunk_bombs(form: str, size: int, count: int = 1) -> Make:
    def make(path: Path) -> None:
        _mcap(count * chunk(bytes(size), form))(path)

    return make


def _lying_chunk(form: str) -> Make:
    """Return a maker of a chunk of 2 GB that claims to have 100 bytes."""

    def make(path: Path) -> None:
        if form == 'lz4':
            import lz4.frame

            with lz4.frame.LZ4FrameCompressor() as packer:
                parts = [packer.begin()]
                parts += [packer.compress(bytes(2**24)) for _ in range(2 * GB // 2**24)]
                packed = b''.join([*parts, packer.flush()])
        else:
            from zstandard import ZstdCompressor

            stream = ZstdCompressor().compressobj()
            parts = [stream.compress(bytes(2**24)) for _ in range(2 * GB // 2**24)]
            packed = b''.join([*parts, stream.flush()])
        head = struct.pack('<QQQI', 0, 0, 100, 0) + struct.pack('<I', len(form)) + form.encode()
        content = head + struct.pack('<Q', len(packed)) + packed
        _mcap(record(Opcode.CHUNK, content))(path)

    return make


def _fake_names(path: Path) -> None:
    """Write messages that each name other joints, so that each has a layout of its own."""
    from bags import cdr, message

    rows = [(n, cdr(message(n, [f'j{n}'], [1.0], [1.0], [1.0]))) for n in range(1, 5000)]
    path.write_bytes(flat_mcap(rows))


def _wide(path: Path) -> None:
    """Write messages of three thousand joints."""
    from bags import cdr, message

    names, values = [f'j{n}' for n in range(3000)], np.arange(3000.0)
    rows = [(n, cdr(message(n, names, values + n, values, values + n))) for n in range(1, 40)]
    path.write_bytes(flat_mcap(rows))


def _database(*statements: str) -> Make:
    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()

    return make


TOPICS = (
    'CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)',
    "INSERT INTO topics VALUES (1, '/joint_states', 'sensor_msgs/msg/JointState')",
)
ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)'
COLUMNS = '(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)'

BAGS: dict[str, tuple[str, Make]] = {
    'a zstd chunk of 400 MB': ('x.mcap', _chunk_bombs('zstd', 400_000_000)),
    'a lz4 chunk of 400 MB': ('x.mcap', _chunk_bombs('lz4', 400_000_000)),
    'forty zstd chunks of 250 MB': ('x.mcap', _chunk_bombs('zstd', 250_000_000, 40)),
    'a zstd chunk that claims less': ('x.mcap', _lying_chunk('zstd')),
    'a lz4 chunk that claims less': ('x.mcap', _lying_chunk('lz4')),
    'a chunk that claims 2^63 bytes': ('x.mcap', _mcap(chunk(b'x', 'zstd', 2**63))),
    'an unknown compression': (
        'x.mcap',
        _mcap(record(Opcode.CHUNK, bytes(28) + b'\3\0\0\0xyz' + bytes(8))),
    ),
    'a record of 2^63 bytes': ('x.mcap', _mcap(struct.pack('<BQ', 5, 2**63))),
    'a record of 2^64-1 bytes': ('x.mcap', _mcap(struct.pack('<BQ', 5, 2**64 - 1))),
    'a sparse record of 5 GB': (
        'x.mcap',
        lambda path: (
            path.write_bytes(MAGIC + struct.pack('<BQ', 99, 5 * GB)),
            os.truncate(path, 6 * GB),
        ),
    ),
    'a sparse chunk of 5 GB': (
        'x.mcap',
        lambda path: (
            path.write_bytes(MAGIC + struct.pack('<BQ', Opcode.CHUNK, 5 * GB)),
            os.truncate(path, 6 * GB),
        ),
    ),
    'a summary of 6 GB': (
        'x.mcap',
        lambda path: (
            path.write_bytes(
                MAGIC + record(Opcode.DATA_END, bytes(4)) + record(99, b'') * 300_000
            ),
            os.truncate(path, 6 * GB),
        ),
    ),
    'a million empty records': ('x.mcap', _mcap(record(99, b'') * 1_000_000)),
    'a statistics record of nothing': ('x.mcap', _mcap(record(Opcode.STATISTICS, b''))),
    'metadata without end': (
        'x.mcap',
        lambda path: path.write_bytes(
            MAGIC + record(Opcode.METADATA, struct.pack('<I', 2**31) + b'x' * 100)
        ),
    ),
    'joints that change always': ('x.mcap', _fake_names),
    'three thousand joints': ('x.mcap', _wide),
    'messages without end': (
        'x.db3',
        _database(
            *TOPICS,
            f'CREATE VIEW messages AS {ENDLESS} SELECT x AS id, 1 AS topic_id, '
            "x AS timestamp, x'00' AS data FROM n",
        ),
    ),
    'topics without end': (
        'x.db3',
        _database(
            f'CREATE VIEW topics AS {ENDLESS} SELECT x AS id, x AS name, x AS type FROM n',
            f'CREATE TABLE messages{COLUMNS}',
        ),
    ),
    'a view that computes for ever': (
        'x.db3',
        _database(
            *TOPICS,
            f'CREATE VIEW messages AS {ENDLESS} SELECT 1 AS id, 1 AS topic_id, '
            "max(x) AS timestamp, x'00' AS data FROM n",
        ),
    ),
    'a view of a view of itself': (
        'x.db3',
        _database(
            *TOPICS,
            'CREATE VIEW messages AS SELECT * FROM other',
            'CREATE VIEW other AS SELECT * FROM messages',
        ),
    ),
    'messages of 900 MB': (
        'x.db3',
        _database(
            *TOPICS,
            f'CREATE VIEW messages AS {ENDLESS} SELECT x AS id, 1 AS topic_id, '
            'x AS timestamp, zeroblob(900000000) AS data FROM n LIMIT 5',
        ),
    ),
    'text as times': (
        'x.db3',
        _database(
            *TOPICS,
            f'CREATE TABLE messages{COLUMNS}',
            "INSERT INTO messages VALUES (1, 1, 'now', 'text'), (2, 1, 1e300, x'00')",
        ),
    ),
    'other columns': ('x.db3', _database('CREATE TABLE topics(a)', 'CREATE TABLE messages(a)')),
    'a database that claims 2^47 bytes': (
        'x.db3',
        lambda path: path.write_bytes(
            b'SQLite format 3\0'
            + struct.pack('>HBBBBBBIIII', 65535, 1, 1, 0, 64, 32, 32, 0, 2**31, 0, 0)
            + bytes(2**20)
        ),
    ),
    'an empty file': ('x.mcap', text(b'')),
    'only its magic': ('x.mcap', text(MAGIC)),
}


METADATA_FILES = {
    'a path outside of the bag': ['/dev/zero'],
    'a path to a device': ['../../../../dev/zero'],
    'twenty thousand files': [str(n) for n in range(20_000)],
    'a number as path': 17,
    'a name too long': ['x' * 5000 + '.mcap'],
    'a NUL in a name': ['a\0b.mcap'],
}


def metadata(paths: object) -> Make:
    content = {
        'version': 9,
        'storage_identifier': 'mcap',
        'relative_file_paths': paths,
        'duration': {'nanoseconds': 1},
        'starting_time': {'nanoseconds_since_epoch': 1},
        'message_count': 1,
        'topics_with_message_count': [],
        'compression_format': '',
        'compression_mode': '',
    }
    return text(yaml.safe_dump({'rosbag2_bagfile_information': content}))
