"""Hand-made hostile files, each named by what it does."""

from __future__ import annotations

import io
import os
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from faults.corpus import MOTIONS, chunk, flat_mcap

from robodyn_ros.recording.bags.mcap import CHUNK, DATA_END, MAGIC, METADATA, STATISTICS
from robodyn_ros.recording.bags.mcap_writer import record

GB = 2**30
Make = Callable[[Path], object]


@dataclass(frozen=True)
class Hostile:
    """A file `name` that `make` writes, and the command that reads it (see `kinds.Kind`)."""

    kind: str
    name: str
    command: str
    make: Make


def _text(content: str | bytes) -> Make:
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data)


def _fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _link(target: str) -> Make:
    def make(path: Path) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return make


def _sparse(size: int) -> Make:
    """Return a maker of a file of zeros that takes no space on the disk."""

    def make(path: Path) -> None:
        with path.open('wb') as file:
            file.truncate(size)

    return make


# --- YAML -----------------------------------------------------------------------------------


def _nested(*, mapping: bool = False, depth: int = 100_000) -> str:
    return '{a: ' * depth + '1' + '}' * depth if mapping else '[' * depth + ']' * depth


def _aliases(width: int = 10, levels: int = 10) -> str:
    rows = ['a0: &a0 [' + ', '.join(['1'] * width) + ']']
    rows += [f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * width)}]' for n in range(1, levels)]
    return '\n'.join(rows)


def _merges(levels: int = 26) -> str:
    rows = ['a0: &a0 {x: 1}']
    rows += [f'a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}' for n in range(1, levels)]
    return '\n'.join(rows)


YAML = {
    'nested sequences': _nested(),
    'nested mappings': _nested(mapping=True),
    'nested blocks': '- ' * 100_000 + '1',
    'nested keys': '? ' * 50_000 + '1',
    'alias bomb': _aliases(),
    'merge bomb': _merges(),
    'alias of itself': '&a [*a]',
    'mapping of itself': '&a {urdf: arm.urdf, limits: *a, kind: chain, parts: [*a]}',
    'key that is itself': '&a {*a : 1}',
    'many values': '[' + '1,' * 3_000_000 + '1]',
    'long number': 'a: ' + '9' * 5000,
    'long text': 'a: "' + 'x' * 20_000_000 + '"',
    'many documents': '---\na: 1\n' * 100_000,
    'sexagesimal': 'a: ' + '1:' * 3000 + '1',
    'binary tag': 'a: !!binary "\xff"',
    'date out of range': 'a: 9999-99-99',
    'unknown tag': '!x {a: 1}',
    'not UTF-8': b'a: \xff\xfe',
    'UTF-16': 'a: 1'.encode('utf-16'),
    'surrogate': b'a: "\\ud800"',
    'nothing': '',
    'NUL': b'\0' * 1000,
    'null keys': '{null: 1, 1: 2, [1]: 3}',
}
"""Texts that are hostile to any reader of YAML."""

READERS = {
    'robot': ('robot.yaml', 'robot-file FILE'),
    'parameters': ('parameters.yaml', 'parameters FILE'),
    'result': ('result_arm.yaml', 'result FILE'),
    'trajectory': ('motion_sine.yaml', 'motion FILE --urdf arm.urdf'),
    'columns': ('columns.yaml', 'info table.csv --columns FILE'),
    'metadata': ('mcap/metadata.yaml', 'info BAG'),
    'metadata for rosbags': ('mcap/metadata.yaml', 'topics BAG'),
    'model': ('model.yaml', 'prg scara.PRG --model FILE --out OUT/r.yaml'),
    'limits': ('limits.yaml', 'motion motion_sine.yaml --urdf arm.urdf --limits FILE'),
    'effort': ('effort.yaml', 'effort FILE'),
}


# --- trajectories ---------------------------------------------------------------------------


def _motion(base: str, **changes: object) -> str:
    return yaml.safe_dump(MOTIONS[base] | changes, sort_keys=False)


def _chain(depth: int) -> str:
    motion: object = MOTIONS['move']
    for _ in range(depth):
        motion = {'kind': 'chain', 'parts': [motion]}
    return yaml.safe_dump(motion, default_flow_style=True)


