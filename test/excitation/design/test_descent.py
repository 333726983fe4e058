# SPDX-License-Identifier: Apache-2.0
"""Descent: to the bottom of smooth and of kinked functions, and stopped when wished."""

import numpy as np
import pytest

from robodyn_ros.excitation.design.descent import Descent, StopError, descend

STEEP = np.diag([1.0, 10.0, 1000.0])
BOTTOM = np.array([1.0, -2.0, 0.5])


def bowl(x):
    return 0.5 * (x - BOTTOM) @ STEEP @ (x - BOTTOM), STEEP @ (x - BOTTOM)


def ridge(x):
    """Rosenbrock's function with a kink along the valley (Lewis and Overton, section 5)."""
    gap = x[1] - x[0] ** 2
    side = np.sign(gap)
    slope = np.array([-2.0 * (1.0 - x[0]) - 8.0 * side * x[0] * 2.0, 8.0 * side])
    return (1.0 - x[0]) ** 2 + 8.0 * abs(gap), slope


def test_reaches_the_bottom_of_a_bowl_and_knows_its_shape():
    found = descend(bowl, np.zeros(3), 60)
    assert found.complete
    np.testing.assert_allclose(found.x, BOTTOM, atol=1e-3)
    value = bowl(found.x)[0]
    again = descend(bowl, np.array([5.0, 5.0, 5.0]), 12, found.metric)
    fresh = descend(bowl, np.array([5.0, 5.0, 5.0]), 12)
    assert value < 1e-6 and bowl(again.x)[0] < 0.1 * bowl(fresh.x)[0]


def test_follows_a_kink_to_its_end():
    found = descend(ridge, np.array([-1.0, 2.0]), 400)
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=2e-2)


@pytest.mark.parametrize('evaluations', [0, 5])
def test_a_stop_keeps_the_best_point(evaluations):
    seen = []

    def stopped(x):
        if len(seen) == evaluations:
            raise StopError
        seen.append(bowl(x)[0])
        return bowl(x)

    found = descend(stopped, np.zeros(3), 100)
    assert isinstance(found, Descent) and not found.complete
    assert bowl(found.x)[0] <= (seen or [np.inf])[0]
    if evaluations > 1:
        assert bowl(found.x)[0] <= seen[1] or bowl(found.x)[0] == min(seen)
