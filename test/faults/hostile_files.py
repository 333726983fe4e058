# SPDX-License-Identifier: Apache-2.0
"""Hostile tables and bags: the content of x.npz, x.mat, x.csv, x.mcap and x.db3."""

from __future__ import annotations

import io
import os
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lz4.frame
import numpy as np
from bags import cdr, message, wave
from faults.corpus import chunk, flat_mcap, record
from mcap.opcode import Opcode
from zstandard import ZstdCompressor

from robodyn_ros.recording.bags.mcap import MAGIC

GB = 2**30
Content = bytes | str | Callable[[Path], object]
"""Bytes or text of a file, or a function that writes it."""


def sparse(size: int, head: bytes = b'') -> Content:
    """Return a maker of a file of zeros that takes no space on the disk."""

    def make(path: Path) -> None:
        path.write_bytes(head)
        os.truncate(path, size)

    return make


def zeros(packer: Any, size: int = 2 * GB, head: bytes = b'') -> bytes:
    """Return compressed zeros, by default two gigabytes in some megabytes."""
    start = packer.begin() if hasattr(packer, 'begin') else b''
    blocks = (packer.compress(bytes(2**24)) for _ in range(size // 2**24))
    return b''.join([start, packer.compress(head) if head else b'', *blocks, packer.flush()])


def npy(shape: str, dtype: str = '<f8', rest: bytes = b'') -> bytes:
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + rest


def npz(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f'{name}.npy', content)
    return stream.getvalue()


def npz_bomb(path: Path) -> None:
    """Write two gigabytes of zeros in nine megabytes."""
    with (
        zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open('q.npy', 'w', force_zip64=True) as member,
    ):
        member.write(npy(f'({2 * GB // 16}, 2)'))
        for _ in range(2 * GB // 2**24):
            member.write(bytes(2**24))


NPZ: dict[str, Content] = {
    'two gigabytes of zeros': npz_bomb,
    'a shape of 2^40': npz(q=npy('(1099511627776, 2)')),
    'a negative shape': npz(q=npy('(-5, 2)', rest=bytes(80))),
    'a shape of zeros': npz(q=npy('(10000000000, 0)'), time=npy('(0,)')),
    'sixty-four dimensions': npz(q=npy('(' + '1,' * 64 + ')', rest=bytes(8))),
    'a header that nests': npz(q=npy('(' * 5000 + ')' * 5000)),
    'pickled objects': npz(q=npy('(1,)', '|O', b'cos\nsystem\n(S"id"\ntR.')),
    'text of 2^30 letters': npz(joint_names=npy('(1,)', '<U1073741823')),
    'a zip without members': npz(),
    'ten thousand members': npz(**{f'm{n}': npy('(1,)', rest=bytes(8)) for n in range(10_000)}),
}


def mat(element: bytes) -> bytes:
    """Return a file of version 5 with an element."""
    return b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack('<HH', 0x0100, 0x4D49) + element


def part(kind: int, data: bytes) -> bytes:
    """Return an element of version 5."""
    return struct.pack('<II', kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(dims: tuple[int, ...], data: bytes = b'', kind: int = 6) -> bytes:
    """Return a variable of a kind: 1 a cell, 5 sparse, 6 numbers."""
    shape = part(5, struct.pack(f'<{len(dims)}i', *dims))
    return part(14, part(6, struct.pack('<II', kind, 0)) + shape + part(1, b'q') + data)


def cells(depth: int) -> bytes:
    """Return a cell in a cell in a cell ..."""
    inner = matrix((1, 1), part(9, bytes(8)))
    for _ in range(depth):
        inner = matrix((1, 1), inner, kind=1)
    return inner


def mat_bomb(path: Path) -> None:
    """Write two gigabytes of zeros in nine megabytes."""
    size = 2 * GB - 2**24
    head = struct.pack('<II', 14, size + 56) + matrix((size // 16, 2))[8:]
    data = zeros(zlib.compressobj(1), size, head + struct.pack('<II', 9, size))
    path.write_bytes(mat(struct.pack('<II', 15, len(data)) + data))


MAT: dict[str, Content] = {
    'a MAT bomb': mat_bomb,
    'a matrix of 2^31 rows': mat(matrix((2**31 - 1, 2), part(9, b''))),
    'an element of 4 GB': mat(struct.pack('<II', 14, 2**32 - 1)),
    'cells in cells': mat(cells(3000)),
    'a cell of 10^8 cells': mat(matrix((10_000, 10_000), kind=1)),
    'a sparse matrix': mat(
        matrix((2**30, 2**30), 2 * part(5, bytes(8)) + part(9, bytes(8)), kind=5)
    ),
    'version 4 of 2^31 columns': struct.pack('<5i', 0, 2, 2**31 - 1, 0, 2) + b'q\0',
    'version 7.3': b'MATLAB 7.3 MAT-file'.ljust(124) + struct.pack('<HH', 0x0200, 0x4D49),
}

HEAD = 'time,q_a,tau_a\n'
CSV: dict[str, Content] = {
    'a line of 50 MB': HEAD + '1' * 50_000_000,
    'a header of 50 MB': 'a,' * 25_000_000,
    'a hundred thousand columns': ','.join(f'c{n}' for n in range(100_000)) + '\n' + '1,' * 99_999,
    'a name of twenty thousand signs': 'time,q_' + 'a.' * 10_000 + ',tau_a\n1,2,3\n',
    'NUL and control signs': bytes(range(32)) * 100,
    'numbers of 10^6 digits': HEAD + '9' * 10**6 + ',1,1\n',
    'times of 1e308': HEAD + '-1e308,0,1\n0,1,2\n1e308,2,1\n',
    'times in ns beyond int64': HEAD + '1e18,0,1\n9e18,1,2\n9.9e300,2,1\n',
    'values of 1e308': HEAD + ''.join(f'{n},{(-1) ** n}e308,1e308\n' for n in range(50)),
    'not UTF-8': b'time,q_\xff\n1,2\n',
    'a sparse file of 20 GB': sparse(20 * GB),
}

END = len(MAGIC) + 13 + 29
"""Size of what follows the last message of a flat file."""


def mcap(extra: bytes) -> bytes:
    """Return a good file with records before its end."""
    data = flat_mcap([(time, cdr(state)) for time, state in wave(50)])
    return data[:-END] + extra + data[-END:]


def lying_chunk(form: str, packer: Any) -> Content:
    """Return a maker of a chunk of 2 GB that claims to have 100 bytes."""

    def make(path: Path) -> None:
        data = zeros(packer())
        head = struct.pack('<QQQII', 0, 0, 100, 0, len(form)) + form.encode()
        head += struct.pack('<Q', len(data))
        path.write_bytes(mcap(record(Opcode.CHUNK, head + data)))

    return make


def changing_joints(path: Path) -> None:
    """Write messages that each name other joints, so that each has a layout of its own."""
    rows = [(n, cdr(message(n, [f'j{n}'], [1.0], [1.0], [1.0]))) for n in range(1, 5000)]
    path.write_bytes(flat_mcap(rows))


def many_joints(path: Path) -> None:
    """Write messages of three thousand joints."""
    names, values = [f'j{n}' for n in range(3000)], np.arange(3000.0)
    rows = [(n, cdr(message(n, names, values + n, values, values + n))) for n in range(1, 40)]
    path.write_bytes(flat_mcap(rows))


MCAP: dict[str, Content] = {
    'a chunk of 400 MB': lambda path: path.write_bytes(mcap(chunk(bytes(400_000_000), 'zstd'))),
    'forty chunks of 250 MB': lambda path: path.write_bytes(
        mcap(40 * chunk(bytes(250_000_000), 'zstd'))
    ),
    'a zstd chunk that claims less': lying_chunk('zstd', lambda: ZstdCompressor().compressobj()),
    'a lz4 chunk that claims less': lying_chunk('lz4', lz4.frame.LZ4FrameCompressor),
    'a chunk that claims 2^63 bytes': mcap(chunk(b'x', 'zstd', 2**63)),
    'an unknown compression': mcap(
        record(Opcode.CHUNK, bytes(28) + b'\3\0\0\0xyz' + bytes(8)),
    ),
    'a record of 2^64-1 bytes': mcap(struct.pack('<BQ', 5, 2**64 - 1)),
    'a sparse record of 5 GB': sparse(6 * GB, MAGIC + struct.pack('<BQ', 99, 5 * GB)),
    'a sparse chunk of 5 GB': sparse(6 * GB, MAGIC + struct.pack('<BQ', Opcode.CHUNK, 5 * GB)),
    'a summary of 6 GB': sparse(
        6 * GB, MAGIC + record(Opcode.DATA_END, bytes(4)) + record(99, b'') * 300_000
    ),
    'a million empty records': mcap(record(99, b'') * 1_000_000),
    'a statistics record of nothing': mcap(record(Opcode.STATISTICS, b'')),
    'metadata without end': MAGIC + record(
        Opcode.METADATA, struct.pack('<I', 2**31) + b'x' * 100
    ),
    'joints that change always': changing_joints,
    'three thousand joints': many_joints,
    'only its magic': MAGIC,
}  # fmt: skip

TOPICS = (
    'CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)',
    "INSERT INTO topics VALUES (1, '/joint_states', 'sensor_msgs/msg/JointState')",
)
MESSAGES = 'CREATE TABLE messages(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)'
ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)'


def database(*statements: str) -> Content:
    """Return a maker of a database."""

    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return make


def view(columns: str, end: str = '') -> Content:
    """Return a maker of a database whose messages are computed."""
    select = f'SELECT {columns} FROM n {end}'
    return database(*TOPICS, f'CREATE VIEW messages AS {ENDLESS} {select}')


DB3: dict[str, Content] = {
    'messages without end': view("x AS id, 1 AS topic_id, x AS timestamp, x'00' AS data"),
    'a view that computes for ever': view(
        "1 AS id, 1 AS topic_id, max(x) AS timestamp, x'00' AS data"
    ),
    'messages of 900 MB': view(
        'x AS id, 1 AS topic_id, x AS timestamp, zeroblob(900000000) AS data', 'LIMIT 5'
    ),
    'topics without end': database(
        f'CREATE VIEW topics AS {ENDLESS} SELECT x AS id, x AS name, x AS type FROM n', MESSAGES
    ),
    'a view of a view of itself': database(
        *TOPICS,
        'CREATE VIEW messages AS SELECT * FROM other',
        'CREATE VIEW other AS SELECT * FROM messages',
    ),
    'text as times': database(
        *TOPICS,
        MESSAGES,
        "INSERT INTO messages VALUES (1, 1, 'now', 'text'), (2, 1, 1e300, x'00')",
    ),
    'other columns': database('CREATE TABLE topics(a)', 'CREATE TABLE messages(a)'),
    'a database that claims 2^47 bytes': b'SQLite format 3\0'
    + struct.pack('>HBBBBBBIIII', 65535, 1, 1, 0, 64, 32, 32, 0, 2**31, 0, 0)
    + bytes(2**20),
}

HOSTILE_FILES = {'npz': NPZ, 'mat': MAT, 'csv': CSV, 'mcap': MCAP, 'db3': DB3}
"""Contents by the suffix of the file."""
