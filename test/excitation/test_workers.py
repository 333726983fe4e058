"""Searches in other processes: the same as here, stopped when wished, none left behind."""

import multiprocessing
import os
import time

import numpy as np
from published import robot, table1

from robodyn_ros.excitation.problem import Design, Problem
from robodyn_ros.excitation.workers import Task, Team

DESIGN = Design(robot('ur5'), table1(), samples=40, harmonics=2)
PROBLEM = Problem(DESIGN)


def test_process_stops_when_wished_and_is_gone_afterwards():
    before = dict(os.environ)
    team = Team(DESIGN, PROBLEM, 1)
    assert dict(os.environ) == before  # the setting for the processes is theirs alone
    heard = []

    def watch(value):
        heard.append(value)
        return len(heard) > 5

    found = team.run([Task('gradient', 0, k) for k in range(40)], time.monotonic() + 100, watch)
    assert len(found) == 40 and not found[-1].complete
    start = PROBLEM.family.start(np.random.default_rng([0, 39]))
    np.testing.assert_array_equal(found[-1].x, start)  # never begun: the start itself
    team.close()
    assert multiprocessing.active_children() == []


def test_deadline_and_refinement_here():
    team = Team(DESIGN, PROBLEM, 0)
    (late,) = team.run([Task('gradient', 0, 0)], time.monotonic() - 1.0, lambda value: False)
    assert not late.complete
    until = time.monotonic() + 1.0
    (found,) = team.run([Task('gradient', 0, 0, late.x)], until, lambda value: False)
    assert found.value < late.value and time.monotonic() < until + 2.0
    team.close()
