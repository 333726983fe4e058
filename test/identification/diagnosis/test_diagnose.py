# SPDX-License-Identifier: Apache-2.0
"""Every flaw is named first, healthy recordings are left in peace; more of both in the bench."""

import flaws
import numpy as np
import pytest
from robots import SIX_AXIS, random_urdf
from simulation import arm, record

from robodyn_ros.findings import Finding
from robodyn_ros.identification.diagnosis.diagnose import diagnose
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model

ROBOTS = flaws.robots(7)
QUICK = IdentifyOptions(consistent='no')

CASES = [
    ('too slow', 'scara3', 1),
    ('too slow', 'axis', 2),
    ('saturation', 'axis', 0),
    ('saturation', 'delta3', 1),
    ('too short', 'scara', 0),
    ('small region', 'delta', 1),
    ('small region', 'lift', 2),
    ('wrong sign', 'lift', 0),
    ('wrong sign', 'scara', 2),
    ('wrong factor', 'delta3', 0),
    ('wrong factor', 'scara', 1),
    ('wrong unit', 'six_axis', 1),
    ('wrong model', 'axis', 0),
    ('wrong model', 'lift', 1),
    ('wrong model', 'six_axis', 1),
    ('noise', 'scara', 0),
    ('noise', 'puma', 1),
    ('joints together', 'delta3', 1),
    ('motion repeats', 'scara3', 1),
    ('delay', 'lift', 1),
    ('delay', 'delta', 1),
    ('stale', 'scara3', 0),
    ('stale', 'axis', 2),
    ('frozen', 'delta3', 1),
]


def result_of(case):
    options = IdentifyOptions(consistent='no', position_limits=flaws.limits_of(case.robot))
    return identify(case.recording, case.model, options=options)


@pytest.mark.parametrize(('flaw', 'robot', 'level'), CASES)
def test_the_cause_comes_first(flaw, robot, level):
    case = flaws.flawed(flaw, ROBOTS[robot], 43, level)
    result = result_of(case)
    first = result.findings[0]
    assert first.code in (case.code, *case.also), [item.text for item in result.findings]
    if case.joint:
        assert first.joint == case.joint and case.joint in first.text
    assert any(letter.isdigit() for letter in first.text)
    if first.code not in ('frozen_joint', 'stale_joint'):  # these depend on what they spoil
        assert (first.severity == 'error') == first.code.startswith(('torque', 'wrong'))
    failed = any(item.severity == 'error' for item in result.findings)
    assert result.success != failed


@pytest.mark.parametrize(
    ('robot', 'kind'),
    [(name, kind) for name in ('scara', 'delta', 'axis', 'lift') for kind in ('sine', 'fourier')]
    + [('puma', 'sine'), ('six_axis', 'fourier')],
)
def test_nothing_is_wrong_with_a_healthy_recording(robot, kind):
    plant = ROBOTS[robot]
    recording = flaws.healthy(plant, 44, kind)
    result = result_of(flaws.Flawed(recording, plant.model, plant, ''))
    assert result.success
    assert all(item.severity != 'error' for item in result.findings)


def test_every_flaw_is_tested_here():
    assert {flaw for flaw, _, _ in CASES} == set(flaws.FLAWS)


@pytest.mark.parametrize(
    ('factor', 'words'),
    [(1000.0, 'mNm'), (1.0 / 80.0, 'gear of ratio'), (2.0, '2 pi'), (3.3, 'Check its torque')],
)
def test_the_likely_reason_of_a_factor_is_named(factor, words):
    plant = ROBOTS['delta3']
    recording = flaws.healthy(plant, 46)
    torque = recording.torque * np.array([1.0, factor, 1.0])
    worse = flaws.Flawed(flaws._changed(recording, torque=torque), plant.model, plant, '')
    first = result_of(worse).findings[0]
    assert (first.code, first.joint) == ('torque_factor', 'joint2') and words in first.message


def test_where_two_joints_only_contradict_each_other_both_are_named():
    text = result_of(flaws.flawed('wrong factor', ROBOTS['scara3'], 43, 1)).findings[0].text
    assert 'joint1' in text and 'joint2' in text and 'Nearly as likely' in text


def test_semi_static_motion_is_neither_slow_nor_short():
    """The semi-static Puma is meant to be moved slowly, for about a cycle."""
    puma = ROBOTS['puma']
    case = flaws.Case(puma, 3)
    case.frequency, case.rate = 0.01 * case.frequency / case.frequency.min(), 50.0
    case.duration = 110.0
    recording, _ = flaws.record(case)
    semi_static = puma.wrong[0]
    codes = {item.code for item in identify(recording, semi_static, options=QUICK).findings}
    assert not codes & {'moving_too_slowly', 'too_short'}


def test_without_limits_no_region_is_too_small():
    case = flaws.flawed('small region', ROBOTS['scara3'], 43, 2)
    codes = [f.code for f in identify(case.recording, case.model, options=QUICK).findings]
    assert 'region_too_small' not in codes
    six_axis = flaws.flawed('small region', ROBOTS['six_axis'], 43, 2).recording
    first = identify(six_axis, robot_model(SIX_AXIS), options=QUICK).findings[0]
    assert first.code == 'region_too_small'  # limits are in the URDF


def test_a_diagnosis_that_breaks_down_is_no_reason_to_lose_the_result(monkeypatch):
    def broken(case):
        raise ValueError('two\nlines')

    monkeypatch.setattr('robodyn_ros.identification.diagnosis.diagnose.cutoff_findings', broken)
    found = diagnose(type('Case', (), {'recording': Empty, 'signals': Empty}))
    text = 'The diagnosis was not completed: two lines.'
    assert found == (Finding('diagnosis_incomplete', text, severity='info'),)


class Empty:
    findings = ()


def test_gravity_in_another_direction_is_named():
    """A robot on the ceiling whose URDF stands on the floor."""
    model, truth = arm(random_urdf(3, 12, types=('revolute',)), gravity=(0.0, 0.0, 9.81))
    upright = robot_model(random_urdf(3, 12, types=('revolute',)))
    first = identify(record(model, truth, noise=0.01), upright, options=QUICK).findings[0]
    assert first.code == 'wrong_dynamic_model' and 'upside down' in first.text
