import numpy as np
import pytest
from diagnosis_case import case_of
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.diagnosis.case import draw
from robodyn_ros.identification.diagnosis.other_models import (
    errors,
    model_findings,
    parts_of,
    variants,
)
from robodyn_ros.models.catalog import build_model, robot_model

AXIS = {'kind': 'axis', 'type': 'rotary', 'joints': ['j'], 'friction': ['viscous']}


def axis(number):
    return build_model({**AXIS, 'dynamic_model': number})


def recorded(number, noise=0.02):
    """Recording of a rotary axis of one of the document's models."""
    model = axis(number)
    values = np.linspace(1.0, 2.0, len(model.parameters))
    return record(model, values, 3000, noise=noise)


def test_variants_keep_all_else():
    others = list(variants(axis(1)))
    assert [words for _, words, _ in others] == [
        'dynamic model 2 of axis',
        'dynamic model 3 of axis',
    ]
    for _, _, model in others:
        body, friction = parts_of(model)
        assert body.joint_names == ('j',) and friction.describe()['terms'] == ['viscous']
    robot = robot_model(random_urdf(2, 52))
    turned = [model for change, _, model in variants(robot) if change == 'gravity']
    directions = np.array([parts_of(model)[0].gravity for model in turned])
    assert len(turned) == 5  # all but the one it has
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 9.81)
    assert [model.joint_names for model in turned] == [robot.joint_names] * 5
    body = parts_of(robot)[0]
    assert parts_of(body) == (body,) and parts_of(robot) == robot.parts


def test_the_semi_static_puma_may_have_a_fifth_term():
    names = [f'joint{number}' for number in range(1, 7)]
    puma = build_model({'kind': 'puma', 'dynamic_model': 2, 'joints': names})
    changes = {change: model for change, _, model in variants(puma)}
    assert set(changes) == {'dynamic_model', 'option'}
    assert len(changes['option'].parameters) == len(puma.parameters) + 1


def test_a_model_that_lacks_something_errs_on_what_it_has_not_seen():
    case = case_of(axis(1), recorded(3))
    sample = draw(case)
    error = {number: errors(case, sample, axis(number))[0][0] for number in (1, 2, 3)}
    noise = 0.02 * np.sqrt(np.mean(case.recording.torque**2))
    assert error[3] == pytest.approx(noise, rel=0.15)
    assert error[1] > 3.0 * error[3]
    finding = next(model_findings(case, sample))
    assert finding.code == 'wrong_dynamic_model' and 'dynamic model 3 of axis' in finding.text


def test_more_parameters_alone_are_no_better():
    case = case_of(axis(1), recorded(1))
    sample = draw(case)
    error = {number: errors(case, sample, axis(number))[0][0] for number in (1, 3)}
    assert error[3] > 0.995 * error[1]
    assert not list(model_findings(case, sample))


def test_a_robot_that_fits_is_not_tried_otherwise():
    model, truth = arm(random_urdf(2, 53, types=('revolute',)))
    case = case_of(model, record(model, truth, 600, noise=0.02))
    assert not list(model_findings(case, draw(case)))