TRAJECTORIES = {
    'two points 100 000 s apart': _motion(
        'points', time=[0.0, 1e5, 2e5], position=[[0, 0], [0.1, 0], [0, 0]]
    ),
    'two points 1e300 s apart': _motion(
        'points', time=[0.0, 1.0, 1e300], position=[[0, 0], [0.1, 0], [0, 0]]
    ),
    'a sine of 1e9 s': _motion('sine', duration=1e9),
    'a sine of 1e9 Hz': _motion('sine', frequency=[1e9, 1e9]),
    'a lead of 1e7 s': _motion('sine', lead_in=1e7),
    'a series of 1e-9 Hz': _motion('fourier', base_frequency=1e-9),
    'a sum of 1e8 Hz': _motion('sine_sum', frequency=[[1e8, 1.0], [1.0, 1.0]]),
    'a move of 1e8 s': _motion('move', duration=1e8),
    'moves at 1e-9 rad/s': _motion('joint_moves', velocity=1e-9),
    'via-points 1e12 rad apart': _motion('joint_moves', points=[[0, 0], [1e12, 0]]),
    'experiment at 1e-9 rad/s': _motion('bidirectional', speeds=[1e-9]),
    'a million via-points': '{kind: joint_moves, joints: [a, b], velocity: 1, acceleration: 2, '
    'points: [' + '[0, 0], [1, 1], ' * 200_000 + ']}',
    'chains in chains': _chain(60),
    'a thousand joints': _motion('move', joints=[f'j{k}' for k in range(5000)],
                                 start=[0.0] * 5000, target=[1.0] * 5000),
    'ten thousand harmonics': _motion('fourier', a=[[1e-6] * 10_000] * 2, b=[[0.0] * 10_000] * 2),
}  # fmt: skip


# --- URDF -----------------------------------------------------------------------------------

LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a0 "ha">'
    + ''.join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + ']><robot name="&a9;"><link name="l"/></robot>'
)


def _links(count: int) -> str:
    links = ''.join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = ''.join(
        f'<joint name="j{n}" type="revolute"><parent link="l{n}"/><child link="l{n + 1}"/></joint>'
        for n in range(count)
    )
    return f'<robot name="r">{links}{joints}</robot>'


URDFS = {
    'billion laughs': LAUGHS,
    'external entity': '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<robot name="&x;"><link name="l"/></robot>',
    'nested elements': '<robot name="r"><link name="l"/>' + '<a>' * 200_000 + '</a>' * 200_000
    + '</robot>',
    'nested in a link': '<robot name="r"><link name="l">' + '<a>' * 5000 + '</a>' * 5000
    + '</link></robot>',
    'two thousand joints': _links(2000),
    'a hundred thousand links': _links(100_000),
    'a root that is no robot': '<svg/>',
    'Latin-1': '<?xml version="1.0" encoding="latin-1"?><robot name="ä"/>'.encode('latin-1'),
    'declared UTF-16': '<?xml version="1.0" encoding="UTF-16"?><robot name="r"/>',
    'unknown encoding': '<?xml version="1.0" encoding="x"?><robot name="r"/>',
    'a name of 10 MB': '<robot name="' + 'x' * 10_000_000 + '"><link name="l"/></robot>',
}  # fmt: skip


# --- tables ---------------------------------------------------------------------------------


def _npy(shape: str, dtype: str = '<f8', rest: bytes = b'') -> bytes:
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + rest


def _npz(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f'{name}.npy', content)
    return stream.getvalue()


def _npz_bomb(path: Path) -> None:
    """Write two gigabytes of zeros in nine megabytes."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open('q.npy', 'w', force_zip64=True) as member:
            member.write(_npy(f'({2 * GB // 16}, 2)'))
            block = bytes(2**24)
            for _ in range(2 * GB // len(block)):
                member.write(block)


def _overlapping(path: Path) -> None:
    """Write an archive whose thousand members are all the same bytes (a "better zip bomb")."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('q0000.npy', _npy('(8388608,)', rest=bytes(2**26)))
    data = stream.getvalue()
    at = data.index(b'PK\x01\x02')
    end = data.index(b'PK\x05\x06')
    entry = data[at:end]
    entries = b''.join(entry.replace(b'q0000', f'q{n:04}'.encode()) for n in range(1000))
    tail = struct.pack('<4sHHHHIIH', b'PK\x05\x06', 0, 0, 1000, 1000, len(entries), at, 0)
    path.write_bytes(data[:at] + entries + tail)


