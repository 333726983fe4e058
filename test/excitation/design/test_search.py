# SPDX-License-Identifier: Apache-2.0
"""Searches: they improve, depend on their seed alone, and can be stopped."""

from dataclasses import replace

import numpy as np
import pytest
from published import robot, table1

from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import ROUNDS, begin, evolve, improve

PROBLEM = DesignProblem(Design(robot('ur5'), table1(), samples=60, harmonics=3))
SMALL = {'population': 12, 'generations': 6}


def never():
    return False


def test_every_round_improves_what_it_begins_with():
    found, heard, values = begin(PROBLEM, 0, 1), [], [PROBLEM.cost(begin(PROBLEM, 0, 1).x, 60)]
    for plan in ROUNDS:
        found = improve(PROBLEM, found, replace(plan, iterations=30), never, heard.append)
        assert found.complete and found.value == PROBLEM.cost(found.x, 60)
        values.append(found.value)
    assert heard == values[1:]
    assert values == sorted(values, reverse=True) and values[-1] < values[0] - 0.5


def after(evaluations):
    """A stop that comes after so many evaluations."""
    count = 0

    def stop():
        nonlocal count
        count += 1
        return count > evaluations

    return stop


@pytest.mark.parametrize('evaluations', [0, 1, 7, 60])
def test_a_stop_keeps_the_best_so_far(evaluations):
    start = begin(PROBLEM, 0, 1)
    found = improve(PROBLEM, start, ROUNDS[0], after(evaluations), print)
    assert not found.complete
    assert found.value <= PROBLEM.cost(start.x, 60)
    again = improve(PROBLEM, found, ROUNDS[1], after(20), print)
    assert not again.complete and again.value <= found.value


def test_evolution_improves_depends_on_its_seed_and_can_be_stopped():
    heard = []
    found = evolve(PROBLEM, 0, 0, never, heard.append, **SMALL)
    assert found.complete and len(heard) == 6
    assert heard == sorted(heard, reverse=True) and found.value == heard[-1] < heard[0]
    assert found.value == PROBLEM.cost(found.x, PROBLEM.coarse_samples())
    assert evolve(PROBLEM, 0, 0, never, print, **SMALL).x.tolist() == found.x.tolist()
    assert evolve(PROBLEM, 0, 1, never, print, **SMALL).x.tolist() != found.x.tolist()
    stopped = evolve(PROBLEM, 0, 0, after(20), print, **SMALL)
    assert not stopped.complete and found.value < stopped.value < np.inf
