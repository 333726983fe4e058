# SPDX-License-Identifier: Apache-2.0
"""Flaws of a part of a recording, each made on a simulated arm."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis import intervals
from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.intervals import (
    _typical,
    _worst_intervals,
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


@pytest.mark.parametrize(('strokes', 'stuck'), [(1.4, False), (1.6, True)])
def test_a_torque_that_stays_for_a_stroke_and_a_half_back_is_stuck(strokes, stuck):
    position = GOOD.position[:, 1]
    way, last = 0.0, 1000
    while way < strokes * np.ptp(position):
        last += 1
        way = np.abs(np.diff(position[1000:last])).sum() - abs(position[last - 1] - position[1000])

    def stick(torque):
        torque[1000:last, 1] = torque[1000, 1]

    assert (('stuck_torque', 'joint2') in found_in(changed(stick))) == stuck


@pytest.mark.parametrize('joint', [slice(None), 0])
def test_drives_that_go_off_are_named(joint):
    def off(torque):
        torque[3200:, joint] *= 1e-3

    item = found_in(changed(off))['disturbed_interval', '']
    start, end = times(item)
    assert item.severity == 'error' and 15.4 < start <= 16.0 and end > 18.5
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


@pytest.mark.parametrize(('left', 'reason'), [(0.05, 'the drives were off'), (0.3, 'contact')])
def test_drives_that_are_off_have_less_than_a_tenth_of_the_usual_torque(left, reason):
    def weak(torque):
        torque[1800:2460] *= left

    assert reason in found_in(changed(weak))['disturbed_interval', ''].text


@pytest.mark.parametrize(
    ('raised', 'times', 'found'),
    [
        (slice(100, 150), 10.0, True),
        (slice(0, 50), 10.0, True),
        (slice(350, 400), 10.0, True),
        (slice(100, 110), 2.1, True),
        (slice(100, 150), 1.9, False),
        (slice(100, 230), 10.0, True),
        (slice(100, 240), 10.0, False),  # more than a third is not the exception
    ],
)
def test_the_interval_has_the_blocks_with_twice_the_usual_error(raised, times, found):
    squares = 1.0 + 0.1 * np.cos(np.arange(400))
    expected = np.zeros(400, dtype=bool)
    squares[raised] *= times
    expected[raised] = found
    worst = next(_worst_intervals(squares), np.zeros(400, dtype=bool))
    np.testing.assert_array_equal(worst, expected)


def test_typical_values_are_those_of_most_blocks():
    """Least squares of all blocks have the value 3.5."""
    random = np.random.default_rng(0)
    slope = np.where(np.arange(4000) < 3000, 3.0, 5.0)
    motion = random.normal(size=4000)
    torque = slope * motion + 0.02 * random.normal(size=4000)
    trial = SimpleNamespace(rows=1e-3 * np.stack([motion, torque], axis=1)[:, None])
    assert _typical(trial) == pytest.approx([3.0], abs=0.02)


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


@pytest.mark.parametrize(
    ('shifts', 'gains', 'named'),
    [
        ((0.0, 2.2), (0.6, 0.1), True),
        ((3.0, 0.5), (0.1, 0.6), True),
        ((0.0, 1.8), (0.6, 0.6), False),
        ((None, 3.0), (0.6, 0.6), True),
        ((1.5, -1.5), (0.6, 0.6), True),
        ((1.5, 1.5), (0.6, 0.6), False),
        ((0.0, 3.0), (0.45, 0.45), False),  # both leave most of the residual
        ((0.0, 3.0), (0.6, None), False),  # one half may have either delay
    ],
)
def test_a_delay_changes_where_it_matters_to_both_halves(monkeypatch, shifts, gains, named):
    class Half:
        number = 0

        def __init__(self, *_):
            self.half, Half.number = Half.number % 2, Half.number + 1

        def best(self, reach):
            assert reach == 50  # 0.25 s
            return shifts[self.half]

        def gain(self, shift, level, over):
            assert (shift, over) == tuple(
                each or 0.0 for each in (shifts[self.half], shifts[1 - self.half])
            )
            return gains[self.half]

    monkeypatch.setattr(intervals, 'OffsetTrial', Half)
    case = case_of(MODEL, GOOD)
    found = {item.code for item in half_delay_findings(case, draw(case))}
    assert found == ({'delay_changes'} if named else set())


@pytest.mark.parametrize('late', [8, 30])
def test_a_delay_in_one_half_is_named(late):
    def delay(torque):
        torque[2000:, 2] = torque[2000 - late : -late, 2].copy()

    item = found_in(changed(delay))['delay_changes', 'joint3']
    assert item.severity == 'error' and f'by {late * 5} ms in the second' in item.text
