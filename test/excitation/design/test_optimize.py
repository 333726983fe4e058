# SPDX-License-Identifier: Apache-2.0
"""Optimised motions: within every limit, the same for a seed on any number of cores, in time."""

import multiprocessing
import time
from dataclasses import replace

import numpy as np
import pytest
from published import robot, table1
from robots import random_urdf

from robodyn_ros.errors import MotionError
from robodyn_ros.excitation.catalog import load_motion, write_motion
from robodyn_ros.excitation.cycles import count_cycles
from robodyn_ros.excitation.design import optimize
from robodyn_ros.excitation.design.criteria import Criterion
from robodyn_ros.excitation.design.optimize import optimise
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.limits.joint_limits import JointLimits, check_motion
from robodyn_ros.models.serial.urdf import UrdfModel

DESIGN = Design(robot('ur5'), table1())


@pytest.fixture
def short(monkeypatch):
    rounds = [replace(plan, iterations=10) for plan in optimize.ROUNDS]
    monkeypatch.setattr(optimize, 'ROUNDS', rounds)


def test_beats_the_published_motion_with_enough_cycles_and_rests_at_both_ends(tmp_path):
    # bench/bench_excitation.py takes its time and reaches a fifth
    result = optimise(replace(DESIGN, cycles=3.0), starts=1, seconds=30.0, processes=0)
    assert result.figures['condition_number'] < 0.5 * 140.9 and result.note == ''
    assert count_cycles(result.trajectory.grid(0.01).position).min() >= 2.9
    check_motion(result.trajectory, DESIGN.limits)
    ends = result.trajectory.sample(np.array([0.0, 20.0]))
    for values in (ends.position, ends.velocity, ends.acceleration):
        np.testing.assert_allclose(values, 0.0, atol=1e-9)
    assert max(share.max() for share in result.shares.values()) <= 1.0
    write_motion(result.trajectory, tmp_path / 'motion.yaml')
    again = load_motion(tmp_path / 'motion.yaml')
    motion = again.sample(0.1 * np.arange(200))
    states = motion.position, motion.velocity, motion.acceleration
    figures = Criterion(DESIGN.model).figures(*states)
    assert figures == pytest.approx(result.figures, rel=1e-9)


@pytest.mark.usefixtures('short')
def test_same_motion_for_the_same_seed_here_and_on_one_and_two_processes():
    model = UrdfModel.from_xml(random_urdf(2, 5, types=('revolute',)), rotor_inertia=False)
    limits = limits_of(model, 1.5, 4.0, (-1.0, 1.0))
    design = Design(model, limits, samples=30, harmonics=2)
    found = [optimise(design, starts=2, seconds=300.0, processes=n, seed=3) for n in (0, 1, 2)]
    assert all(result.complete and result.starts == 2 for result in found)
    assert len({result.value for result in found}) == 1
    described = [result.trajectory.describe() for result in found]
    assert described[0] == described[1] == described[2]


def test_time_is_kept_even_if_processes_take_longer_to_start():
    began = time.monotonic()
    result = optimise(DESIGN, starts=1000, seconds=0.5, processes=1)
    # All of them take hours; a busy machine may be some seconds late.
    assert time.monotonic() - began < 20.0 and not result.complete
    assert multiprocessing.active_children() == []
    check_motion(result.trajectory, DESIGN.limits)


def test_cancel_keeps_the_best_so_far_and_progress_tells_it():
    heard = []
    result = optimise(
        DESIGN,
        seconds=100.0,
        processes=0,
        progress=lambda share, value: heard.append((share, value)),
        cancel=lambda: len(heard) > 60,
    )
    assert not result.complete and result.seconds < 60.0
    shares, values = zip(*heard, strict=True)
    assert list(shares) == sorted(shares) and list(values) == sorted(values, reverse=True)
    assert result.value <= values[-1] + 0.01
    check_motion(result.trajectory, DESIGN.limits)


def limits_of(model, velocity, acceleration, reach):
    n = len(model.joints)
    endless = np.full(n, np.inf)
    return JointLimits(
        model.joint_names, ('rad',) * n, np.full(n, reach[0]), np.full(n, reach[1]),
        np.full(n, velocity), np.full(n, acceleration), endless, endless,
    )  # fmt: skip


@pytest.mark.usefixtures('short')
def test_a_motion_that_cannot_have_the_cycles_says_so():
    design = replace(DESIGN, harmonics=2, cycles=3.0, samples=60)
    result = optimise(design, starts=1, seconds=8.0, processes=0)
    assert 'cycles, expected are 3: more harmonics' in result.note


def test_refuses_what_is_none():
    with pytest.raises(MotionError, match='seconds above 0'):
        optimise(DESIGN, seconds=0.0)
    with pytest.raises(MotionError, match='annealing'):
        optimise(DESIGN, method='annealing')
