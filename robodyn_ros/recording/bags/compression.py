# SPDX-License-Identifier: Apache-2.0
"""Decompression of bags, never beyond the expected size."""

from __future__ import annotations

from pathlib import Path

from robodyn_ros.bounds import RECORD, check_expansion


def decompress(packed: bytes, form: str, size: int = RECORD.most) -> bytes:
    """Decompress a chunk or message.

    :param form: 'lz4', 'zstd', 'bz2', or '' for none
    :param size: largest size of the result, in [bytes]
    :raises ValueError: the form is not known, or the result is larger; the libraries raise other
        errors too
    """
    if not form:
        return packed
    if form == 'lz4':
        from lz4.frame import LZ4FrameDecompressor  # type: ignore[import-untyped]

        result: bytes = LZ4FrameDecompressor().decompress(packed, max_length=size + 1)
    elif form == 'zstd':
        from zstandard import ZstdDecompressor

        result = ZstdDecompressor().stream_reader(packed).read(size + 1)
    elif form == 'bz2':
        from bz2 import BZ2Decompressor

        result = BZ2Decompressor().decompress(packed, size + 1)
    else:
        raise ValueError(f'compression {form!r} is not known')
    if len(result) > size:
        raise ValueError(f'expected {size} bytes, got more')
    return result


def decompress_file(path: Path, target: Path) -> None:
    """Decompress a zstd file, as far as it goes.

    :raises OSError: it cannot be read or written, or is larger than allowed
    """
    from zstandard import ZstdDecompressor

    total = 0
    with path.open('rb') as source, target.open('wb') as result:
        stream = ZstdDecompressor().stream_reader(source)
        while part := stream.read(2**20):
            total += len(part)
            check_expansion(total, path.stat().st_size)
            result.write(part)
