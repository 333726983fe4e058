# SPDX-License-Identifier: Apache-2.0
import pytest
from backports import zstd
from lz4.frame import compress as lz4

from robodyn_ros.bounds import BoundError
from robodyn_ros.recording.bags.compression import decompress_file, decompressed

DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize('form, pack', [('zstd', zstd.compress), ('lz4', lz4)])
def test_the_size_is_a_limit(form, pack):
    packed = pack(DATA)
    assert decompressed(packed, form, len(DATA)) == DATA
    with pytest.raises(ValueError, match=f'expected {len(DATA) - 1} bytes, got more'):
        decompressed(packed, form, len(DATA) - 1)
    with pytest.raises(ValueError, match='end too early'):
        decompressed(packed[:-5], form, len(DATA))


def test_an_unknown_form():
    with pytest.raises(ValueError, match="compression 'xz' is not known"):
        decompressed(b'', 'xz')


def test_files_may_not_expand_too_much(tmp_path):
    path, target = tmp_path / 'a.zstd', tmp_path / 'a'
    path.write_bytes(zstd.compress(DATA))
    decompress_file(path, target)
    assert target.read_bytes() == DATA
    path.write_bytes(zstd.compress(DATA)[:-5])
    with pytest.raises(ValueError, match='cut off'):
        decompress_file(path, target)
    path.write_bytes(zstd.compress(bytes(2**28 + 1)))
    with pytest.raises(BoundError, match='at most 200 times its size'):
        decompress_file(path, target)
