# SPDX-License-Identifier: Apache-2.0
"""The mean of candidates: ridge least squares, weighted, and judged where it was not fitted."""

from dataclasses import replace

import numpy as np
import pytest
from condensed import condensed
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.average.candidates import EstimateCandidate
from robodyn_ros.identification.average.mean import average
from robodyn_ros.identification.average.parts import Parts, gather_rows, label_rows
from robodyn_ros.identification.physical.consistency import is_consistent, nearest
from robodyn_ros.identification.physical.semidefinite import Problem
from robodyn_ros.models.base_parameters import base_parameters

MODEL, TRUTH = arm(random_urdf(2, 5, types=('revolute',)))
BASE = base_parameters(MODEL)
RANK = BASE.rank
SIGMA = np.array([0.5, 2.0])
EVERY = np.ones(RANK, dtype=bool)
NOWHERE = [np.zeros((RANK, RANK))] * 2
PROBLEM = Problem.of(MODEL, BASE, np.where(TRUTH > 0.0, 1.3, 0.8) * TRUTH)


@pytest.fixture(scope='module')
def case():
    given = condensed(MODEL, TRUTH, 400, noise=0.3, size=0.5)
    labels = label_rows(given)
    return given, labels, Parts.of(given, SIGMA, labels)


def rows_of(given, kept):
    """Rows of all joints [A | y] in units of sigma, and their number at each joint."""
    stacked = []
    for matrix, columns, sigma in zip(
        gather_rows(given)[0], given.sample.columns, SIGMA, strict=True
    ):
        full = np.zeros((kept.sum(), RANK + 1))
        full[:, np.append(columns, RANK)] = matrix[kept] / sigma
        stacked.append(full)
    return stacked


def ridge(given, kept, candidate, samples=800.0):
    """Fit one candidate to some samples by numpy alone."""
    rows = np.vstack(rows_of(given, kept)) / np.sqrt(samples)
    prior, precision = PROBLEM.base_prior(candidate.prior_weight)
    root = np.linalg.cholesky(precision).T
    matrix, target = np.vstack([rows[:, :-1], root]), np.append(rows[:, -1], root @ prior)
    values = np.zeros(RANK)
    columns = candidate.kept
    values[columns] = np.linalg.lstsq(matrix[:, columns], target, rcond=None)[0]
    return values


@pytest.mark.parametrize('weight', [1e-6, 1e-2, 1.0])
def test_a_single_candidate_is_ridge_least_squares(case, weight):
    given, _, parts = case
    candidate = EstimateCandidate('as given', EVERY, weight)
    mean = average([candidate], [parts], PROBLEM, NOWHERE)
    expected = ridge(given, np.ones(400, bool), candidate)
    np.testing.assert_allclose(mean.values, expected, rtol=1e-5, atol=1e-6)
    assert mean.weights.tolist() == [1.0] and not mean.between.any()
    # What an error of the normal equations' right side becomes.
    (rows,) = [np.vstack(rows_of(given, np.ones(400, bool))) / np.sqrt(800.0)]
    square = rows[:, :-1].T @ rows[:, :-1] + PROBLEM.base_prior(weight)[1]
    np.testing.assert_allclose(mean.noise @ square, np.eye(RANK), atol=1e-4)


