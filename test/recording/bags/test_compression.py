# SPDX-License-Identifier: Apache-2.0
import pytest
from lz4.frame import compress as lz4
from zstandard import compress as zstd

from robodyn_ros.recording.bags.compression import decompress

DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize('form, pack', [('zstd', zstd), ('lz4', lz4)])
def test_the_size_is_a_limit(form, pack):
    packed = pack(DATA)
    assert decompress(packed, form, len(DATA)) == DATA
    with pytest.raises(ValueError, match=f'expected {len(DATA) - 1} bytes, got more'):
        decompress(packed, form, len(DATA) - 1)
    start = decompress(packed[: len(packed) // 2], form, len(DATA))
    assert len(start) < len(DATA) and DATA.startswith(start)
