# SPDX-License-Identifier: Apache-2.0
"""Decompression of bags, never beyond the expected size."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from robodyn_ros.bounds import RECORD, check_expansion


def decompressed(packed: bytes, form: str, size: int = RECORD.most) -> bytes:
    """Decompress a chunk or message.

    :param form: 'lz4', 'zstd', or '' for none
    :param size: largest size of the result, in [bytes]
    :raises ValueError: the form is not known, the result is larger, or its end is missing; the
        libraries raise other errors too
    """
    if not form:
        return packed
    unpacker = _unpacker(form)
    result: bytes = unpacker.decompress(packed, max_length=size + 1)
    if len(result) > size:
        raise ValueError(f'expected {size} bytes, got more')
    if not unpacker.eof:
        raise ValueError('the compressed data end too early')
    return result


def decompress_file(path: Path, target: Path) -> None:
    """Decompress a zstd file.

    :raises OSError: it cannot be read or written, or is larger than allowed
    :raises ValueError: its end is missing
    """
    size, unpacker, total = path.stat().st_size, _unpacker('zstd'), 0
    with path.open('rb') as source, target.open('wb') as result:
        for part in _parts(source, unpacker):
            total += len(part)
            check_expansion(total, size)
            result.write(part)
    if not unpacker.eof:
        raise ValueError('it is cut off')


def _parts(source: Any, unpacker: Any) -> Iterator[bytes]:
    while not unpacker.eof:
        packed = source.read(2**16) if unpacker.needs_input else b''
        if unpacker.needs_input and not packed:
            return
        yield unpacker.decompress(packed, max_length=2**20)


def _unpacker(form: str) -> Any:
    """Return a decompressor of one frame; both libraries come with rosbags."""
    if form == 'lz4':
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

        return LZ4FrameDecompressor()
    if form != 'zstd':
        raise ValueError(f'compression {form!r} is not known')
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor()