def test_held_out_errors_are_those_of_fits_that_have_not_seen_the_fold(case):
    given, labels, parts = case
    candidates = [EstimateCandidate('a', EVERY, 1e-6), EstimateCandidate('b', EVERY, 1e-1)]
    mean = average(candidates, [parts], PROBLEM, NOWHERE)
    squares, of_mean = np.zeros((2, 2)), np.zeros(2)
    for kind in labels:
        for fold in range(kind.max() + 1):
            fits = [ridge(given, kind != fold, each) for each in candidates]
            for joint, rows in enumerate(rows_of(given, kind == fold)):
                left = [SIGMA[joint] * (rows[:, :-1] @ fit - rows[:, -1]) for fit in fits]
                squares[:, joint] += [each @ each / 400.0 / 2.0 for each in left]
                together = mean.weights @ left
                of_mean[joint] += together @ together / 400.0 / 2.0
    np.testing.assert_allclose(mean.held_out, of_mean, rtol=1e-4)
    torque = np.array([rows[:, -1] @ rows[:, -1] for rows in rows_of(given, kind >= 0)]).sum()
    expected = np.sqrt((squares / SIGMA**2).sum(axis=1) * 400.0 / torque)
    np.testing.assert_allclose(mean.errors, expected, rtol=1e-4)
    assert mean.error == pytest.approx(
        np.sqrt((of_mean / SIGMA**2).sum() * 400.0 / torque), rel=1e-4
    )
    assert (mean.fitted < mean.held_out).all()


def test_the_mean_is_the_weighted_sum_and_its_spread_counts(case):
    _, _, parts = case
    candidates = [EstimateCandidate('a', EVERY, weight) for weight in (1e-6, 1e-3, 1.0)]
    alone = [average([each], [parts], PROBLEM, NOWHERE).values for each in candidates]
    mean = average(candidates, [parts], PROBLEM, NOWHERE)
    np.testing.assert_allclose(mean.values, mean.weights @ alone, rtol=1e-9, atol=1e-12)
    spread = np.cov(np.transpose(alone), aweights=mean.weights, bias=True)
    np.testing.assert_allclose(mean.between, spread, rtol=1e-6, atol=1e-12)
    # Base values of consistent robots: so are those of the mean of the robots.
    robots = [nearest(MODEL, BASE.grouping, each, TRUTH) for each in alone]
    if all(is_consistent(MODEL, each) for each in robots):
        assert is_consistent(MODEL, mean.weights @ robots)


def test_noise_free_data_give_the_weight_to_the_candidate_that_holds_the_truth():
    truth = TRUTH.copy()
    given = condensed(MODEL, truth, 400, noise=0.0)
    sigma = np.full(2, 1e-3)
    parts = Parts.of(given, sigma, label_rows(given))
    problem = Problem.of(MODEL, BASE, 1.5 * TRUTH)
    expected = BASE.values(truth)
    lacking = np.abs(expected) < np.abs(expected).max()
    candidates = [
        EstimateCandidate('lacks the largest', lacking, 1e-6),
        EstimateCandidate('a', EVERY, 1e-6),
    ]
    mean = average(candidates, [parts], problem, NOWHERE)
    assert mean.weights[1] > 0.999
    np.testing.assert_allclose(mean.values, expected, rtol=1e-3, atol=1e-3)


def test_spread_on_other_states_weighs_against_what_folds_do_not_agree_on(case):
    _, _, parts = case
    candidates = [EstimateCandidate('a', EVERY, 1e-6), EstimateCandidate('b', EVERY, 1.0)]
    far = [1e6 * np.eye(RANK)] * 2
    here, there = (average(candidates, [parts], PROBLEM, each) for each in (NOWHERE, far))
    assert there.weights[1] > max(here.weights[1], 0.9)
    assert (there.spread > 0.0).all() and not here.spread.any()


def test_a_slip_that_would_drive_the_joint_is_left_out(case):
    """The other values are then those of a candidate without it."""
    given, _, parts = case
    every = EstimateCandidate('x', EVERY, 1e-2)
    negative = np.flatnonzero(ridge(given, np.ones(400, bool), every) < 0.0)[:2]
    assert len(negative) == 2
    slips = replace(every, slips=tuple(negative.tolist()))
    without = replace(every, kept=~np.isin(np.arange(RANK), negative))
    values, expected = (
        average([each], [parts], PROBLEM, NOWHERE).values for each in (slips, without)
    )
    assert not values[negative].any()
    np.testing.assert_array_equal(values, expected)
