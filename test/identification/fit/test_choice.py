"""Choice by held-out errors: nothing is taken by chance, what is better is taken."""

import numpy as np
import pytest

from robodyn_ros.identification.fit.choice import HeldOut, gains, is_better, simplest


def held_out(*kinds):
    return HeldOut(tuple(np.array(each, dtype=float) for each in kinds))


SIMPLE = held_out([4, 5, 6, 5], [10, 10])


def test_gain_and_its_standard_error_for_each_kind():
    gain, error = gains(SIMPLE, held_out([3, 3, 5, 5], [8, 9]))
    # Differences 1, 2, 1, 0 (variance 2/3, 4 folds) and 2, 1 (variance 1/2, 2 folds).
    np.testing.assert_allclose(gain, [4.0, 3.0])
    np.testing.assert_allclose(error, np.sqrt([4 * 2 / 3, 2 * 1 / 2]))


@pytest.mark.parametrize(
    ('rich', 'level', 'better'),
    [
        (([3, 3, 5, 5], [8, 9]), 1.0, True),  # 3.5 against 1.32
        (([3, 3, 5, 5], [8, 9]), 2.6, True),
        (([3, 3, 5, 5], [8, 9]), 2.7, False),
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


def test_candidates_that_differ_by_chance_are_seldom_taken():
    """Pure noise: about 16 % of the pairs at one standard error, hardly any at four."""
    random = np.random.default_rng(0)
    taken = {1.0: 0, 4.0: 0}
    for _ in range(500):
        base = random.uniform(1.0, 2.0, 60)
        kinds = [base.reshape(10, 6).sum(axis=axis) for axis in (1, 0)]
        other = base + random.normal(0.0, 0.1, 60)
        rich = [other.reshape(10, 6).sum(axis=axis) for axis in (1, 0)]
        for level in taken:
            taken[level] += is_better(held_out(*kinds), held_out(*rich), level)
    assert taken[1.0] < 0.22 * 500 and taken[4.0] <= 2
