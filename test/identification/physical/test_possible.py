# SPDX-License-Identifier: Apache-2.0
"""The possible robot nearest to an estimate, and where the recording contradicts every one."""

from dataclasses import replace

import numpy as np
import pytest
from condensed import condensed
from robots import random_urdf
from simulation import arm

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.fit.least_squares import estimate
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.consistency import is_consistent
from robodyn_ros.identification.physical.possible import (
    CONTRADICTED,
    Estimated,
    complete_possible,
)
from robodyn_ros.identification.physical.semidefinite import Data, Problem
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model

MODEL, TRUTH = arm(random_urdf(3, 93, types=('revolute',)))
BASE = base_parameters(MODEL)
NAMES = [item.name for item in MODEL.parameters]
PROBLEM = Problem.of(MODEL, BASE, TRUTH)


def estimated(truth, noise=0.001):
    """Least squares of a recording, certain of what its rows show."""
    factors = condensed(MODEL, truth, noise=noise).factors
    fit = estimate(factors, BASE.rank)
    triangle = Data.of(factors, BASE.rank, fit.sigma).triangle
    return Estimated(fit.values, triangle.T @ triangle, fit.covariance, factors, fit.sigma)


def completed(given, consistent='auto'):
    options = IdentifyOptions(consistent=consistent)
    return complete_possible(MODEL, BASE, given, TRUTH, PROBLEM, options)


@pytest.fixture(scope='module')
def impossible():
    """A robot with a rotor inertia below zero, beyond any noise."""
    truth = TRUTH.copy()
    truth[NAMES.index('joint3.rotor_inertia')] = -1.0
    return estimated(truth, noise=0.01)


@pytest.mark.parametrize('consistent', ['auto', 'yes', 'no'])
def test_an_estimate_that_is_possible_stays(consistent):
    given = estimated(TRUTH)
    completion, excess = completed(given, consistent)
    assert completion.physically_consistent and is_consistent(MODEL, completion.values)
    assert excess == pytest.approx(1.0, abs=1e-3) and not completion.findings
    shift = np.abs(BASE.values(completion.values) - given.values)
    assert (shift < 0.1 * np.sqrt(np.diag(given.covariance))).all()


def test_a_recording_that_contradicts_every_possible_robot_is_believed(impossible):
    completion, excess = completed(impossible)
    assert excess > CONTRADICTED and not completion.physically_consistent
    np.testing.assert_allclose(BASE.values(completion.values), impossible.values, rtol=1e-6,
                               atol=1e-9)  # fmt: skip
    (told,) = (f for f in completion.findings if 'joint3.rotor_inertia' in f.text)
    assert told.code == 'not_physically_consistent'


def test_a_possible_robot_is_exported_where_it_was_asked_for(impossible):
    completion, excess = completed(impossible, 'yes')
    assert completion.physically_consistent and is_consistent(MODEL, completion.values)
    assert completion.values[NAMES.index('joint3.rotor_inertia')] >= 0.0
    assert excess == completed(impossible)[1]
    plain, same = completed(impossible, 'no')
    assert not plain.physically_consistent and same == 1.0


def test_what_nothing_determines_stays_where_another_value_has_to_move(impossible):
    column = BASE.expressions.index('joint1.viscous_friction')
    values, information = impossible.values.copy(), impossible.information.copy()
    values[column] = 0.7
    information[column], information[:, column] = 0.0, 0.0
    information += np.diag(1e-4 / PROBLEM.scale[BASE.columns] ** 2)
    unseen = replace(impossible, values=values, information=information)
    completion, _ = completed(unseen, 'yes')
    found = completion.values[NAMES.index('joint1.viscous_friction')]
    assert found == pytest.approx(0.7, abs=0.01)


def test_a_search_that_fails_is_told_and_the_estimate_stays(impossible, monkeypatch):
    def fails(*_):
        raise IdentificationError('no physically consistent robot was found')

    monkeypatch.setattr(Problem, 'solve', fails)
    completion, excess = completed(impossible, 'yes')
    (told,) = completion.findings
    assert told.code == 'not_physically_consistent' and 'was found' in told.text
    assert excess == 1.0
    np.testing.assert_allclose(BASE.values(completion.values), impossible.values, rtol=1e-6,
                               atol=1e-9)  # fmt: skip


def test_a_model_without_links_says_so_where_a_possible_robot_is_asked_for():
    model = build_model({'kind': 'axis', 'type': 'rotary', 'dynamic_model': 1, 'joints': ['a']})
    base, truth = base_parameters(model), np.full(len(model.parameters), 0.5)
    factors = condensed(model, truth).factors
    fit = estimate(factors, base.rank)
    given = Estimated(fit.values, np.eye(base.rank), fit.covariance, factors, fit.sigma)
    problem = Problem.of(model, base, truth)
    codes = [
        [f.code for f in complete_possible(model, base, given, truth, problem, each)[0].findings]
        for each in (IdentifyOptions(consistent='yes'), IdentifyOptions())
    ]
    assert 'consistency_without_links' in codes[0] and codes[1] == codes[0][:-1]
