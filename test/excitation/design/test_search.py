# SPDX-License-Identifier: Apache-2.0
"""Searches: they improve, depend on their seed alone, and can be stopped."""

import numpy as np
from published import robot, table1

from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import evolve

PROBLEM = DesignProblem(Design(robot('ur5'), table1(), samples=60, harmonics=3))
SMALL = {'population': 12, 'generations': 6}


def never():
    return False


def after(evaluations):
    """A stop that comes after so many evaluations."""
    count = 0

    def stop():
        nonlocal count
        count += 1
        return count > evaluations

    return stop


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
