# SPDX-License-Identifier: Apache-2.0
"""Choice by held-out errors: nothing is taken by chance, what is better is taken."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros.identification.fit.choice import (
    RELEVANT,
    HeldOut,
    gains,
    is_better,
    simplest,
)


def held_out(*kinds):
    errors = tuple(np.array(each, dtype=float) for each in kinds)
    return HeldOut(errors, tuple(np.ones(len(each)) for each in errors))


SIMPLE = held_out([4, 5, 6, 5], [10, 10])


def test_gain_and_its_standard_error_for_each_kind():
    rich = held_out([2, 5, 3, 5], [5, 10])
    gain, error = gains(SIMPLE, rich)
    # Ratios 2, 1, 2, 1 and 2, 1: logarithms of standard deviation log 2 / sqrt(3) and / sqrt(2).
    np.testing.assert_allclose(gain, np.log(2.0) / 2.0)
    np.testing.assert_allclose(error, np.log(2.0) / np.sqrt([3 * 4, 2 * 2]))


def test_a_relevant_gain_is_two_per_cent():
    for gain, taken in ((0.019, False), (0.021, True)):
        rich = replace(SIMPLE, kinds=tuple((1.0 - gain) * each for each in SIMPLE.kinds))
        assert is_better(SIMPLE, rich, share=RELEVANT) == taken


def test_folds_count_by_their_samples():
    one = HeldOut((np.array([4.0, 1.0]),), (np.array([3.0, 1.0]),))
    other = HeldOut((np.array([2.0, 1.0]),), one.samples)
    gain, error = gains(one, other)
    np.testing.assert_allclose(gain, 0.75 * np.log(2.0))
    spread = 2.0 * np.sum((np.array([0.75, 0.25]) * np.array([0.25, -0.75]) * np.log(2.0)) ** 2)
    np.testing.assert_allclose(error, np.sqrt(spread))


@pytest.mark.parametrize(
    ('rich', 'level', 'better'),
    [
        (([2, 5, 3, 5], [5, 10]), 1.0, True),  # 0.347 against 0.273
        (([2, 5, 3, 5], [5, 10]), 1.26, True),
        (([2, 5, 3, 5], [5, 10]), 1.28, False),
        (([4, 5, 6, 5], [10, 10]), 1.0, False),  # the same
        (([1, 1, 1, 1], [13, 12]), 1.0, False),  # regions say the opposite
        (([np.nan, 1, 1, 1], [1, 1]), 1.0, False),
        (([np.inf, 1, 1, 1], [1, 1]), 1.0, False),
    ],
)
def test_richer_candidate_must_be_significantly_better(rich, level, better):
    assert is_better(SIMPLE, held_out(*rich), level) is better


def test_simplest_that_none_beats():
    much = held_out([1, 1, 1.2, 1], [2, 2.1])
    little_more = held_out([0.9, 1.1, 1.1, 1.0], [2, 2])
    assert simplest([SIMPLE, much, little_more]) == 1
    assert simplest([SIMPLE, little_more, much]) == 1
    assert simplest([SIMPLE]) == 0
    assert simplest([much, SIMPLE]) == 0
