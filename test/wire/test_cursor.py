import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.wire.cursor import Cursor, WireError
from robodyn_ros.wire.writer import Writer

HEADER = b'\x00\x01\x00\x00'


@pytest.mark.parametrize('data', [b'', b'\x00\x01\x00', b'\x00\x00\x00\x00', b'\x00\x03\x00\x00'])
def test_only_little_endian_cdr_is_read(data):
    with pytest.raises(WireError, match='not little-endian CDR'):
        Cursor(data)


def test_offsets_padding_and_end():
    data = HEADER + struct.pack('<I2s2xI4xd3s', 2, b'a\0', 1, 0.5, b'???')
    cursor = Cursor(data)
    assert (cursor.text(), cursor.doubles(), cursor.at) == ('a', (20, 1), 28)
    assert cursor.padding == [(10, 12), (16, 20)]
    cursor.end()
    more = Cursor(data + b'?')
    more.text(), more.doubles()
    with pytest.raises(WireError, match='the values end at offset 28'):
        more.end()


def test_a_sequence_without_doubles_is_not_aligned():
    cursor = Cursor(HEADER + bytes(4 + 7))
    assert cursor.doubles() == (8, 0)
    cursor.end()  # rmw_fastrtps reserves its alignment all the same


@pytest.mark.parametrize('read', [Cursor.text, Cursor.texts, Cursor.doubles, Cursor.time])
@pytest.mark.parametrize('count', [2**32 - 1, 2**31, 5])
def test_impossible_counts_are_refused(read, count):
    with pytest.raises(WireError, match='the message ends too early'):
        read(Cursor(HEADER + struct.pack('<I', count) + bytes(3)))


@pytest.mark.parametrize('raw', [b'ab', b'a\0b\0', b'\xff\0', b'a\0\0'])
def test_bad_strings_are_refused(raw):
    with pytest.raises(WireError, match='the string at offset 8'):
        Cursor(HEADER + struct.pack('<I', len(raw)) + raw).text()


def test_times_have_signed_seconds():
    assert Cursor(HEADER + struct.pack('<iI', -1, 5)).time() == -999_999_995


@given(st.lists(st.text(st.characters(exclude_characters='\0', exclude_categories=['Cs']))))
def test_written_strings_are_read_back(texts):
    writer = Writer()
    writer.header(7, 'frame', texts)
    cursor = Cursor(writer.data)
    assert (cursor.time(), cursor.text(), list(cursor.texts())) == (7, 'frame', texts)
    cursor.end()
