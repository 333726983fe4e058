"""Searches: they improve, depend on their seed alone, and can be stopped."""

import numpy as np
import pytest
from published import robot, table1

from robodyn_ros.excitation.criteria import Options
from robodyn_ros.excitation.problem import Design, Problem
from robodyn_ros.excitation.search import Genetic, evolve, explore, refine

PROBLEM = Problem(Design(robot('ur5'), table1(), samples=60, harmonics=3))
SMALL = Genetic(population=12, generations=6, elite=2)


def never():
    return False


def test_exploring_and_refining_improve():
    heard = []
    first = explore(PROBLEM, 0, 1, never, heard.append)
    start = PROBLEM.family.start(np.random.default_rng([0, 1]))
    assert first.complete and first.value < PROBLEM.cost(start, 60) - 0.2
    assert heard == sorted(heard, reverse=True) and heard[-1] == first.value
    assert first.value == PROBLEM.cost(first.x, 60)


def test_the_seed_and_the_number_of_the_start_decide():
    def found(seed, start):
        return explore(PROBLEM, seed, start, after(40), print)

    assert found(0, 1).x.tolist() == found(0, 1).x.tolist()
    assert found(0, 1).x.tolist() != found(1, 1).x.tolist()
    assert found(0, 1).x.tolist() != found(0, 2).x.tolist()


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
    found = explore(PROBLEM, 0, 1, after(evaluations), print)
    start = PROBLEM.family.start(np.random.default_rng([0, 1]))
    assert not found.complete
    assert found.value <= PROBLEM.cost(start, 60)
    again = refine(PROBLEM, found.x, after(20), print)
    assert not again.complete and again.value <= found.value


def test_genetic_algorithm_improves_and_keeps_its_elite():
    heard = []
    found = evolve(PROBLEM, 0, 0, never, heard.append, SMALL)
    assert found.complete and len(heard) == 7
    assert heard == sorted(heard, reverse=True) and heard[-1] < heard[0]
    same = evolve(PROBLEM, 0, 0, never, print, SMALL)
    assert same.x.tolist() == found.x.tolist()
    stopped = evolve(PROBLEM, 0, 0, after(20), print, SMALL)
    assert not stopped.complete and np.isfinite(stopped.value)


def test_determinants_grow():
    problem = Problem(
        Design(robot('ur5'), table1(), samples=60, harmonics=3, criterion=Options('det'))
    )
    found = explore(problem, 0, 0, after(60), print)
    start = problem.family.start(np.random.default_rng([0, 0]))
    assert found.value < problem.cost(start, 60) - 5.0
