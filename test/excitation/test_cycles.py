# SPDX-License-Identifier: Apache-2.0
"""Cycles of joints, and the penalty of too few."""

import numpy as np
import pytest

from robodyn_ros.excitation.cycles import CyclesRule, count_cycles
from robodyn_ros.excitation.motions.fourier import FourierMotion


def test_cycles_of_sines_and_of_small_swings_on_a_large_one():
    time = np.linspace(0.0, 1.0, 2000)[:, None]
    sines = np.sin(2 * np.pi * time * np.array([1.0, 3.0, 7.5]))
    np.testing.assert_allclose(count_cycles(sines), [1.0, 3.0, 7.5], atol=0.3)
    swings = np.sin(2 * np.pi * time) + 0.3 * np.sin(2 * np.pi * 20 * time)
    assert count_cycles(swings)[0] > 15.0
    noisy = np.sin(2 * np.pi * time) + 1e-3 * np.random.default_rng(1).normal(size=time.shape)
    assert count_cycles(noisy)[0] == pytest.approx(1.0, abs=0.6)


def states(seed=0):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, 2, 5))
    motion = FourierMotion.from_rest(
        joints=['a', 'b'], position=[0.0, 0.0], a=a, b=b, base_frequency=0.05
    ).grid(0.1)
    return motion.position, motion.velocity, motion.acceleration


def test_the_penalty_has_its_derivatives():
    rule, given = CyclesRule(100.0, 0.5), states()
    _, slopes = rule.penalty(given)
    random = np.random.default_rng(1)
    for quantity in range(3):
        step = 1e-6 * random.normal(size=given[0].shape)
        moved = [
            [item + sign * step if i == quantity else item for i, item in enumerate(given)]
            for sign in (1.0, -1.0)
        ]
        change = 0.5 * (rule.penalty(moved[0])[0] - rule.penalty(moved[1])[0])
        assert change == pytest.approx(float((slopes[quantity] * step).sum()), rel=1e-4, abs=1e-14)


def test_a_penalty_only_for_joints_with_too_few_cycles():
    time = np.linspace(0.0, 20.0, 401)[:, None]
    omega = 2.0 * np.pi * np.array([[0.1, 0.2]])  # 2 and 4 cycles
    turn = omega * time
    given = np.sin(turn), omega * np.cos(turn), -(omega**2) * np.sin(turn)
    assert CyclesRule(1.5, 0.5).penalty(given)[0] == 0.0
    # a sine of 0.1 Hz is 0.8 away from the highest frequency of 0.5 Hz
    value, slopes = CyclesRule(3.0, 0.5).penalty(given)
    assert value == pytest.approx(0.8**2, rel=0.01)
    assert slopes[2][:, 0].any() and not slopes[2][:, 1].any()
    still = tuple(np.zeros((10, 2)) for _ in range(3))
    assert CyclesRule(3.0, 0.5).penalty(still)[0] == 0.0
