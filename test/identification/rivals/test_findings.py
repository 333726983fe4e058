# SPDX-License-Identifier: Apache-2.0
"""Texts of the rivals: joints, numbers, evidence, and what explains nearly as much."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import exchanged, one, plant, reading_of, scaled, torque

from robodyn_ros.faults import FAULTS
from robodyn_ros.findings import FINDINGS
from robodyn_ros.identification.rivals import findings as texts
from robodyn_ros.identification.rivals.compare import OF_SIGNAL, compare
from robodyn_ros.identification.rivals.findings import rival_findings


@pytest.fixture(scope='module')
def reading():
    model, recording = plant('scara3')
    return reading_of(model, exchanged(recording, 0, 1))


@pytest.fixture(scope='module')
def noise():
    model, recording = plant('delta3')
    random = np.random.default_rng(2)
    return reading_of(model, torque(recording, random.normal(size=recording.torque.shape)))


def test_the_evidence_is_the_error_that_is_left(reading):
    (item,) = rival_findings(reading)
    joint, share = compare(reading)[0].evidence
    name = reading.present.model.joint_names[joint]
    assert f'error of {name} on held-out parts of the recording is {share:.0%}' in item.text


def named(reading, factor=1.0, key=None, joints=None, last=False):
    best = compare(reading)[0]
    rival = replace(
        best.rival,
        key=key or best.rival.key,
        joints=best.rival.joints if joints is None else joints,
        last=last,
    )
    return replace(best, rival=rival, gain=factor * best.gain)


@pytest.mark.parametrize(
    ('key', 'factor', 'last', 'told'),
    [
        ('torque_sign', 0.9, False, True),
        ('torque_sign', 0.7, False, False),
        ('torque_sign', 0.9, True, False),
        ('joint_order.names', 0.9, False, False),  # the same code
    ],
)
def test_another_cause_is_told_if_it_explains_nearly_as_much(
    reading, monkeypatch, key, factor, last, told
):
    pair = (named(reading), named(reading, factor, key, last=last))
    monkeypatch.setattr(texts, 'compare', lambda *_: pair)
    (item,) = rival_findings(reading)
    assert item.code == 'joint_order' and ('Nearly as likely: ' in item.text) == told
    assert not told or 'has the wrong sign' in item.text


@pytest.mark.parametrize(
    ('joints', 'words', 'joint'),
    [
        ((1,), 'torque of joint2 has', 'joint2'),
        ((0, 2), 'torque of joint1 and joint3 has', ''),
        ((0, 1, 2), 'torque of joint1 to joint3 has', ''),
    ],
)
def test_joints_are_named_in_words(reading, monkeypatch, joints, words, joint):
    best = (named(reading, key='torque_sign', joints=joints),)
    monkeypatch.setattr(texts, 'compare', lambda *_: best)
    (item,) = rival_findings(reading)
    assert words in item.text and item.joint == joint


def test_the_usual_reason_of_a_factor_is_told():
    model, recording = plant('delta3')
    (item,) = rival_findings(reading_of(model, scaled(recording, one(recording, 1, 2.0))))
    assert item.code == 'torque_factor' and 'two motors count as one' in item.text


def test_noise_is_not_explained_where_every_hypothesis_was_tried(noise):
    (item,) = rival_findings(noise)
    assert item.code == 'not_explained' and 'joint1 to joint3' in item.text
    left = float(re.search(r'(\d+)% of it is left', item.text)[1])
    assert 80.0 < left < 130.0
    assert not list(rival_findings(noise, OF_SIGNAL))


def test_no_remedy_proposes_to_raise_a_limit():
    for key, entry in [*FINDINGS.items(), *FAULTS.items()]:
        assert '--max-relative-error' not in entry.remedy, key
        assert 'raise ' not in entry.remedy, key
