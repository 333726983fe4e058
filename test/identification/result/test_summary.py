# SPDX-License-Identifier: Apache-2.0
"""A summary fits on a terminal, and its most important lines come first."""

import math

import pytest
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.result.summary import (
    FINDINGS,
    LINES,
    MORE,
    WIDTH,
    joint_table,
    summary_text,
)
from robodyn_ros.identification.result.verdict import JointVerdict, Use, Verdict
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.payload import payload_of


def model(joints):
    kinds = ['prismatic' if number == 1 else 'revolute' for number in range(joints)]
    return FrictionModel(
        joints=[Joint(f'j{number}', kind) for number, kind in enumerate(kinds)], terms=['viscous']
    )


def verdict(joints, worst=-1):
    """The last joint, or joint `worst`, is not usable."""
    bad = Use('not usable', ('60% of its torque is not explained in the fit',))
    uses = [bad if number == worst % joints else Use() for number in range(joints)]
    rows = [
        JointVerdict(f'j{number}', use, Use(), 0.01 * number, 0.02)
        for number, use in enumerate(uses)
    ]
    return Verdict(tuple(rows), Use('with care', ('reasons',)), tested='the validation')


def facts(joints, findings=()):
    return {
        'success': False, 'date': '2026-01-02', 'source': 'a.mcap', 'samples': 123,
        'relative_residual': 0.0123, 'validation_relative_residual': 0.045,
        'candidate_names': ['linear at 10 Hz'], 'physically_consistent': True,
        'validation_source': 'b.mcap', 'validation_samples': 77,
        'verdict': verdict(joints).to_block(), 'findings': list(findings),
    }  # fmt: skip


def test_everything_a_reader_needs_is_there():
    lines = summary_text(model(2), facts(2, ['warning slow: too slow']), None).splitlines()
    assert lines[0] == 'identification FAILED 2026-01-02'
    assert 'recording   residual 1.23%, 123 samples, a.mcap' in lines
    assert 'validation  residual 4.50%, 77 samples, b.mcap' in lines
    words = '2 joints, 2 parameters, linear at 10 Hz, physically consistent'
    assert f'model       {words}' in lines and 'inertials   with care: reasons' in lines
    assert lines[-5:-3] == [
        'joint    error  validation  feed-forward  monitoring  why',
        'j0         0 %         2 %  usable        usable',
    ]
    why = '60% of its torque is not explained in the fit'
    assert lines[-3] == f'j1         1 %         2 %  not usable    usable      {why}'
    assert lines[-2:] == ['', 'warning slow: too slow']


def test_masses_show_a_wrong_unit():
    given = facts(1) | {'moving_mass': 11.577, 'moving_mass_of_urdf': 22113.0}
    lines = summary_text(model(1), given, None).splitlines()
    mass = 'moving links 11.58 kg (not determined by torque alone), by the URDF 2.211e+04 kg'
    assert f'mass        {mass}' in lines
    known = summary_text(model(1), given | {'moving_mass_determined': True}, None)
    assert 'moving links 11.58 kg, by the URDF' in known
    wrong = {'inertials': 'not usable', 'inertials_reasons': 'no robot can have these links'}
    wrong = given | {'verdict': given['verdict'] | wrong}
    assert '11.58 kg' not in summary_text(model(1), wrong, None)
    robot, _ = arm(random_urdf(2, 5, types=('revolute',)))
    carried = payload_of(robot, 2.0)
    masses = {key: value for key, value in given.items() if key.startswith('moving')}
    assert 'moving links' not in summary_text(robot, facts(2) | masses, carried)  # of the base
    for missing in (None, math.nan):
        given['moving_mass'] = missing
        assert 'moving links' not in summary_text(model(1), given, None)


def test_an_unknown_error_is_shown_as_such():
    given = facts(2)
    given['verdict'] |= {'error': [0.1, math.nan], 'other_error': [None, None]}
    lines = summary_text(model(2), given, None).splitlines()
    assert [line.split()[1:4] for line in lines[-2:]] == [['10', '%', '-'], ['-', '-', 'not']]
    given['verdict']['error'] = [math.nan, math.nan]  # nothing could be identified
    assert 'j0' not in summary_text(model(2), given, None)


def test_reasons_that_have_no_room_are_counted():
    care = Use('with care', ('short', 'long ' * 6, 'longer ' * 9))
    given = Verdict((JointVerdict('j0', care, Use(), 0.1, 0.2),), Use())
    assert joint_table(given, WIDTH)[1].endswith(f'usable      short; {"long " * 6} (+1)')
    assert joint_table(given)[1].endswith('; '.join(care.reasons).rstrip())


@pytest.mark.parametrize('joints', [1, 8, 9, 30])
@pytest.mark.parametrize('count', [0, 1, 3, 60])
@pytest.mark.parametrize('most', [LINES, LINES - 5])
def test_it_has_a_limited_size_and_says_what_is_left_out(joints, count, most):
    findings = [f'warning code{n}: {"some words " * 20}' for n in range(count)]
    lines = summary_text(model(joints), facts(joints, findings), None, most).splitlines()
    assert len(lines) <= most and LINES == 30 and max(map(len, lines)) <= WIDTH
    told = sum(line.startswith('warning') for line in lines)
    assert told <= FINDINGS and (told == count or lines[-1] == f'{count} findings in all: {MORE}')
    rows = [line for line in lines if line.startswith('j')][1:]
    assert len(rows) == joints or f'and {joints - len(rows)} more joints: {MORE}' in lines
    assert f'j{joints - 1} ' in rows[-1], 'the joint that is not usable is shown'


def test_facts_of_an_imported_result_may_be_missing():
    lines = summary_text(model(2), {}, None).splitlines()
    assert lines[:2] == [
        'identification of unknown success', 'model       2 joints, 2 parameters',
    ]  # fmt: skip
