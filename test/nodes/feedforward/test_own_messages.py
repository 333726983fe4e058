# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.nodes.feedforward.own_messages import ON_THE_WAY, SILENCE, OwnMessages


@pytest.fixture
def own(clock):
    return OwnMessages()


def test_a_message_that_nobody_here_sent_is_another_s(own):
    assert own.foreign(b'another')
    own.sent(b'own')
    assert not own.foreign(b'own')
    assert own.foreign(b'another')


def test_what_arrives_before_the_own_message_has_come_back_was_there_before_it(own, clock):
    own.sent(b'own')  # b'another' was waiting
    assert not own.foreign(b'another')
    clock[0] += 0.9 * SILENCE
    assert not own.foreign(b'another')
    assert not own.foreign(b'own')
    assert own.foreign(b'another')


def test_an_own_message_that_never_comes_back_hides_nobody_for_long(own, clock):
    own.sent(b'lost')
    clock[0] += 1.1 * SILENCE
    assert own.foreign(b'another')
    own.sent(b'later')
    assert not own.foreign(b'later')
    assert own.foreign(b'another'), 'those before it will not come any more'


def test_the_same_message_may_be_sent_twice(own):
    for _ in range(2):
        own.sent(b'own')
    assert not own.foreign(b'own')
    assert not own.foreign(b'another')
    assert not own.foreign(b'own')
    assert own.foreign(b'own'), 'a third one is not ours'


def test_memory_is_bounded(own):
    for number in range(3 * ON_THE_WAY):
        own.sent(str(number).encode())
    assert not own.foreign(str(3 * ON_THE_WAY - 1).encode())
    assert own.foreign(b'another')
