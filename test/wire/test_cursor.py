# SPDX-License-Identifier: Apache-2.0
import struct

import numpy as np
import pytest
from bags import TORQUE_STATE, torque_types

from robodyn_ros.wire.cursor import Cursor, WireError

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


def torque_state(*lengths):
    store = torque_types()
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](1, 2), 'base')
    arrays = [np.arange(length) + 10.0 * row for row, length in enumerate(lengths, 1)]
    state = types[TORQUE_STATE](header, ['a', 'bc'], *arrays, True, 'fault', 9, 3, 1, 0)
    return bytes(store.serialize_cdr(state, TORQUE_STATE))


def test_the_arrays_of_a_torque_state_are_where_rosbags_wrote_them():
    data = torque_state(2, 2, 0, 2)
    names, starts = Cursor(data).read_named_arrays(4)
    assert names == ('a', 'bc') and starts[2] == -1
    values = [np.frombuffer(data, '<f8', 2, at).tolist() for at in starts if at > 0]
    assert values == [[10.0, 11.0], [20.0, 21.0], [40.0, 41.0]]


def test_an_array_of_another_length_is_refused():
    with pytest.raises(WireError, match='3 values for 2 joints'):
        Cursor(torque_state(2, 3, 2, 2)).read_named_arrays(4)
