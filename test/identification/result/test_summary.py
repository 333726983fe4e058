# SPDX-License-Identifier: Apache-2.0
"""A summary fits on a terminal, and its most important lines come first."""

import math

import pytest
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.result.summary import LINES, MORE, WIDTH, summary_text
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint
from robodyn_ros.models.payload import payload_of


def model(joints):
    kinds = ['prismatic' if number == 1 else 'revolute' for number in range(joints)]
    return FrictionModel(
        joints=[Joint(f'j{number}', kind) for number, kind in enumerate(kinds)], terms=['viscous']
    )


def facts(joints, findings=()):
    return {
        'success': False, 'date': '2026-01-02', 'source': 'a.mcap', 'samples': 123,
        'relative_residual': 0.0123, 'validation_relative_residual': 0.045,
        'friction_law': 'stribeck', 'physically_consistent': True,
        'validation_source': 'b.mcap', 'validation_samples': 77,
        'max_relative_error_allowed': 0.5, 'success_rule': 'softmc',
        'validation_rms_error': [0.5 + n for n in range(joints)],
        'validation_decisive_error': [0.6 * n for n in range(joints)],
        'findings': list(findings),
    }  # fmt: skip


def test_everything_a_reader_needs_is_there():
    lines = summary_text(model(2), facts(2, ['warning slow: too slow']), None).splitlines()
    assert lines[0] == 'identification FAILED 2026-01-02'
    assert 'recording   residual 1.23%, 123 samples, a.mcap' in lines
    assert 'validation  residual 4.50%, 77 samples, b.mcap' in lines
    words = '2 joints, 2 parameters, friction law stribeck, physically consistent'
    assert f'model       {words}' in lines
    assert 'limit       max error 50% (largest error over the largest torque)' in lines
    assert [line.split() for line in lines[-4:-2]] == [
        ['j0', '0.5', 'Nm', '0.00%'], ['j1', '1.5', 'N', '60.00%', 'above', 'the', 'limit'],
    ]  # fmt: skip
    assert lines[-2:] == ['', 'warning slow: too slow']


def test_masses_show_a_wrong_unit():
    given = facts(1) | {'moving_mass': 11.577, 'moving_mass_of_urdf': 22113.0}
    lines = summary_text(model(1), given, None).splitlines()
    assert 'mass        moving links 11.58 kg, by the URDF 2.211e+04 kg' in lines
    robot, _ = arm(random_urdf(2, 5, types=('revolute',)))
    carried = payload_of(robot, 2.0)
    masses = {key: value for key, value in given.items() if key.startswith('moving')}
    assert 'moving links' not in summary_text(robot, facts(2) | masses, carried)  # of the base
    for missing in (None, math.nan):
        given['moving_mass'] = missing
        assert 'moving links' not in summary_text(model(1), given, None)


def test_a_joint_without_a_measured_torque_has_no_error():
    """Neither zero nor NaN is an error that a reader could take for a good or a bad one."""
    unknown = [0.0, math.nan]
    given = facts(2) | {'validation_rms_error': unknown, 'validation_decisive_error': unknown}
    lines = summary_text(model(2), given, None).splitlines()
    assert [line.split() for line in lines[-2:]] == [['j0', '-', '-'], ['j1', '-', '-']]


@pytest.mark.parametrize('joints', [1, 8, 9, 30])
@pytest.mark.parametrize('count', [0, 1, 3, 60])
@pytest.mark.parametrize('most', [LINES, LINES - 5])
def test_it_has_a_limited_size_and_says_what_is_left_out(joints, count, most):
    findings = [f'info code{n}: {"some words " * 20}' for n in range(count)]
    lines = summary_text(model(joints), facts(joints, findings), None, most).splitlines()
    assert len(lines) <= most and LINES == 25 and max(map(len, lines)) <= WIDTH
    told = sum(line.startswith('info') for line in lines)
    assert told == count or lines[-1] == f'and {count - told} more to do: {MORE}'
    rows = [line for line in lines if line.startswith('j')][1:]
    assert len(rows) == joints or f'and {joints - len(rows)} more joints: {MORE}' in lines
    assert f'j{joints - 1} ' in rows[-1], 'the largest error is shown'


def test_what_to_do_replaces_findings_and_the_others_are_counted():
    given = facts(1, ['error a: long', 'info b: x']) | {'actions': ['error: a (j0): Do this.']}
    lines = summary_text(model(1), given, None).splitlines()
    assert lines[-2:] == ['error: a (j0): Do this.', f'2 findings in all: {MORE}']


def test_errors_come_before_warnings_and_infos():
    given = ['info a: x', 'error b: x', 'warning c: x', 'error d: x']
    lines = summary_text(model(1), facts(1, given), None).splitlines()
    assert lines[-4:] == ['error b: x', 'error d: x', 'warning c: x', 'info a: x']


def test_facts_of_an_imported_result_may_be_missing():
    lines = summary_text(model(2), {}, None).splitlines()
    assert lines[:2] == [
        'identification of unknown success', 'model       2 joints, 2 parameters',
    ]  # fmt: skip
