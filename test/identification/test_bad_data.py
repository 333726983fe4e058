# SPDX-License-Identifier: Apache-2.0
"""Bad recordings end as a failed result whose finding names joint and cause."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.cli.main import main
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts

XML = random_urdf(3, 90, types=('revolute',))
MODEL, TRUTH = arm(XML)
RATE = 500.0
GOOD = record(MODEL, TRUTH, 5000, noise=0.02, derivatives=False, rate=RATE)
OTHER = record(MODEL, TRUTH, 5000, seed=1, noise=0.02, derivatives=False, rate=RATE)


def changed(name, column, change):
    values = np.array(getattr(GOOD, name))
    values[:, column] = change(values[:, column])
    return replace(GOOD, **{name: values})


def rank_deficient():
    """All joints move alike, so that no sample tells them apart."""
    q = np.repeat(0.6 * np.sin(2.0 * np.pi * 0.3 * GOOD.time)[:, None], 3, axis=1)
    w = 2.0 * np.pi * 0.3
    qd = np.repeat(0.6 * w * np.cos(w * GOOD.time)[:, None], 3, axis=1)
    torque = MODEL.torque(q, qd, -(w**2) * q, TRUTH)
    torque += 0.02 * torque.std(axis=0) * np.random.default_rng(4).normal(size=q.shape)
    return replace(GOOD, position=q, torque=torque)


def nan_block(values, share):
    values[1000 : 1000 + round(share * len(values))] = np.nan
    return values


def with_turned(recording, joint):
    """The same recording with another flaw: the sign of a torque."""
    signs = np.where(np.arange(3) == joint, -1.0, 1.0)
    return replace(recording, torque=recording.torque * signs)


TURNED = np.array([1.0, -1.0, 1.0])
UNIT = np.abs(GOOD.torque).max(axis=0) / 1000.0
"""Step of a torque in per mille."""
ROWS = np.arange(len(GOOD))
LATER = ROWS - 90 * (len(GOOD) // 2 <= ROWS)
"""Samples whose second half is 0.18 s late."""


def weight():
    still = np.zeros_like(GOOD.position)
    return MODEL.torque(GOOD.position, still, still, TRUTH)


# how it looks, finding, joint that it names, words that say the cause
BAD = {
    'rank deficient': (
        rank_deficient,
        'rank_deficient',
        '',
        'parameter combinations. They act on joint1',
    ),
    'frozen': (
        lambda: changed('position', 1, lambda q: np.full_like(q, 0.3)),
        'frozen_joint',
        'joint2',
        'cannot be explained by a joint at rest',
    ),
    'wrong sign': (
        lambda: changed('torque', 1, lambda tau: -tau),
        'torque_sign',
        'joint2',
        'sign',
    ),
    'exchanged': (
        lambda: replace(GOOD, torque=GOOD.torque[:, [1, 0, 2]]),
        'joint_order',
        '',
        'torques of joint1 and joint2 are exchanged',
    ),
    'lost': (
        lambda: replace(GOOD, torque=GOOD.torque * (GOOD.time < 0.8 * GOOD.time[-1])[:, None]),
        'torque_lost',
        '',
        'it was lost',
    ),
    'late from one moment on': (
        lambda: replace(GOOD, torque=GOOD.torque[LATER]),
        'delay_changes',
        '',
        'later after',
    ),
    'unsigned': (
        lambda: replace(GOOD, torque=np.abs(GOOD.torque)),
        'torque_unsigned',
        '',
        'without its sign',
    ),
    'wrapped': (
        lambda: replace(GOOD, torque=np.round(GOOD.torque / UNIT) % 65536 * UNIT),
        'torque_wrapped',
        '',
        'read as an unsigned one',
    ),
    'axis reversed': (
        lambda: replace(GOOD, position=GOOD.position * TURNED, torque=GOOD.torque * TURNED),
        'axis_reversed',
        'joint2',
        'axis of joint2 points the other way',
    ),
    'zero of an encoder': (
        lambda: changed('position', 1, lambda q: q + np.pi / 2.0),
        'encoder_offset',
        'joint2',
        'is not that of the URDF',
    ),
    'motor turns': (
        lambda: changed('position', 1, lambda q: 100.0 * q),
        'position_factor',
        'joint2',
        'that of the motor',
    ),
    'without gravity': (
        lambda: replace(GOOD, torque=GOOD.torque - weight()),
        'effort_without_gravity',
        '',
        'has no gravity',
    ),
    'NaN block': (
        lambda: changed('torque', 1, lambda tau: nan_block(tau, 0.2)),
        'nan_samples',
        'joint2',
        'longest block 2 s (1000 samples) from 2.000 s',
    ),
    'NaN, and a wrong sign': (
        lambda: with_turned(changed('torque', 1, lambda tau: nan_block(tau, 0.2)), 2),
        'torque_sign',
        'joint3',
        'sign',
    ),
    '100 samples': (
        lambda: GOOD.slice(slice(0, 100)),
        'too_few_samples',
        '',
        'could be identified: ',
    ),
}


@pytest.mark.parametrize('case', BAD)
def test_a_finding_names_joint_and_cause_and_nothing_is_exported(case, tmp_path):
    build, code, joint, words = BAD[case]
    result = identify(build(), MODEL, options=IdentifyOptions(keep_signals=True))
    assert not result.success
    found = [item for item in result.findings if (item.code, item.joint) == (code, joint)]
    assert [item.severity for item in found] == ['error'], result.findings
    if case == '100 samples':
        assert 'has 0.198 s at 500 Hz' in found[0].remedy and 'nan' not in result.summary()
    assert words in found[0].text and joint in found[0].text
    files = export(result, tmp_path)
    assert result.verdict.inertials.word == 'not usable' and files.urdf is None
    if case == 'wrong sign':  # the other joints can be used
        refused = load_identified_model(files.result).verdict.list_refused('feedforward')
        assert 'torque_sign' in refused[joint] and 'joint3' not in refused
        return
    assert files.result is None
    assert not (tmp_path / 'result.yaml').exists() and not (tmp_path / 'robot.urdf').exists()
    with pytest.raises(IdentificationError, match='failed and is not exported'):
        write_result(result, tmp_path / 'result.yaml')


def write_file(recording, path):
    """A CSV with its NaN, which a Recording does not have any more."""
    columns = [recording.time, *recording.position.T, *recording.torque.T]
    table = np.column_stack(columns)
    if path.stem == 'nan_block':  # rows that were left out are there in the file
        table = np.column_stack([GOOD.time, GOOD.position, GOOD.torque])
        table[1000:2000, 5] = np.nan
    names = [f'{word}_joint{k}' for word in ('q', 'tau') for k in (1, 2, 3)]
    np.savetxt(path, table, delimiter=',', header=','.join(['time', *names]), comments='')


def test_a_short_nan_block_is_left_out_like_a_gap():
    recording = changed('torque', 1, lambda tau: nan_block(tau, 0.08))
    assert len(recording) == 4600
    result, clean = identify(recording, MODEL), identify(GOOD, MODEL)
    assert result.success
    (found,) = (item for item in result.findings if item.code == 'nan_samples')
    assert (found.severity, found.joint) == ('warning', 'joint2')
    assert 'torque' in found.text and '0.8 s (400 samples) from 2.000 s' in found.text
    residual = clean.identification.relative_residual
    assert result.identification.relative_residual == pytest.approx(residual, rel=0.05)
    assert np.abs(result.base_values - clean.base_values).max() < 0.2


@pytest.mark.parametrize('samples', [2, 100])
def test_too_few_samples_leave_no_estimate_and_nothing_to_force(samples, tmp_path, capsys):
    result = identify(GOOD.slice(slice(0, samples)), MODEL)
    assert not result.success and not result.has_estimate
    json.dumps(json_facts(result), allow_nan=False)
    files = export(result, tmp_path, export_failed=True)
    assert files.result is None and 'nothing could be identified' in files.notes[0]
    with pytest.raises(IdentificationError, match='too few to filter'):
        write_result(result, tmp_path / 'result.yaml', export_failed=True)
    write_file(GOOD.slice(slice(0, samples)), tmp_path / 'few.csv')
    (tmp_path / 'robot_in.urdf').write_text(XML)
    assert (
        main(['identify', str(tmp_path / 'few.csv'), '--urdf', str(tmp_path / 'robot_in.urdf')])
        == 1
    )
    text = capsys.readouterr().out
    assert text.startswith('identification FAILED') and 'error: too_few_samples: ' in text


def test_a_validation_that_is_too_short_is_a_finding_and_no_exception():
    result = identify(GOOD, MODEL, validation=OTHER.slice(slice(0, 50)))
    assert not result.success and result.validation is None and result.has_estimate
    (found,) = (item for item in result.findings if item.severity == 'error')
    assert found.code == 'validation_too_short' and '50 samples' in found.text


def test_a_contact_in_the_validation_is_named_and_no_flaw_of_the_joints():
    torque = np.array(OTHER.torque)
    torque[2000:2500] += 0.7 * np.abs(torque).max(axis=0)
    result = identify(GOOD, MODEL, validation=replace(OTHER, torque=torque))
    (found,) = (item for item in result.findings if item.code == 'disturbed_interval')
    assert found.severity == 'warning' and 'the validation: ' in found.text


def torn():
    """A recording of pieces, too short to filter, between gaps that no low pass bridges."""
    pieces = np.flatnonzero(np.arange(len(GOOD.time)) % 600 < 10)
    columns = {
        name: value[pieces]
        for name in ('time', 'position', 'velocity', 'torque')
        if (value := getattr(GOOD, name)) is not None
    }
    return replace(GOOD, **columns, source='torn')


@pytest.mark.parametrize(
    ('others', 'reason'),
    [
        ((GOOD, OTHER), 'gaps and repeated values leave no usable sample of torn'),
        ((GOOD,), f'without {GOOD.source}, no joint has a moving sample'),
    ],
)
@pytest.mark.parametrize('first', [True, False])
def test_a_recording_that_cannot_be_left_out_is_an_error_beside_the_estimate(
    others, reason, first
):
    recordings = (torn(), *others) if first else (*others, torn())
    result = identify(recordings, MODEL, validation='leave-one-out')
    assert not result.success and result.validation is None and result.has_estimate
    (found,) = (item for item in result.findings if item.severity == 'error')
    assert found.code == 'validation_too_short'
    if first:  # it is the first to be left out
        reason = 'gaps and repeated values leave no usable sample of torn'
    assert reason in found.text


@pytest.mark.parametrize('silent', [[0, 1, 2], [1]])
def test_torque_that_is_zero_is_told_without_a_warning(silent):
    torque = np.array(GOOD.torque)
    torque[:, silent] = 0.0
    quiet = replace(GOOD, torque=torque)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        result = identify(quiet, MODEL)
    assert not result.success and result.has_estimate == (len(silent) < 3)
    named = [item.joint for item in result.findings if item.code == 'zero_torque']
    assert named == [f'joint{k + 1}' for k in silent]


@pytest.mark.parametrize('value', [0.0, 1.5])
def test_a_joint_without_torque_leaves_the_others_as_if_its_equations_were_absent(value):
    torque = np.array(GOOD.torque)
    torque[:, 1] = value
    result, clean = identify(replace(GOOD, torque=torque), MODEL), identify(GOOD, MODEL)
    (found,) = (item for item in result.findings if item.severity == 'error')
    assert found.joint == 'joint2' and found.code == (
        'constant_torque' if value else 'zero_torque'
    )
    assert not any(word in item.text for item in result.findings for word in ('inf%', 'Eigval'))
    other = record(MODEL, TRUTH, 2000, seed=3)
    motion = (other.position, other.velocity, other.acceleration)
    error, usual = (
        np.abs(each.torque(*motion) - other.torque).max(axis=0) for each in (result, clean)
    )
    assert (error[[0, 2]] < 2.0 * usual[[0, 2]] + 0.01).all()
    assert result.identification.relative_residual < 1.1 * clean.identification.relative_residual


@pytest.mark.parametrize(('samples', 'severity'), [(100, 'warning'), (30, 'error')])
def test_nearly_enough_samples_are_a_warning(samples, severity):
    """Ten per parameter are wanted; fewer than two cannot be tested."""
    result = identify(record(MODEL, TRUTH, samples, noise=0.02), MODEL)
    (found,) = [
        item
        for item in result.findings
        if (item.code, item.joint) == ('too_few_samples', 'joint1')
    ]
    assert found.severity == severity and 'at least 160 are needed' in found.text
