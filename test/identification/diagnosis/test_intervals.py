# SPDX-License-Identifier: Apache-2.0
"""Flaws of a part of a recording, each made on a simulated arm."""

import re
from dataclasses import replace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.intervals import (
    half_delay_findings,
    interval_findings,
    stuck_findings,
    validation_findings,
)

MODEL, TRUTH = arm(random_urdf(3, 12, types=('revolute',)))
GOOD = record(MODEL, TRUTH, 4000, noise=0.02)


def changed(change):
    torque = np.array(GOOD.torque)
    change(torque)
    return replace(GOOD, torque=torque)


def found_in(recording):
    case = case_of(MODEL, recording)
    sample = draw(case)
    found = [
        *stuck_findings(case),
        *interval_findings(case, sample),
        *half_delay_findings(case, sample),
    ]
    return {(item.code, item.joint): item for item in found}


def times(item):
    return [float(each) for each in re.findall(r'([\d.]+) s\b', item.text)]


def test_a_healthy_recording_has_no_findings():
    assert not found_in(GOOD)


def test_a_torque_that_is_stuck_is_named():
    def stick(torque):
        torque[1500:3800, 1] = torque[1500, 1]

    item = found_in(changed(stick))['stuck_torque', 'joint2']
    assert item.severity == 'error' and 'from 7.500 s to 18.995 s' in item.text


def test_a_torque_that_stays_for_two_strokes_is_stuck():
    position = GOOD.position[:, 1]
    way, last = 0.0, 1000
    while way < 2.0 * np.ptp(position):
        last += 1
        way = np.abs(np.diff(position[1000:last])).sum() - abs(position[last - 1] - position[1000])

    def stick(torque):
        torque[1000:last, 1] = torque[1000, 1]

    assert ('stuck_torque', 'joint2') in found_in(changed(stick))


@pytest.mark.parametrize('joint', [slice(None), 0])
def test_drives_that_go_off_are_named(joint):
    def off(torque):
        torque[3200:, joint] *= 1e-3

    item = found_in(changed(off))['disturbed_interval', '']
    start, end = times(item)
    assert item.severity == 'error' and abs(start - 16.0) < 0.6 and end > 18.5
    assert ('the drives were off' in item.text) == (joint == slice(None))


@pytest.mark.parametrize('seed', range(3))
def test_torque_that_is_lost_while_the_robot_moves_does_not_hide_itself(seed):
    """A sixth of the recording turns least squares away from the rest."""
    model, truth = arm(random_urdf(6, 30 + seed, types=('revolute',)))
    recording = record(model, truth, 4000, noise=0.02, seed=seed)
    torque = np.array(recording.torque)
    torque[1800:2460] *= 1e-2
    case = case_of(model, replace(recording, torque=torque))
    (item,) = interval_findings(case, draw(case))
    assert 'the drives were off' in item.text
    start, end = times(item)
    assert abs(start - 9.0) < 0.6 and abs(end - 12.3) < 0.6


def test_contact_is_named():
    def touch(torque):
        torque[1800:2100] += 0.7 * np.abs(torque).max(axis=0)

    assert 'contact' in found_in(changed(touch))['disturbed_interval', ''].text


def test_two_contacts_are_named_as_two_intervals():
    def touch(torque):
        torque[1300:1400] += 0.7 * np.abs(torque).max(axis=0)
        torque[2800:2900] += 0.7 * np.abs(torque).max(axis=0)

    case = case_of(MODEL, changed(touch))
    (item,) = interval_findings(case, draw(case))
    assert np.allclose(times(item), [6.5, 7.0, 14.0, 14.5], atol=0.6)


def on_validation(recording, values):
    case = case_of(MODEL, recording)
    return list(validation_findings(MODEL, values, case.signals, 'other.csv'))


def test_a_contact_in_the_validation_is_named():
    def touch(torque):
        torque[1800:1900] += 0.7 * np.abs(torque).max(axis=0)

    (item,) = on_validation(changed(touch), TRUTH)
    assert item.code == 'disturbed_validation' and item.severity == 'warning'
    start, end = times(item)
    assert abs(start - 9.0) < 0.6 and abs(end - 9.5) < 0.6


def test_torque_that_is_known_is_no_disturbance_of_a_validation():
    signals = case_of(MODEL, GOOD).signals
    known = np.zeros_like(signals.torque)
    known[1800:1900] = 100.0
    carried = replace(signals, torque=signals.torque + known, known=known)
    assert list(validation_findings(MODEL, TRUTH, replace(carried, known=None), 'other.csv'))
    assert not list(validation_findings(MODEL, TRUTH, carried, 'other.csv'))


@pytest.mark.parametrize('values', [TRUTH, 1.1 * TRUTH, 0.0 * TRUTH])
def test_a_model_that_is_wrong_everywhere_is_no_disturbance(values):
    assert not on_validation(GOOD, values)


def test_noise_of_an_interval_does_not_disturb_the_others():
    def shake(torque):
        random = np.random.default_rng(2)
        torque[1800:2100] += 0.5 * torque.std(axis=0) * random.normal(size=(300, 3))

    assert not found_in(changed(shake))


@pytest.mark.parametrize('late', [8, 30])
def test_a_delay_in_one_half_is_named(late):
    def delay(torque):
        torque[2000:, 2] = torque[2000 - late : -late, 2].copy()

    item = found_in(changed(delay))['delay_changes', 'joint3']
    assert item.severity == 'error' and f'by {late * 5} ms in the second' in item.text