def _mat(*elements: bytes) -> bytes:
    return (
        b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack('<HH', 0x0100, 0x4D49) + b''.join(elements)
    )


def _element(kind: int, data: bytes, size: int | None = None) -> bytes:
    return (
        struct.pack('<II', kind, len(data) if size is None else size)
        + data
        + bytes(-len(data) % 8)
    )


def _matrix(name: bytes, dims: tuple[int, ...], data: bytes, kind: int = 6) -> bytes:
    flags = _element(6, struct.pack('<II', kind, 0))
    shape = _element(5, struct.pack(f'<{len(dims)}i', *dims))
    return _element(14, flags + shape + _element(1, name) + data)


def _cells(depth: int) -> bytes:
    """Return a cell in a cell in a cell ..."""
    inner = _matrix(b'', (1, 1), _element(9, bytes(8)))
    for _ in range(depth):
        inner = _matrix(b'', (1, 1), inner, kind=1)
    return inner


def _zipped(data: bytes) -> bytes:
    packed = zlib.compress(data, 9)
    return struct.pack('<II', 15, len(packed)) + packed


def _mat_bomb(path: Path) -> None:
    """Write two gigabytes of zeros in nine megabytes."""
    size = 2 * GB - 2**20
    head = struct.pack('<II', 14, size + 56) + _matrix(b'q', (size // 16, 2), b'')[8:]
    head += struct.pack('<II', 9, size)
    packer = zlib.compressobj(1)
    packed = [packer.compress(head)]
    packed += [packer.compress(bytes(2**24)) for _ in range(size // 2**24)]
    packed.append(packer.flush())
    data = b''.join(packed)
    path.write_bytes(_mat(struct.pack('<II', 15, len(data)) + data))


TABLES: dict[str, tuple[str, Make]] = {
    'two gigabytes of zeros': ('x.npz', _npz_bomb),
    'a thousand members at one place': ('x.npz', _overlapping),
    'a shape of 2^40': ('x.npz', _text(_npz(q=_npy('(1099511627776, 2)')))),
    'a shape of 2^40 of small numbers': ('x.npz', _text(_npz(q=_npy('(1099511627776,)', '|i1')))),
    'a negative shape': ('x.npz', _text(_npz(q=_npy('(-5, 2)', rest=bytes(80))))),
    'a shape of zeros': ('x.npz', _text(_npz(q=_npy('(10000000000, 0)'), time=_npy('(0,)')))),
    'sixty-four dimensions': ('x.npz', _text(_npz(q=_npy('(' + '1,' * 64 + ')', rest=bytes(8))))),
    'a header that nests': ('x.npz', _text(_npz(q=_npy('(' * 5000 + ')' * 5000)))),
    'pickled objects': ('x.npz', _text(_npz(q=_npy('(1,)', '|O', b'cos\nsystem\n(S"id"\ntR.')))),
    'text of 2^30 letters': ('x.npz', _text(_npz(joint_names=_npy('(1,)', '<U1073741823')))),
    'a zip without members': ('x.npz', _text(_npz())),
    'ten thousand members': ('x.npz', _text(_npz(**{f'm{n}': _npy('(1,)', rest=bytes(8))
                                                    for n in range(10_000)}))),
    'a MAT bomb': ('x.mat', _mat_bomb),
    'a matrix of 2^31 rows': ('x.mat', _text(_mat(_matrix(b'q', (2**31 - 1, 2), _element(9, b''))))),
    'a matrix of negative size': ('x.mat', _text(_mat(_matrix(b'q', (-1, 2), _element(9, b''))))),
    'an element of 4 GB': ('x.mat', _text(_mat(_element(14, b'', 2**32 - 1)))),
    'cells in cells': ('x.mat', _text(_mat(_cells(3000)))),
    'packed cells in cells': ('x.mat', _text(_mat(_zipped(_cells(20_000))))),
    'a cell of 10^8 cells': ('x.mat', _text(_mat(_matrix(b'q', (10_000, 10_000), b'', kind=1)))),
    'a struct of long names': ('x.mat', _text(_mat(_matrix(
        b's', (1, 1), _element(5, struct.pack('<i', 2**31 - 1)) + _element(1, bytes(64)), kind=2)))),
    'an unknown class': ('x.mat', _text(_mat(_matrix(b'q', (1, 1), _element(9, bytes(8)), kind=77)))),
    'a sparse matrix': ('x.mat', _text(_mat(_matrix(b'q', (2**30, 2**30), _element(5, bytes(8))
        + _element(5, bytes(8)) + _element(9, bytes(8)), kind=5)))),
    'a function': ('x.mat', _text(_mat(_matrix(b'f', (1, 1), _element(9, bytes(8)), kind=16)))),
    'version 4 of 2^31 columns': ('x.mat', _text(struct.pack('<5i', 0, 2, 2**31 - 1, 0, 2) + b'q\0')),
    'version 7.3': ('x.mat', _text(b'MATLAB 7.3 MAT-file'.ljust(124) + struct.pack('<HH', 0x0200, 0x4D49))),
    'a line of 50 MB': ('x.csv', _text('time,q_a,tau_a\n' + '1' * 50_000_000)),
    'a header of 50 MB': ('x.csv', _text('a,' * 25_000_000)),
    'a hundred thousand columns': ('x.csv', _text(
        ','.join(f'c{n}' for n in range(100_000)) + '\n' + '1,' * 99_999 + '1\n')),
    'a name of twenty thousand signs': ('x.csv', _text('time,q_' + 'a.' * 10_000 + ',tau_a\n1,2,3\n')),
    'NUL and control signs': ('x.csv', _text(bytes(range(32)) * 100)),
    'numbers of 10^6 digits': ('x.csv', _text('time,q_a,tau_a\n' + '9' * 10**6 + ',1,1\n')),
    'times of 1e308': ('x.csv', _text('time,q_a,tau_a\n-1e308,0,1\n0,1,2\n1e308,2,1\n')),
    'times in ns beyond int64': ('x.csv', _text('time,q_a,tau_a\n1e18,0,1\n9e18,1,2\n9.9e300,2,1\n')),
    'values of 1e308': ('x.csv', _text('time,q_a,tau_a\n' + ''.join(
        f'{n},{(-1) ** n}e308,{(-1) ** n}e308\n' for n in range(50)))),
    'not UTF-8': ('x.csv', _text(b'time,q_\xff\n1,2\n')),
    'a sparse file of 20 GB': ('x.csv', _sparse(20 * GB)),
}  # fmt: skip


# --- bags -----------------------------------------------------------------------------------


def _messages(count: int = 50) -> list[tuple[int, bytes]]:
    from bags import cdr, wave

    return [(time, cdr(state)) for time, state in wave(count)]


def _mcap(extra: bytes) -> Make:
    """Return a maker of a good file with records before its end."""

    def make(path: Path) -> None:
        data = flat_mcap(_messages())
        end = len(data) - len(MAGIC) - 13
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
            from backports import zstd

            stream = zstd.ZstdCompressor()
            parts = [stream.compress(bytes(2**24)) for _ in range(2 * GB // 2**24)]
            packed = b''.join([*parts, stream.flush()])
        head = struct.pack('<QQQI', 0, 0, 100, 0) + struct.pack('<I', len(form)) + form.encode()
        content = head + struct.pack('<Q', len(packed)) + packed
        _mcap(record(CHUNK, content))(path)

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


TOPICS = ('CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT)',
          "INSERT INTO topics VALUES (1, '/joint_states', 'sensor_msgs/msg/JointState')")  # fmt: skip
ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)'
COLUMNS = '(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)'

BAGS: dict[str, tuple[str, Make]] = {
    'a zstd chunk of 400 MB': ('x.mcap', _chunk_bombs('zstd', 400_000_000)),
    'a lz4 chunk of 400 MB': ('x.mcap', _chunk_bombs('lz4', 400_000_000)),
    'forty zstd chunks of 250 MB': ('x.mcap', _chunk_bombs('zstd', 250_000_000, 40)),
    'a zstd chunk that claims less': ('x.mcap', _lying_chunk('zstd')),
    'a lz4 chunk that claims less': ('x.mcap', _lying_chunk('lz4')),
    'a chunk that claims 2^63 bytes': ('x.mcap', _mcap(chunk(b'x', 'zstd', 2**63))),
    'an unknown compression': ('x.mcap', _mcap(record(CHUNK, bytes(28) + b'\3\0\0\0xyz' + bytes(8)))),
    'a record of 2^63 bytes': ('x.mcap', _mcap(struct.pack('<BQ', 5, 2**63))),
    'a record of 2^64-1 bytes': ('x.mcap', _mcap(struct.pack('<BQ', 5, 2**64 - 1))),
    'a sparse record of 5 GB': ('x.mcap', lambda path: (
        path.write_bytes(MAGIC + struct.pack('<BQ', 99, 5 * GB)), os.truncate(path, 6 * GB))),
    'a sparse chunk of 5 GB': ('x.mcap', lambda path: (
        path.write_bytes(MAGIC + struct.pack('<BQ', CHUNK, 5 * GB)), os.truncate(path, 6 * GB))),
    'a summary of 6 GB': ('x.mcap', lambda path: (path.write_bytes(
        MAGIC + record(DATA_END, bytes(4)) + record(99, b'') * 300_000), os.truncate(path, 6 * GB))),
    'a million empty records': ('x.mcap', _mcap(record(99, b'') * 1_000_000)),
    'a statistics record of nothing': ('x.mcap', _mcap(record(STATISTICS, b''))),
    'metadata without end': ('x.mcap', lambda path: path.write_bytes(
        MAGIC + record(METADATA, struct.pack('<I', 2**31) + b'x' * 100))),
    'joints that change always': ('x.mcap', _fake_names),
    'three thousand joints': ('x.mcap', _wide),
    'messages without end': ('x.db3', _database(
        *TOPICS, f'CREATE VIEW messages AS {ENDLESS} SELECT x AS id, 1 AS topic_id, '
        "x AS timestamp, x'00' AS data FROM n")),
    'topics without end': ('x.db3', _database(
        f'CREATE VIEW topics AS {ENDLESS} SELECT x AS id, "t" || x AS name, "y" AS type FROM n',
        f'CREATE TABLE messages{COLUMNS}')),
    'a view that computes for ever': ('x.db3', _database(
        *TOPICS, f'CREATE VIEW messages AS {ENDLESS} SELECT 1 AS id, 1 AS topic_id, '
        "max(x) AS timestamp, x'00' AS data FROM n")),
    'a view of a view of itself': ('x.db3', _database(
        *TOPICS, 'CREATE VIEW messages AS SELECT * FROM other',
        'CREATE VIEW other AS SELECT * FROM messages')),
    'messages of 900 MB': ('x.db3', _database(
        *TOPICS, f'CREATE VIEW messages AS {ENDLESS} SELECT x AS id, 1 AS topic_id, '
        'x AS timestamp, zeroblob(900000000) AS data FROM n LIMIT 5')),
    'text as times': ('x.db3', _database(
        *TOPICS, f'CREATE TABLE messages{COLUMNS}',
        "INSERT INTO messages VALUES (1, 1, 'now', 'text'), (2, 1, 1e300, x'00')")),
    'other columns': ('x.db3', _database('CREATE TABLE topics(a)', 'CREATE TABLE messages(a)')),
    'a database that claims 2^47 bytes': ('x.db3', lambda path: path.write_bytes(
        b'SQLite format 3\0' + struct.pack('>HBBBBBBIIII', 65535, 1, 1, 0, 64, 32, 32, 0, 2**31, 0, 0)
        + bytes(2**20))),
    'an empty file': ('x.mcap', _text(b'')),
    'only its magic': ('x.mcap', _text(MAGIC)),
}  # fmt: skip


METADATA_FILES = {
    'a path outside of the bag': ['/dev/zero'],
    'a path to a device': ['../../../../dev/zero'],
    'twenty thousand files': [str(n) for n in range(20_000)],
    'a number as path': 17,
    'a name too long': ['x' * 5000 + '.mcap'],
    'a NUL in a name': ['a\0b.mcap'],
}


def _metadata(paths: object) -> Make:
    content = {'version': 9, 'storage_identifier': 'mcap', 'relative_file_paths': paths,
               'duration': {'nanoseconds': 1}, 'starting_time': {'nanoseconds_since_epoch': 1},
               'message_count': 1, 'topics_with_message_count': [], 'compression_format': '',
               'compression_mode': ''}  # fmt: skip
    return _text(yaml.safe_dump({'rosbag2_bagfile_information': content}))


# --- all of them ----------------------------------------------------------------------------

PRGS = {
    'a line of 1 MB': "'" + 'x' * 10**6,
    'a thousand numbers too many': ''.join(
        f'SCARA.DynamicParameter[{n}] = 0\n' for n in range(1, 20_000)),
    'a header of digits': "'Max relative torque error: " + 'axis 1 = ' * 50_000,
    'spaces': ' ' * 10**6,
    'not ASCII': 'PROGRAM ä',
}  # fmt: skip


def _all() -> dict[str, Hostile]:
    found: dict[str, Hostile] = {}
    for kind, (name, command) in READERS.items():
        for word, content in YAML.items():
            found[f'{kind}: {word}'] = Hostile(kind, name, command, _text(content))
    specials: dict[str, Make] = {
        'a FIFO': _fifo, 'a device': _link('/dev/zero'), 'a loop of links': _link('loop'),
        'a folder': lambda path: (path.unlink(missing_ok=True), path.mkdir()),
        'a missing file': lambda path: path.unlink(missing_ok=True),
        'standard input': _link('/dev/stdin'), '5 GB of nothing': _sparse(5 * GB),
        'an empty file': _text(b''),
    }  # fmt: skip
    files = READERS | {
        'urdf': ('arm.urdf', 'motion motion_sine.yaml --urdf FILE'),
        'mesh': ('part.stl', 'motion motion_sine.yaml --urdf meshed.urdf'),
        'srdf': ('x.srdf', 'motion motion_sine.yaml --urdf arm.urdf --srdf FILE'),
        'prg': ('scara.PRG', 'prg FILE --model model_scara.yaml --out OUT/r.yaml'),
        'bodywise': ('x.csv', 'bodywise FILE'),
        **{f'{suffix} file': (f'x.{suffix}', 'info FILE')
           for suffix in ('csv', 'npz', 'mat', 'mcap', 'db3')},
        'mcap for rosbags': ('mcap/mcap.mcap', 'topics BAG'),
        'facts of a bag': ('x.mcap', 'bag-facts FILE'),
    }  # fmt: skip
    for kind, (name, command) in files.items():
        for word, make in specials.items():
            found[f'{kind}: {word}'] = Hostile(kind, name, command, make)
    for word, content in TRAJECTORIES.items():
        command = 'motion FILE --urdf arm.urdf'
        found[f'trajectory: {word}'] = Hostile('trajectory', 'x.yaml', command, _text(content))
    for word, urdf in URDFS.items():
        for command in ('motion motion_sine.yaml --urdf FILE', 'info table.csv --urdf FILE'):
            name = f'urdf: {word} ({command.split()[0]})'
            found[name] = Hostile('urdf', 'x.urdf', command, _text(urdf))
    for word, (name, make) in (TABLES | BAGS).items():
        kind = name.partition('.')[2]
        found[f'{kind}: {word}'] = Hostile(kind, name, 'info FILE', make)
    for word, paths in METADATA_FILES.items():
        for command in ('info BAG', 'topics BAG'):
            name = f'metadata: {word} ({command.split()[0]})'
            found[name] = Hostile('metadata', 'mcap/metadata.yaml', command, _metadata(paths))
    for word, text in PRGS.items():
        command = 'prg FILE --model model_scara.yaml --out OUT/r.yaml'
        found[f'prg: {word}'] = Hostile('prg', 'scara.PRG', command, _text(text))
    return found


HOSTILE = _all()
