# SPDX-License-Identifier: Apache-2.0
"""JointState layouts against rosbags as the oracle."""

import numpy as np
import pytest
from bags import JOINT_STATE, TYPES, cdr, message, wave
from hypothesis import given
from hypothesis import strategies as st

from robodyn_ros.wire.cursor import WireError
from robodyn_ros.wire.joint_state import FIELDS, JointStateLayout, encode_joint_states, stamp_of

TEXT = st.text(st.characters(exclude_characters='\0', exclude_categories=['Cs']), min_size=1)
NAMES = st.lists(TEXT, min_size=1, max_size=7, unique=True)
PRESENT = st.tuples(st.booleans(), st.booleans(), st.booleans())
SECONDS = st.integers(0, 2**31 - 1)
SEEDS = st.integers(0, 100)


@given(NAMES, st.just('') | TEXT, PRESENT, SECONDS, SEEDS)
def test_decoding_agrees_with_rosbags(names, frame, present, seconds, seed):
    numbers = np.random.default_rng(seed).normal(size=(3, len(names)))
    arrays = [row if use else [] for row, use in zip(numbers, present, strict=True)]
    data = cdr(message(seconds * 10**9 + 5, names, *arrays, frame=frame))
    layout = JointStateLayout(data)
    oracle = TYPES.deserialize_cdr(data, JOINT_STATE)
    stamps, *block = layout.decode([data, data])
    values = layout.numbers.unpack_from(data)
    assert layout.fits(data)
    assert layout.names == tuple(oracle.name)
    assert stamps.tolist() == [seconds * 10**9 + 5] * 2 == [stamp_of(data)] * 2
    assert values[:2] == (seconds, 5)
    for field, decoded in zip(FIELDS, block, strict=True):
        expected = getattr(oracle, field)
        assert (field in layout.columns) == bool(len(expected))
        if len(expected):
            first = layout.columns[field]
            np.testing.assert_array_equal(values[first : first + len(names)], expected)
        else:
            expected = np.full(len(names), np.nan)
        np.testing.assert_array_equal(decoded, [expected, expected])


@given(NAMES, PRESENT, SECONDS, SEEDS)
def test_encoding_agrees_with_rosbags(names, present, seconds, seed):
    stamps = np.array([seconds * 10**9, seconds * 10**9 + 999_999_999])
    numbers = np.random.default_rng(seed).normal(size=(3, 2, len(names)))
    arrays = [block if use else None for block, use in zip(numbers, present, strict=True)]
    for row, encoded in enumerate(encode_joint_states(names, stamps, *arrays)):
        values = [[] if block is None else block[row] for block in arrays]
        assert encoded.tobytes() == cdr(message(int(stamps[row]), names, *values))


@given(st.data())
def test_damaged_messages_are_refused_or_read_within_their_end(data):
    good = bytearray(cdr(wave(1)[0][1]))
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(good[: data.draw(st.integers(0, len(good)))])
    try:
        layout = JointStateLayout(damaged)
    except WireError as error:
        assert str(error)
    else:
        assert layout.fits(damaged)
        assert len(layout.decode([damaged])[0]) == 1


def test_each_truncated_message_is_refused():
    data = cdr(wave(1)[0][1])
    for length in range(len(data)):
        with pytest.raises(WireError):
            JointStateLayout(data[:length])


def test_padding_and_options_may_change_and_names_may_not():
    data = cdr(wave(1)[0][1])
    layout = JointStateLayout(data)
    constant = {at for at in range(len(data)) if not layout.fits(_flipped(data, at))}
    frame, names = range(12, 17), [*range(20, 30), *range(32, 38)]
    counts = [*range(40, 44), *range(60, 64), *range(84, 88)]
    assert constant == {0, 1, *frame, *names, *counts}


def _flipped(data, at):
    return bytes([*data[:at], data[at] ^ 0xFF, *data[at + 1 :]])


def test_the_stamp_is_read_as_soon_as_it_is_complete():
    data = b'\0\1\0\0' + bytes([1, 0, 0, 0, 2, 0, 0, 0])
    assert stamp_of(data) == 1_000_000_002 and stamp_of(data[:-1]) is None
