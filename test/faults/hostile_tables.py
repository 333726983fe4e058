# SPDX-License-Identifier: Apache-2.0
"""Hostile tables: NPZ, MAT and CSV."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from faults.makers import GB, Make, sparse, text


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
    block = bytes(2**24)
    with (
        zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open('q.npy', 'w', force_zip64=True) as member,
    ):
        member.write(_npy(f'({2 * GB // 16}, 2)'))
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
    'a shape of 2^40': ('x.npz', text(_npz(q=_npy('(1099511627776, 2)')))),
    'a shape of 2^40 of small numbers': ('x.npz', text(_npz(q=_npy('(1099511627776,)', '|i1')))),
    'a negative shape': ('x.npz', text(_npz(q=_npy('(-5, 2)', rest=bytes(80))))),
    'a shape of zeros': ('x.npz', text(_npz(q=_npy('(10000000000, 0)'), time=_npy('(0,)')))),
    'sixty-four dimensions': ('x.npz', text(_npz(q=_npy('(' + '1,' * 64 + ')', rest=bytes(8))))),
    'a header that nests': ('x.npz', text(_npz(q=_npy('(' * 5000 + ')' * 5000)))),
    'pickled objects': ('x.npz', text(_npz(q=_npy('(1,)', '|O', b'cos\nsystem\n(S"id"\ntR.')))),
    'text of 2^30 letters': ('x.npz', text(_npz(joint_names=_npy('(1,)', '<U1073741823')))),
    'a zip without members': ('x.npz', text(_npz())),
    'ten thousand members': (
        'x.npz',
        text(_npz(**{f'm{n}': _npy('(1,)', rest=bytes(8)) for n in range(10_000)})),
    ),
    'a MAT bomb': ('x.mat', _mat_bomb),
    'a matrix of 2^31 rows': (
        'x.mat',
        text(_mat(_matrix(b'q', (2**31 - 1, 2), _element(9, b'')))),
    ),
    'a matrix of negative size': ('x.mat', text(_mat(_matrix(b'q', (-1, 2), _element(9, b''))))),
    'an element of 4 GB': ('x.mat', text(_mat(_element(14, b'', 2**32 - 1)))),
    'cells in cells': ('x.mat', text(_mat(_cells(3000)))),
    'packed cells in cells': ('x.mat', text(_mat(_zipped(_cells(20_000))))),
    'a cell of 10^8 cells': ('x.mat', text(_mat(_matrix(b'q', (10_000, 10_000), b'', kind=1)))),
    'a struct of long names': (
        'x.mat',
        text(
            _mat(
                _matrix(
                    b's',
                    (1, 1),
                    _element(5, struct.pack('<i', 2**31 - 1)) + _element(1, bytes(64)),
                    kind=2,
                )
            )
        ),
    ),
    'an unknown class': (
        'x.mat',
        text(_mat(_matrix(b'q', (1, 1), _element(9, bytes(8)), kind=77))),
    ),
    'a sparse matrix': (
        'x.mat',
        text(
            _mat(
                _matrix(
                    b'q',
                    (2**30, 2**30),
                    _element(5, bytes(8)) + _element(5, bytes(8)) + _element(9, bytes(8)),
                    kind=5,
                )
            )
        ),
    ),
    'a function': ('x.mat', text(_mat(_matrix(b'f', (1, 1), _element(9, bytes(8)), kind=16)))),
    'version 4 of 2^31 columns': (
        'x.mat',
        text(struct.pack('<5i', 0, 2, 2**31 - 1, 0, 2) + b'q\0'),
    ),
    'version 7.3': (
        'x.mat',
        text(b'MATLAB 7.3 MAT-file'.ljust(124) + struct.pack('<HH', 0x0200, 0x4D49)),
    ),
    'a line of 50 MB': ('x.csv', text('time,q_a,tau_a\n' + '1' * 50_000_000)),
    'a header of 50 MB': ('x.csv', text('a,' * 25_000_000)),
    'a hundred thousand columns': (
        'x.csv',
        text(','.join(f'c{n}' for n in range(100_000)) + '\n' + '1,' * 99_999 + '1\n'),
    ),
    'a name of twenty thousand signs': (
        'x.csv',
        text('time,q_' + 'a.' * 10_000 + ',tau_a\n1,2,3\n'),
    ),
    'NUL and control signs': ('x.csv', text(bytes(range(32)) * 100)),
    'numbers of 10^6 digits': ('x.csv', text('time,q_a,tau_a\n' + '9' * 10**6 + ',1,1\n')),
    'times of 1e308': ('x.csv', text('time,q_a,tau_a\n-1e308,0,1\n0,1,2\n1e308,2,1\n')),
    'times in ns beyond int64': (
        'x.csv',
        text('time,q_a,tau_a\n1e18,0,1\n9e18,1,2\n9.9e300,2,1\n'),
    ),
    'values of 1e308': (
        'x.csv',
        text(
            'time,q_a,tau_a\n'
            + ''.join(f'{n},{(-1) ** n}e308,{(-1) ** n}e308\n' for n in range(50))
        ),
    ),
    'not UTF-8': ('x.csv', text(b'time,q_\xff\n1,2\n')),
    'a sparse file of 20 GB': ('x.csv', sparse(20 * GB)),
}
