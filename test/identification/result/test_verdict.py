# SPDX-License-Identifier: Apache-2.0
"""Words and reasons, what is left out, and the way through a file."""

import math

import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.verdict import (
    JointVerdict,
    Use,
    Verdict,
    make_unknown_verdict,
    of_block,
    read_verdict,
    verdict_hash,
)

CARE, BAD = Use('with care', ('slow', 'short')), Use('not usable', ('noise',))
GIVEN = Verdict(
    (
        JointVerdict('a', CARE, Use(), 0.1, 0.2),
        JointVerdict('b', BAD, BAD, 0.6, math.nan, expected=0.3),
        JointVerdict('c', BAD, CARE, math.nan, math.nan, moved=False),
    ),
    CARE,
    tested='held-out blocks',
)


def test_the_worst_evidence_counts_with_the_reasons_for_it():
    assert Use.of([]) == Use() == Use.of([('usable', 'fine')])
    found = Use.of([('with care', 'x'), ('not usable', 'y'), ('usable', 'z'), ('not usable', 'y')])
    assert found == Use('not usable', ('y',)) and found.text == 'not usable: y'


def test_a_joint_that_moved_and_is_good_for_nothing_is_no_success():
    assert not GIVEN.success and GIVEN.worth_writing
    one, bad, idle = GIVEN.joints
    assert Verdict((one, idle), CARE).success  # an idle joint does not matter
    assert not Verdict((bad, idle), CARE).worth_writing and not Verdict((idle,), CARE).success
    for payload, good in ((CARE, True), (BAD, False)):
        loaded = Verdict((one,), CARE, payload)
        assert loaded.success is good and loaded.worth_writing is good


def test_what_is_refused_can_be_allowed_by_name():
    assert GIVEN.list_refused('feedforward') == {'b': 'noise', 'c': 'noise'}
    assert GIVEN.list_refused('monitoring', ['']) == {'b': 'noise'}
    assert GIVEN.list_refused('feedforward', ['b', 'c']) == {}
    with pytest.raises(IdentificationError, match=r"'d' is no joint of the model.*'a', 'b', 'c'"):
        GIVEN.list_refused('feedforward', ['d'])


def block(verdict=GIVEN, hash='model'):
    found = verdict.to_block()
    return found | {'hash': verdict_hash(found, hash)}


@pytest.mark.parametrize('payload', [None, CARE])
def test_a_block_gives_the_verdict_back(payload):
    given = Verdict(GIVEN.joints, GIVEN.inertials, payload, GIVEN.tested)
    back = read_verdict(block(given), 'abc', 'model', 'file')
    assert repr(back) == repr(given) == repr(of_block(given.to_block()))


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        ({'feedforward': ['usable'] * 3}, 'does not fit its hash'),
        ({'monitoring': ['usable', 'with care', 'with care']}, 'does not fit its hash'),
        ({'joints': ['a', 'c', 'b']}, 'does not fit its hash'),
        ({'feedforward': ['good'] * 3}, "'good' is none of not usable, with care, usable"),
        ({'error': [0.1]}, 'is damaged'),
        ({'moved': None}, 'is damaged'),
    ],
)
def test_a_changed_block_is_refused(change, text):
    with pytest.raises(IdentificationError, match=f'^file: the verdict.*{text}'):
        read_verdict(block() | change, 'abc', 'model', 'file')
    with pytest.raises(IdentificationError, match='name it in allowed_joints'):
        read_verdict(block(), 'abc', 'another model', 'file')
    with pytest.raises(IdentificationError, match='is damaged'):
        read_verdict('usable', 'abc', 'model', 'file')


def test_a_result_without_a_verdict_is_for_all_with_care():
    found = read_verdict(None, 'ab', 'model', 'file')
    assert found == make_unknown_verdict('ab') and found.success
    assert 'without a verdict' in found.joints[1].text


def test_a_result_file_has_the_verdict(tmp_path):
    model, truth = arm(random_urdf(2, 3, types=('revolute',)))
    result = identify(record(model, truth, 1500, noise=0.05), model)
    write_result(result, tmp_path / 'result.yaml')
    found = load_identified_model(tmp_path / 'result.yaml').verdict
    assert repr(found) == repr(result.verdict) and found.tested == 'held-out blocks'
    text = (tmp_path / 'result.yaml').read_text()
    words = f'feedforward: {[each.feedforward.word for each in found.joints]}'.replace("'", '')
    assert words in text
    edited = tmp_path / 'edited.yaml'
    edited.write_text(text.replace(words, words.replace('usable', 'not usable', 1)))
    with pytest.raises(IdentificationError, match='the file was changed'):
        load_identified_model(edited)
