# SPDX-License-Identifier: Apache-2.0
"""Plain least squares is exported where it predicts held-out parts better, and else not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.files.export import export
from robodyn_ros.identification.fit.choice import HeldOut
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import bodies_of
from robodyn_ros.identification.physical.semidefinite import WEAKEST
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.steps import ladder
from robodyn_ros.identification.steps.ladder import compare_held_out, plain_if_better, plain_task
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.identification.steps.run import IdentificationRun
from robodyn_ros.models.catalog import build_model, robot_model

URDF = random_urdf(3, 93, types=('revolute',))


def recordings(factor, noise=0.2):
    """A recording of a robot whose last link has `factor` times its mass, and another motion."""
    model, truth = arm(URDF)
    _, own = bodies_of(model).links[-1]
    truth[[own[0], own[4]]] *= factor
    given = {'derivatives': False, 'resolution': 1e-5}
    return [
        record(model, truth, 2000, seed=seed, noise=size, **given)
        for seed, size in ((0, noise), (5, 0.0))
    ]


@pytest.fixture(scope='module')
def impossible():
    """Recordings of an impossible robot, the chosen estimate of which is a possible one."""
    return recordings(-0.3)


def run_of(recording, **options):
    task = Task((recording,), robot_model(URDF, friction='auto'), IdentifyOptions(**options))
    return IdentificationRun.of(task)


def test_the_choices_are_dropped_where_plain_least_squares_predicts_better(impossible, tmp_path):
    first, second = impossible
    result = identify(first, robot_model(URDF, friction='auto'), validation=second)
    (told,) = (item for item in result.findings if item.code == 'plain_fit_better')
    assert told.severity == 'warning' and 'linear friction' in told.text and told.remedy
    assert result.selection.estimate == 'ridge' and result.selection.prior_weight == WEAKEST
    assert result.filter_cutoff == ladder.USUAL_CUTOFF and result.friction is None
    assert 'cutoff_too_low' not in {item.code for item in result.findings}
    run = run_of(first)
    assert run.estimated.selection.estimate == 'consistent'
    chosen = run.prepared.model.torque(*second_motion(second), run.estimated.values)
    plain = result.model.torque(*second_motion(second), result.values)
    errors = [np.linalg.norm(second.torque - torque) for torque in (chosen, plain)]
    assert errors[1] < 0.7 * errors[0]
    assert export(result, tmp_path).result is not None


def second_motion(recording):
    velocity = np.gradient(recording.position, recording.time, axis=0)
    return recording.position, velocity, np.gradient(velocity, recording.time, axis=0)


def test_held_out_errors_are_relative_to_the_torque_and_comparable(impossible):
    run = run_of(impossible[0])
    ours, plain = compare_held_out(run, plain_task(run.task))
    for errors in (ours, plain):
        assert [len(kind) for kind in errors.kinds] == [10, 6]
        assert 0.05 < np.sqrt(errors.mean) < 0.3 and errors.independent > 2.0
    assert plain.mean < 0.5 * ours.mean


def test_the_choices_stay_where_they_are_as_good():
    first, _ = recordings(1.0, noise=0.05)
    result = identify(first, robot_model(URDF, friction='auto'))
    assert result.selection.estimate == 'consistent' and result.success
    assert 'plain_fit_better' not in {item.code for item in result.findings}


@pytest.mark.parametrize(
    ('kinds', 'better'),
    [
        (([0.5, 0.3], [0.5, 0.3]), True),
        (([0.5, 0.3], [0.5, 0.5]), False),  # a motion that repeats is no new one
        (([0.5, 0.49], [0.5, 0.3]), False),
        (([0.5, 0.34], [0.5, 0.34]), False),  # 1.09 times the error
    ],
)
def test_plain_least_squares_must_be_clearly_better_in_both_kinds(kinds, better):
    def held_out(errors, independent=3.0):
        return HeldOut(tuple(map(np.array, errors)), (np.ones(2),) * 2, independent)

    ours, plain = held_out([[0.5, 0.5]] * 2), held_out(kinds)
    assert ladder._is_better(ours, plain) == better
    assert not ladder._is_better(ours, replace(plain, independent=1.9))
    assert not ladder._is_better(replace(ours, independent=1.9), plain)


def test_a_robot_that_can_exist_and_predicts_well_is_kept(impossible, monkeypatch):
    run = run_of(impossible[0])
    monkeypatch.setattr(ladder, 'SMALL', 0.3)  # it predicts to 0.22 of the torque
    assert plain_if_better(run) is None


def test_what_the_user_names_is_kept(impossible):
    first, _ = impossible

    def task(model=None, **options):
        given = IdentifyOptions(**options)
        return plain_task(Task((first,), model or robot_model(URDF, friction='auto'), given))

    assert task().options.ridge == WEAKEST and task().options.filter_cutoff == 10.0
    assert task(filter_cutoff=4.0).options.filter_cutoff == 4.0
    possible = task(consistent='yes').options
    assert possible.consistent == 'yes' and possible.prior == 'none' and possible.ridge is None
    assert task(consistent='no').options.ridge is None
    named = robot_model(URDF, friction='stribeck')
    assert task(ridge=0.1) is None and task(estimator='robust') is None and task(named) is None
    linear = robot_model(URDF)
    assert task(linear).model is linear
    axis = build_model({'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['a']})
    assert task(axis) is None
    slow = replace(first, time=10.0 * first.time)
    found = plain_task(Task((slow,), linear, IdentifyOptions()))
    assert found.options.filter_cutoff == pytest.approx(0.2 / slow.period)


def test_a_failure_is_not_replaced(impossible):
    first, _ = impossible
    options = IdentifyOptions(max_relative_error=0.01)
    result = identify(first, robot_model(URDF, friction='auto'), options=options)
    assert not result.success and result.selection.estimate == 'consistent'


def test_the_cut_off_is_no_wish_of_the_user(impossible):
    run = run_of(impossible[0])
    plain, told = plain_if_better(run)
    assert plain.task.options is run.task.options and told.code == 'plain_fit_better'
