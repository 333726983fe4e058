# SPDX-License-Identifier: Apache-2.0
"""Several recordings in one fit: factors add."""

from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, base_values, record

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.report import text_report
from robodyn_ros.identification.options import METHODS, IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.facts import json_facts
from robodyn_ros.identification.steps.estimation import Regression
from robodyn_ros.identification.steps.preparation import Clock, Task, prepare
from robodyn_ros.models.base_parameters import base_parameters

PLAIN = IdentifyOptions(consistent='no', estimator='ols', time_offset='no')


@pytest.fixture(scope='module')
def case():
    """A robot and two recordings with noise; the second one is shorter."""
    model, truth = arm(random_urdf(3, 81, types=('revolute',)))
    first = record(model, truth, 3000, seed=1, noise=0.02)
    second = replace(record(model, truth, 2000, seed=2, noise=0.02), source='second')
    return model, truth, first, second


def shifted(recording, offset):
    return replace(recording, torque=recording.torque + np.asarray(offset))


def test_two_recordings_are_the_least_squares_of_all_their_rows(case):
    model, _, *recordings = case
    columns = base_parameters(model).columns
    rows, torques = [], []
    for each in recordings:
        motion = (each.position, each.velocity, each.acceleration)
        rows.append(model.select_columns(*motion, columns).reshape(-1, len(columns)))
        torques.append(each.torque.ravel())
    expected = np.linalg.lstsq(np.vstack(rows), np.concatenate(torques), rcond=None)[0]
    task = Task(tuple(recordings), model, PLAIN)
    fit = Regression(task, prepare(task, Clock())).estimate().fit
    # The fit leaves out standstill, a few of the samples.
    assert (np.abs(fit.values - expected) / fit.stddevs).max() < 0.1
    result = identify(recordings, model, options=PLAIN)
    assert result.raw_samples == 5000 and result.success


@pytest.mark.parametrize('estimator', METHODS)
def test_every_estimator_fits_recordings_together(case, estimator):
    model, truth, *recordings = case
    result = identify(recordings, model, options=IdentifyOptions(estimator=estimator))
    alone = identify(recordings[0], model, options=IdentifyOptions(estimator=estimator))
    expected = base_values(model, truth)
    score = (result.base_values - expected) / result.base_stddevs
    assert result.success and np.abs(score).max() < 4.5
    assert np.median(result.base_stddevs / alone.base_stddevs) < 0.9


def test_each_recording_has_its_own_errors(case):
    model, _, first, second = case
    noisy = shifted(second, 0.3 * np.random.default_rng(0).normal(size=second.torque.shape))
    result = identify([first, noisy], model)
    reports = result.recordings
    assert [each.source for each in reports] == ['sim', 'second']
    assert reports[1].relative_residual > reports[0].relative_residual
    weights = np.array([np.sum(each.torque**2) for each in (first, noisy)])
    squares = [each.relative_residual**2 for each in reports]
    pooled = np.sqrt(weights @ squares / weights.sum())
    assert result.identification.relative_residual == pytest.approx(pooled, rel=1e-2)
    assert [each['source'] for each in json_facts(result)['recordings']] == ['sim', 'second']
    assert '% on second' in text_report(result)


def test_joints_that_move_in_different_recordings_make_one_result(case):
    model, truth, *_ = case
    recordings = []
    for number in range(3):
        moving = record(model, truth, 2500, seed=number, noise=0.01)
        q, qd, qdd = (np.array(getattr(moving, name)) for name in
                      ('position', 'velocity', 'acceleration'))  # fmt: skip
        q[:, number], qd[:, number], qdd[:, number] = 0.3, 0.0, 0.0
        recordings.append(
            replace(moving, position=q, velocity=qd, acceleration=qdd,
                    torque=model.torque(q, qd, qdd, truth), source=f'run {number}')
        )  # fmt: skip
    alone = identify(recordings[0], model)
    assert 'frozen_joint' in {f.code for f in alone.findings}
    result = identify(recordings, model)
    assert result.success, result.findings
    expected = base_values(model, truth)
    assert np.linalg.norm(result.base_values - expected) < 0.02 * np.linalg.norm(expected)


def test_leave_one_out_tests_every_recording_with_the_others(case):
    model, _, first, second = case
    # One candidate: several are weighed on states as fast as the first recording.
    options = replace(PLAIN, prior='none')
    result = identify([first, second], model, options=options, validation='leave-one-out')
    assert result.validation.source == 'leave-one-out'
    errors, sizes = [], []
    for seen, unseen in ((first, second), (second, first)):
        own = identify(seen, model, options=options, validation=unseen).validation
        errors.append(own.rms_error**2 * own.samples)
        sizes.append(own.samples)
    expected = np.sqrt(sum(errors) / sum(sizes))
    np.testing.assert_allclose(result.validation.rms_error, expected, rtol=1e-9)
    with pytest.raises(IdentificationError, match='at least 2 recordings'):
        identify(first, model, validation='leave-one-out')
