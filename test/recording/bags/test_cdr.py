import struct

import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message, wave
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.bags import cdr as module
from robodyn_ros.recording.bags.cdr import JointStateDecoder, Layout, canonical

NAMES = st.lists(
    st.text(st.characters(exclude_characters='\0', exclude_categories=['Cs']), min_size=1),
    min_size=1,
    max_size=7,
    unique=True,
)


def decoded(messages):
    decoder = JointStateDecoder()
    decoder.add_all(enumerate(messages))
    return decoder, decoder.finish()


@settings(deadline=None)
@given(
    names=NAMES,
    frame=st.text(st.characters(exclude_characters='\0', exclude_categories=['Cs'])),
    present=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    seconds=st.integers(0, 2**31 - 1),
    seed=st.integers(0, 100),
)
def test_the_fast_decoder_agrees_with_the_general_one(names, frame, present, seconds, seed):
    numbers = np.random.default_rng(seed).normal(size=(3, len(names)))
    arrays = [row if use else [] for row, use in zip(numbers, present, strict=True)]
    data = cdr(message(seconds * 10**9 + 5, names, *arrays, frame=frame))
    layout = Layout.of(data)
    oracle = TYPES.deserialize_cdr(data, JOINT_STATE)
    stamps, *fast = layout.decode([data, data])
    assert layout.fits(data)
    assert layout.names == tuple(oracle.name)
    assert stamps.tolist() == [seconds * 10**9 + 5] * 2
    general = (oracle.position, oracle.velocity, oracle.effort)
    for values, expected in zip(fast, general, strict=True):
        expected = expected if len(expected) else np.full(len(names), np.nan)
        np.testing.assert_array_equal(values, [expected, expected])


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_counted_not_raised(data):
    good = cdr(wave(1)[0][1])
    decoder, groups = decoded([good, data, good])
    assert sum(group.count for group in groups) + sum(decoder.damaged.values()) == 3


@settings(deadline=None)
@given(st.data())
def test_damaged_messages_are_counted_not_raised(data):
    good = bytearray(cdr(wave(1)[0][1]))
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    decoder = JointStateDecoder()
    decoder.add_all([(1, bytes(good[: data.draw(st.integers(0, len(good)))]))])
    try:
        decoder.finish()
    except RecordingError as error:
        assert 'none of the 1 messages' in str(error)


def test_blocks_are_joined_in_order(monkeypatch):
    monkeypatch.setattr(module, 'BLOCK', 7)
    states = [state for _, state in wave(50)]
    _, groups = decoded([cdr(state) for state in states])
    assert [group.count for group in groups] == [50]
    np.testing.assert_array_equal(groups[0].take('row'), np.arange(1, 51))
    np.testing.assert_array_equal(groups[0].take('effort'), [state.effort for state in states])


def test_big_endian_messages_are_read():
    states = [state for _, state in wave(3)]
    _, groups = decoded([cdr(state, little_endian=False) for state in states])
    np.testing.assert_array_equal(groups[0].take('position'), [s.position for s in states])


def test_unclean_padding_changes_nothing(monkeypatch):
    monkeypatch.setattr(module, 'MAX_LAYOUTS', 4)
    states = [state for _, state in wave(40)]
    messages = []
    for number, state in enumerate(states):
        data = bytearray(cdr(state))
        (length,) = struct.unpack_from('<I', data, 12)
        data[16 + length : 20] = bytes([number]) * (4 - length)  # padding behind the frame
        messages.append(bytes(data))
    assert len({data[12:24] for data in messages}) == 40
    _, groups = decoded(messages)
    assert [group.count for group in groups] == [40]
    assert sorted(groups[0].take('row')) == list(range(1, 41))


def test_arrays_that_do_not_fit_the_names_are_refused():
    with pytest.raises(ValueError, match='1 values for 2 joints'):
        Layout.of(cdr(message(1, ['a', 'b'], [1.0], [], [])))


def test_canonical_refuses_what_is_no_message():
    with pytest.raises(ValueError, match='not a JointState'):
        canonical(b'\x00\x01\x00\x00abc')


def test_no_readable_message_is_an_error():
    decoder = JointStateDecoder()
    decoder.add_all([(1, b'nonsense'), (2, b'')])
    with pytest.raises(RecordingError, match='none of the 2 messages can be read'):
        decoder.finish()
