# SPDX-License-Identifier: Apache-2.0
import pytest
from lz4.frame import compress as lz4
from zstandard import compress as zstd

from robodyn_ros.bounds import BoundError
from robodyn_ros.recording.bags.compression import decompress_file, decompressed

DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize('form, pack', [('zstd', zstd), ('lz4', lz4)])
def test_the_size_is_a_limit(form, pack):
    packed = pack(DATA)
    assert decompressed(packed, form, len(DATA)) == DATA
    with pytest.raises(ValueError, match=f'expected {len(DATA) - 1} bytes, got more'):
        decompressed(packed, form, len(DATA) - 1)
    start = decompressed(packed[: len(packed) // 2], form, len(DATA))
    assert len(start) < len(DATA) and DATA.startswith(start)


def test_an_unknown_form():
    with pytest.raises(ValueError, match="compression 'xz' is not known"):
        decompressed(b'', 'xz')


def test_files_may_not_expand_too_much(tmp_path):
    path, target = tmp_path / 'a.zstd', tmp_path / 'a'
    path.write_bytes(zstd(DATA))
    decompress_file(path, target)
    assert target.read_bytes() == DATA
    path.write_bytes(zstd(bytes(2**28 + 1)))
    with pytest.raises(BoundError, match='at most 200 times its size'):
        decompress_file(path, target)
