# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from bags import cdr, wave

from robodyn_ros.errors import RecordingError
from robodyn_ros.recording.topics import decoder as module
from robodyn_ros.recording.topics.decoder import JointStateDecoder


def decoded(messages):
    decoder = JointStateDecoder()
    decoder.add_all(enumerate(messages))
    return decoder, decoder.finish()


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


def test_changing_frames_are_read(monkeypatch):
    monkeypatch.setattr(module, 'MAX_LAYOUTS', 4)
    states = [state for _, state in wave(40)]
    for number, state in enumerate(states):
        state.header.frame_id = f'frame {number:2}'
    _, groups = decoded([cdr(state) for state in states])
    assert [group.count for group in groups] == [40]
    assert sorted(groups[0].take('row')) == list(range(1, 41))


def test_no_readable_message_is_an_error():
    decoder = JointStateDecoder()
    decoder.add_all([(1, b'nonsense'), (2, b'')])
    with pytest.raises(RecordingError, match=r'none of the 2 messages can be read \([a-z]'):
        decoder.finish()
