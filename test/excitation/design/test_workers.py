# SPDX-License-Identifier: Apache-2.0
"""Searches in other processes: the same as here, stopped when wished, none left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from published import robot, table1

from robodyn_ros.excitation.design.problem import Design, DesignProblem
from robodyn_ros.excitation.design.search import ROUNDS
from robodyn_ros.excitation.design.workers import SearchTask, Team

DESIGN = Design(robot('ur5'), table1(), samples=40, harmonics=2)
PROBLEM = DesignProblem(DESIGN)


def test_process_stops_when_wished_and_is_gone_afterwards():
    before = dict(os.environ)
    team = Team(DESIGN, PROBLEM, 1)
    assert dict(os.environ) == before  # the setting for the processes is theirs alone
    heard = []

    def watch(value):
        heard.append(value)
        return len(heard) > 5

    found = team.run(
        [SearchTask(0, k, ROUNDS[0]) for k in range(40)], time.monotonic() + 100, watch
    )
    assert len(found) == 40 and not found[-1].complete
    start = PROBLEM.family.start(np.random.default_rng([0, 39]))
    np.testing.assert_array_equal(found[-1].x, start)  # never begun: the start itself
    team.close()
    assert multiprocessing.active_children() == []


KILLED = """
import multiprocessing, os, signal
from test_workers import DESIGN, PROBLEM, Team
team = Team(DESIGN, PROBLEM, 1)
(child,) = multiprocessing.active_children()
os.kill(child.pid, signal.SIGINT)
team._pool.submit(os.getpid).result()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_does_not_hear_ctrl_c_but_ends_with_a_parent_that_is_killed():
    here = Path(__file__).parent
    folders = [
        str(here),
        str(here.parents[1] / 'support/plants'),
        os.environ.get('PYTHONPATH', ''),
    ]
    killed = subprocess.run(
        [sys.executable, '-c', KILLED],
        env={**os.environ, 'PYTHONPATH': ':'.join(folders)},
        stdout=subprocess.PIPE, timeout=60, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    child = Path('/proc') / killed.stdout.decode().strip()
    deadline = time.monotonic() + 10.0
    while child.exists() and 'Z' not in (child / 'stat').read_text().split()[2]:
        assert time.monotonic() < deadline, 'the process is left behind'
        time.sleep(0.05)
