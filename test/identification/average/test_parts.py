# SPDX-License-Identifier: Apache-2.0
"""Parts that can be left out: products of rows, and what is left without each fold."""

from dataclasses import replace

import numpy as np
import pytest
from condensed import condensed
from robots import random_urdf
from simulation import arm

from robodyn_ros.identification.average.parts import (
    Parts,
    count_independent,
    gather_rows,
    label_rows,
    relabel,
)
from robodyn_ros.models.base_parameters import base_parameters

MODEL, TRUTH = arm(random_urdf(2, 5, types=('revolute',)))
RANK = base_parameters(MODEL).rank
SIGMA = np.array([0.5, 2.0])


@pytest.fixture(scope='module')
def case():
    given = condensed(MODEL, TRUTH)
    labels = label_rows(given)
    return given, labels, Parts.of(given, SIGMA, labels)


def test_folds_of_a_kind_sum_up_to_all_samples(case):
    _, labels, parts = case
    assert [each.max() + 1 for each in labels] == [10, 6] and len(parts.kinds) == 16
    for every, folds in zip(parts.every, parts.folds, strict=True):
        for kind in (0, 1):
            np.testing.assert_allclose(
                folds[parts.kinds == kind].sum(axis=0), every, rtol=1e-9, atol=1e-9
            )


def test_a_fold_is_the_product_of_its_rows(case):
    given, (blocks, regions), parts = case
    for joint, rows in enumerate(gather_rows(given)[0]):
        for labels, fold, place in ((blocks, 3, 3), (regions, 2, 12)):
            some = rows[labels == fold]
            np.testing.assert_allclose(parts.folds[joint][place], some.T @ some, rtol=1e-9)


def test_normal_equations_are_those_of_the_rows_that_are_not_left_out(case):
    given, (blocks, regions), parts = case
    rows, _ = gather_rows(given)
    for place, kept in ((4, blocks != 4), (11, regions != 1), (16, np.ones(800, bool))):
        expected = np.zeros((RANK + 1, RANK + 1))
        for matrix, columns, sigma in zip(rows, parts.columns, SIGMA, strict=True):
            full = np.zeros((kept.sum(), RANK + 1))
            full[:, np.append(columns, RANK)] = matrix[kept] / sigma
            expected += full.T @ full / 1600.0
        np.testing.assert_allclose(parts.normal[place], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize('rounding', [0.0, 1e-13])
def test_a_column_of_rounding_errors_is_unseen_in_any_unit(case, rounding):
    parts, unit = case[2], 10.0 ** np.arange(-4, RANK - 4)
    size = np.where(np.arange(RANK) == 3, rounding, 1.0) / unit
    factors = [np.append(size[columns], 1.0) for columns in parts.columns]
    every = tuple(
        products * np.outer(factor, factor)
        for products, factor in zip(parts.every, factors, strict=True)
    )
    np.testing.assert_array_equal(np.flatnonzero(replace(parts, every=every).unseen(unit)), [3])
    assert not parts.unseen(np.ones(RANK)).any()


def test_rows_at_another_cut_off_are_in_the_fold_of_their_time(case):
    _, labels, _ = case
    for own, given in zip(relabel(labels, 400), labels, strict=True):
        assert len(own) == 400 and (own == given[1::2]).mean() > 0.97
    for own, given in zip(relabel(labels, 800), labels, strict=True):
        np.testing.assert_array_equal(own, given)


def test_independent_samples_are_counted_per_unknown(case):
    given, _, _ = case
    values = base_parameters(MODEL).values(TRUTH)
    assert count_independent(given, values, 16) == pytest.approx(100.0, rel=0.2)  # white noise
    # What is left of another robot follows the motion.
    assert count_independent(given, 0.5 * values, 16) < 10.0
