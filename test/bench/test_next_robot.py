# SPDX-License-Identifier: Apache-2.0
"""Random plants, their flaws, the references and the table of the bench of unknown robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from next_robot.arm import Arm
from next_robot.condensed import exact
from next_robot.flaws import FLAWS
from next_robot.honest import honest
from next_robot.plant import Plant
from next_robot.reference import expert, plain_wls
from next_robot.table import comparison, false_errors, is_missed, is_right, table

EXACT = replace(
    Plant.of(1, 2), axes=2, rate=200.0, seconds_recorded=20.0, speed=1.0, bits=30, noise=1e-4,
    torque='motor', friction='linear', masses=1.2, spring=0.0, flaw='',
)  # fmt: skip
SIGNALS = {
    'time': np.arange(1000) / 100.0,
    'position': np.arange(2000.0).reshape(1000, 2),
    'torque': np.arange(2000.0).reshape(1000, 2),
}
ROW = {
    'seed': 1, 'number': 4, 'flaw': '', 'fair': True, 'estimate': True, 'error': 0.03,
    'worst_joint': 0.05, 'expert': 0.02, 'plain': 0.06, 'success': True, 'findings': [],
}  # fmt: skip


def test_plants_are_reproducible_alone() -> None:
    plant = Plant.of(3, 7)
    assert plant == Plant.of(3, 7) != Plant.of(3, 8)
    first, second = Arm(plant).recording(), Arm(plant).recording()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    assert len(first['time']) == round(plant.seconds_recorded * plant.rate)


@pytest.mark.parametrize('rate', [200.0, 2000.0])
def test_references_recover_a_plant_that_their_model_describes(rate: float) -> None:
    arm = Arm(replace(EXACT, rate=rate))
    moved, torque = arm.truth()
    truth, size = exact(arm.body, moved, torque), np.sqrt(np.mean(torque**2, axis=0))
    best, choices = expert(arm.body, arm.recording(), truth, np.arange(2), size)
    assert best < 0.002, choices
    plain = plain_wls(arm.body, arm.recording(), truth) / size
    assert (plain < 0.1).all()
    assert best < np.sqrt(np.mean(plain**2))


def test_the_grid_without_hindsight_finds_what_its_model_describes() -> None:
    arm = Arm(EXACT)
    moved, torque = arm.truth()
    truth, size = exact(arm.body, moved, torque), np.sqrt(np.mean(torque**2, axis=0))
    found = honest(arm.body, arm.recording(), truth, np.arange(2), size, 0.05 * arm.effort)
    best, _ = expert(arm.body, arm.recording(), truth, np.arange(2), size)
    assert best <= found[0] < 0.01, found
    cut = {name: values[:50] for name, values in arm.recording().items()}
    assert honest(arm.body, cut, truth, np.arange(2), size, size)[1] == 'too short'


def test_resting_joints_rest_in_recording_and_truth() -> None:
    arm = Arm(replace(EXACT, flaw='resting'))
    moved, _ = arm.truth()
    position = arm.recording()['position']
    step = 2.0 * np.pi / 2**EXACT.bits
    assert arm.rests.sum() == 1
    assert (np.ptp(moved[0], axis=0)[arm.rests] == 0.0).all()
    assert (np.ptp(position, axis=0)[arm.rests] < 10.0 * step).all()
    assert (np.ptp(position, axis=0)[~arm.rests] > 0.5).all()


@pytest.mark.parametrize('seed', [0, 1, 5])
@pytest.mark.parametrize('name', FLAWS)
def test_mended_recordings_hold_samples_of_the_clean_one_only(name: str, seed: int) -> None:
    flaw = FLAWS[name]
    made = flaw.make(SIGNALS, np.random.default_rng(seed))
    at_measurement = name in ('', 'short', 'resting')
    assert (made is SIGNALS) == at_measurement
    if flaw.mend:
        mended = flaw.mend(made, np.random.default_rng(seed))
        rows = np.rint(mended['position'][:, 0] / 2.0).astype(int)
        assert 300 < len(rows) <= 1000
        for signal in ('position', 'torque'):
            np.testing.assert_allclose(mended[signal], SIGNALS[signal][rows], atol=1e-6)


@pytest.mark.parametrize(
    ('changes', 'wrong', 'missed'),
    [
        ({}, [], False),
        ({'findings': [('error', 'torque_sign', 'a')]}, ['torque_sign'], False),
        ({'findings': [('warning', 'torque_sign', 'a')]}, [], False),
        ({'findings': [('error', 'relative_error_too_large', 'a')]}, [], False),
        ({'flaw': 'sign', 'findings': [('error', 'torque_sign', 'a')]}, [], False),
        ({'flaw': 'sign', 'findings': [('error', 'torque_factor', '')]}, ['torque_factor'], True),
    ],
)
def test_findings_are_counted(changes, wrong, missed) -> None:
    row = {**ROW, **changes}
    assert false_errors(row) == wrong
    assert is_missed(row) == missed


@pytest.mark.parametrize(
    ('success', 'error', 'right'),
    [(True, 0.1, True), (False, 0.1, False), (True, 0.3, True), (False, 0.3, True),
     (True, 0.5, False), (False, 0.5, True)],
)  # fmt: skip
def test_verdict_suits_the_error_of_the_worst_joint(success, error, right) -> None:
    assert is_right({**ROW, 'success': success, 'worst_joint': error}) == right


def test_table_counts_the_plants_whose_recording_holds_the_truth() -> None:
    hopeless = {**ROW, 'number': 5, 'expert': 0.5}
    unfair = {**ROW, 'number': 6, 'fair': False, 'flaw': 'sign'}
    text = table([ROW, hopeless, unfair], blind=True)
    assert 'error ratios of the 1 whose' in text
    assert '| over expert | 1.500 | 1.500 | 1.500 | 1.500 |  |' in text
    assert '| over plain WLS | 0.500 |' in text
    unnoticed = table([{**ROW, 'error': 0.004, 'expert': 0.001}], blind=True)
    assert '| over expert | 1.000 |' in unnoticed
    assert '| missed flaws | 100.0% | 1 of 1 |' in text


def test_table_tells_kinds_of_recordings_and_the_floor_apart() -> None:
    late = {**ROW, 'number': 6, 'flaw': 'delay', 'error': 0.06, 'honest': 0.03}
    text = table([ROW, late], blind=True)
    assert '| clean | 1 | 1.50, 1.50, 1.50 | 0.50, 0.50, 0.50 |' in text
    assert '| delay, drives off | 1 | 3.00, 3.00, 3.00 | 1.00, 1.00, 1.00 |' in text
    assert '| short | 0 |  |  |' in text
    assert '| over the grid without hindsight | 2.000 |' in text
    assert '| that grid over expert | 1.500 |' in text
    assert 'hindsight' not in table([ROW], blind=True)


def test_runs_are_compared_by_plant() -> None:
    old = [{**ROW, 'error': 0.01}, {**ROW, 'number': 5, 'error': 1.0}]
    assert 'mean 3.000, best 3.000, worst 3.000' in comparison([ROW], old, blind=True)
    assert comparison([ROW], []) == 'no plant in both runs'
